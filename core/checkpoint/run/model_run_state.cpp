#include "core/checkpoint/run/model_run_state.h"

#include "core/base/memory.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/run/attention_problem.h"
#include "core/checkpoint/run/brought.h"
#include "core/checkpoint/run/from_rows.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace headscope::checkpoint {

namespace {

constexpr std::size_t large_stage = std::size_t{8} << 20U; ///< bytes: a pass's memory is not kept then

/// What the kept attention weights may take together now.
std::size_t room_for_weights(const ModelRun::Options& options) {
    return std::min<std::size_t>(options.kept_bytes, available_memory() / 4);
}

} // namespace

TextGraphPtr ModelRun::State::graph_for(const State* before) const {
    const TextGraph* const other =
        before != nullptr && before->model == model ? before->text_.get() : nullptr;
    if (other != nullptr && before->inputs == inputs)
        return before->text_;
    return std::make_shared<const TextGraph>(model, inputs, other);
}

graph::Part ModelRun::State::row_of(const std::string& node, std::int64_t position) const {
    return {node, {{text_->graph()[node].axes[1].name, {position, 1}}}};
}

std::vector<std::string> ModelRun::State::kept_streams() const {
    std::vector<std::string> nodes;
    for (std::int64_t n = 0; n < count(); ++n)
        nodes.push_back(name(n, TensorId::resid_in));
    for (const Stack stack : {Stack::own, Stack::encoder})
        if (stack == Stack::own || config.encoder != nullptr) {
            nodes.push_back(last_stream_node(*text_, stack));
            if (std::string hidden = last_hidden_node(*text_, stack); hidden != nodes.back())
                nodes.push_back(std::move(hidden));
        }
    return nodes;
}

void ModelRun::State::take_streams(Progress& progress) {
    for (std::int64_t n = 0; n < count(); ++n) {
        const std::string node = name(n, TensorId::resid_in);
        const std::scoped_lock lock(later_->mutex);
        streams_.push_back(is_patched(node) ? unpatched(node, progress) : (*run_)[node]);
    }
}

void ModelRun::State::compute(const State* before, const Options& options, Progress& progress) {
    progress.check();
    std::vector<graph::Part> captures;
    for (const std::string& stream : kept_streams())
        captures.push_back({stream});
    std::size_t room = room_for_weights(options), largest = 0;
    for (std::int64_t n = 0; n < count(); ++n) {
        if (!attends(n))
            continue;
        const std::string weights = name(n, TensorId::weights);
        const std::size_t bytes = run::bytes_of(text_->graph()[weights].axes.shape());
        largest = std::max(largest, bytes);
        if (bytes > room)
            continue;
        room -= bytes;
        captures.push_back({weights});
    }
    const bool shares =
        before != nullptr && before->model == model &&
        (before->inputs == inputs || (config.encoder != nullptr && before->inputs.source == inputs.source));
    const std::scoped_lock lock(workshop_->mutex);
    run_ = runs_.run(captures, {}, shares ? before->run_ : nullptr, progress);
    while (computed_from < count() &&
           run_->computed(text_->graph().find(name(computed_from, added(computed_from)))) == 0)
        ++computed_from;
    take_streams(progress);
    if (std::max(largest, run::bytes_of(streams_.back()->shape())) > large_stage)
        cpu::release_memory(*workshop_->machine);
}

bool ModelRun::State::goes_on_with(const State& before) const {
    return before.model == model && goes_on(*model, before.inputs, inputs) &&
           first_difference(before.edits, edits, count()) == count() &&
           std::ranges::all_of(edits, [](const auto& layer) { return layer.second.patched.empty(); });
}

void ModelRun::State::go_on(const State& before, const Options& options, Progress& progress) {
    progress.check();
    const std::scoped_lock lock(workshop_->mutex);
    const std::vector<std::string> streams = kept_streams();
    std::vector<std::string> captures = streams, wanted = streams;
    for (std::int64_t n = 0; n < count(); ++n)
        if (attends(n))
            captures.push_back(name(n, TensorId::weights));
    std::optional<GrowingText> text = before.growing_.take();
    if (!text)
        text.emplace(model, edits, captures, workshop_);
    if (text->rows() != before.inputs.T)
        text->truncate(0);
    std::size_t room = room_for_weights(options);
    for (std::int64_t n = 0; n < count(); ++n) {
        if (!attends(n))
            continue;
        const std::string weights = name(n, TensorId::weights);
        const std::size_t bytes = run::bytes_of(text_->graph()[weights].axes.shape());
        if (bytes > room || (text->rows() > 0 && before.kept(n) == nullptr))
            continue;
        room -= bytes;
        wanted.push_back(weights);
    }
    std::int64_t first = 0;
    const auto rows = text->run(inputs, wanted, first, progress);
    std::vector<graph::Part> parts;
    std::vector<TensorPtr> numbers(text_->graph().nodes().size());
    for (const std::string& node : wanted) {
        parts.push_back({node});
        const TensorPtr& behind = rows.at(node);
        numbers[static_cast<std::size_t>(text_->graph().find(node))] =
            first == 0                    ? behind
            : behind->shape().rank() == 3 ? with_rows(*(*before.run_)[node], *behind)
                                          : with_queries(*(*before.run_)[node], *behind);
    }
    const TextGraph::Numbers leaves = text_->with(edits);
    run::NodeInterventions resolved = run::resolve(text_->graph(), leaves.interventions);
    run_ = run::Run::of(workshop_->plans.find(text_->graph(), parts, resolved), leaves.leaves,
                        std::move(numbers), {}, std::move(resolved));
    text_->release_weights();
    growing_.hold(std::move(*text));
    take_streams(progress);
}

const TensorPtr& ModelRun::State::hidden(std::int64_t l) const {
    return l < config.layers ? stream(attention_number(config, {Stack::own, l}))
                             : (*run_)[last_hidden_node(*text_)];
}

TensorPtr ModelRun::State::weights(std::int64_t n) const {
    require_attention(config, attention_place(config, n));
    if (const TensorPtr& in_memory = kept(n))
        return in_memory;
    const std::scoped_lock lock(later_->mutex);
    if (latest_.first != n) {
        latest_ = {-1, nullptr}; // its memory first
        latest_ = {n, one(name(n, TensorId::weights), Progress())};
    }
    return latest_.second;
}

TensorPtr ModelRun::State::one(const std::string& node, const Progress& cancel) const {
    Progress progress{Progress::CancelledWith{cancel}};
    return (*later({{node}}, progress))[node];
}

bool ModelRun::State::is_patched(const std::string& node) const {
    const graph::NodeId id = text_->graph().find(node);
    return std::ranges::any_of(later_runs_.edits(), [&](const run::Intervention& edit) {
        return text_->graph().find(edit.part.node) == id;
    });
}

TensorPtr ModelRun::State::unpatched(const std::string& node, Progress& progress) const {
    const graph::NodeId id = text_->graph().find(node);
    run::Interventions others = later_runs_.edits();
    std::erase_if(others,
                  [&](const run::Intervention& edit) { return text_->graph().find(edit.part.node) == id; });
    return (*later_runs_.run_with({{node}}, others, run_, progress))[node];
}

TensorPtr ModelRun::State::held(std::int64_t n) const {
    const TensorPtr& in_memory = kept(n);
    return in_memory == nullptr && latest_.first == n ? latest_.second : in_memory;
}

std::unique_ptr<const cpu::LongMap> ModelRun::State::map_of(const Problem& problem, std::int64_t h,
                                                            Progress& progress) const {
    return std::make_unique<const cpu::LongMap>(problem, 0, h, later_->engine, later_->machine, progress);
}

TensorPtr ModelRun::State::rows(std::int64_t n, std::int64_t first, std::int64_t count,
                                const Progress& cancel) const {
    require_attention(config, attention_place(config, n));
    const std::scoped_lock lock(later_->mutex);
    const graph::Part part{name(n, TensorId::weights), {{"Tq", {first, count}}}};
    const TensorPtr whole = held(n);
    if (whole != nullptr)
        return run::cut(*whole, graph::box_of(text_->graph()[part.node], part));
    Progress progress{Progress::CancelledWith{cancel}};
    return later({part}, progress)->part(part);
}

void ModelRun::State::read_part(std::int64_t n, std::int64_t h, const MapPart& part,
                                std::span<float> to) const {
    require_attention(config, attention_place(config, n));
    const AttentionInfo& sizes = info[static_cast<std::size_t>(attention_place(config, n).stack)];
    if (sizeof(float) * static_cast<std::size_t>(sizes.H * sizes.Tq * sizes.Tk) <= whole_bytes)
        return copy_part(*weights(n), h, part, to);
    const std::scoped_lock lock(later_->mutex);
    if (const TensorPtr whole = held(n))
        return copy_part(*whole, h, part, to);
    Progress progress;
    if (read_.n != n || read_.h != h) {
        read_ = {}; // its memory first
        read_ = {n, h, map_of(edited(n), h, progress)};
    }
    std::ranges::copy(read_.map->rectangle(part, progress).values(), to.begin());
}

TensorPtr ModelRun::State::brought(std::int64_t n) const {
    require_attention(config, attention_place(config, n));
    const std::scoped_lock lock(later_->mutex);
    const TensorPtr values = one(name(n, TensorId::v), Progress());
    return brought_lengths(edited(n), *values);
}

Problem ModelRun::State::edited(std::int64_t n) const {
    return with_edits(plain_problem(n), config, edits, n);
}

Problem ModelRun::State::plain_problem(std::int64_t n) const {
    const AttentionPlace place = attention_place(config, n);
    require_attention(config, place);
    const AttentionSourceNodes sources = sources_of_attention(*text_, place);
    Progress progress;
    const run::RunPtr numbers = later(sources.captures(), progress);
    return attention_problem(*text_, inputs, place, model->layer(n),
                             sources.of([&](const std::string& node) { return (*numbers)[node]; }));
}

Problem ModelRun::State::problem(std::int64_t n) const {
    const std::scoped_lock lock(later_->mutex);
    return plain_problem(n);
}

TensorPtr ModelRun::State::logits() const {
    if (!model->has_head())
        return nullptr;
    const std::scoped_lock lock(workshop_->mutex);
    Progress progress;
    return (*runs_.run({{"logits"}}, {}, run_, progress))["logits"];
}

TensorPtr ModelRun::State::logits_at(std::int64_t position, const Progress& cancel) const {
    const std::scoped_lock lock(workshop_->mutex);
    if (predicted_.first != position) {
        TensorPtr row;
        if (model->has_head()) {
            Progress progress{Progress::CancelledWith{cancel}};
            const graph::Part part = row_of("logits", position);
            row = runs_.run({part}, {}, run_, progress)->part(part);
        }
        predicted_ = {position, std::move(row)};
    }
    return predicted_.second;
}

} // namespace headscope::checkpoint
