#include "core/checkpoint/run/model_run.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/model/block_stages.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/run/activation_curve.h"
#include "core/checkpoint/run/attention_info.h"
#include "core/checkpoint/run/brought.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/checkpoint/run/handed_on_caches.h"
#include "core/checkpoint/run/longer_text.h"
#include "core/checkpoint/run/workshop.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/engine/cpu/long_map.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

namespace headscope::checkpoint {

namespace {

constexpr std::size_t large_stage = std::size_t{8} << 20U; ///< bytes: a pass's memory is not kept then

/// The map of one head of attention n.
struct HeadOfRun {
    std::int64_t n = -1, h = -1;
    std::unique_ptr<const cpu::LongMap> map;
};

} // namespace

class ModelRun::State {
public:
    State(ModelPtr model_of_run, ModelInputs inputs_of_run, ModelEdits edits_of_run)
        : model(std::move(model_of_run)), inputs(std::move(inputs_of_run)), edits(std::move(edits_of_run)),
          pass(*model, inputs, edits) {}

    void take_workshops(const State& before) {
        workshop_ = before.workshop_;
        later_ = before.later_;
    }
    /// Takes over the attentions before this number.
    void share(const State& before, std::int64_t count);
    void compute(const Options& options, Progress& progress);
    /// The same of a text that goes on with that of `before`, with the same edits: only the tokens behind it
    /// are run. The numbers are those of compute, bit for bit.
    void go_on(const State& before, const Options& options, Progress& progress);
    TensorPtr weights(std::int64_t n) const;
    TensorPtr rows(std::int64_t n, std::int64_t first, std::int64_t count, const Progress& cancel) const;
    void read_part(std::int64_t n, std::int64_t h, const MapPart& part, std::span<float> to) const;
    TensorPtr brought(std::int64_t n) const;
    Problem problem(std::int64_t n) const;
    const TensorPtr& stream(std::int64_t n) const;
    TensorPtr logits() const;
    TensorPtr logits_at(std::int64_t position, const Progress& cancel) const;
    std::shared_ptr<BlockTrace> block(std::int64_t n, Progress& progress) const;
    BlockTracePtr ends(Stack stack, std::int64_t position, Progress& progress) const;
    StackLengths lengths(Stack stack, Progress& progress) const;

    const ModelPtr model;
    const Architecture& architecture = model->architecture();
    std::size_t whole_bytes = Options().whole_bytes;
    const ModelInputs inputs;
    const ModelEdits edits;
    const ForwardPass pass;
    std::array<AttentionInfo, 3> info; ///< by Stack
    std::int64_t computed_from = 0;
    Streams streams;

private:
    // With later_ locked.
    Problem edited(std::int64_t n) const;
    TensorPtr one_stage(const Problem& problem, TensorId id) const;
    /// Weights that are in memory; null: they are not.
    TensorPtr held(std::int64_t n) const;
    std::unique_ptr<const cpu::LongMap> map_of(const Problem& problem, std::int64_t h,
                                               Progress& progress) const;
    std::shared_ptr<BlockTrace> begun(const Model& stack, AttentionPlace place) const;
    /// A pass of the stack that keeps what it computes around the attention in `block`.
    ForwardPass watched_pass(const Model& stack, BlockTrace& block) const;

    std::vector<TensorPtr> kept_; ///< (1, H, Tq, Tk) by attention; null beyond the budget
    HandedOnCaches caches_;
    std::shared_ptr<Workshop> workshop_ = std::make_shared<Workshop>();
    std::shared_ptr<Workshop> later_ = std::make_shared<Workshop>(); ///< for what is asked of finished runs
    mutable std::pair<std::int64_t, TensorPtr> latest_{-1, nullptr}; ///< recomputed last
    mutable HeadOfRun read_;                                         ///< in parts, last
    mutable std::pair<std::int64_t, TensorPtr> predicted_{-1, nullptr}; ///< position, its logits
};

void ModelRun::State::share(const State& before, std::int64_t count) {
    const std::int64_t first = attention_number(architecture, {Stack::own, 0});
    const auto take = [](const std::vector<TensorPtr>& from, std::int64_t most) {
        const std::int64_t taken = std::clamp<std::int64_t>(most, 0, std::ssize(from));
        return std::vector<TensorPtr>(from.begin(), from.begin() + taken);
    };
    const bool same_source = inputs.source == before.inputs.source &&
                             (model->encoder() == nullptr ||
                              same_embedding(model->encoder()->architecture(), edits, before.edits));
    if (same_source)
        streams.encoder = take(before.streams.encoder, count + 1);
    else
        count = 0;
    if (inputs == before.inputs && count >= first && same_embedding(architecture, edits, before.edits))
        streams.own = take(before.streams.own, count - first + 1);
    else
        count = std::min(count, first);
    kept_ = take(before.kept_, count);
    computed_from = count;
}

namespace {

/// What the kept attention weights may take together now.
std::size_t room_for_weights(const ModelRun::Options& options) {
    return std::min<std::size_t>(options.kept_bytes, available_memory() / 4);
}

} // namespace

void ModelRun::State::compute(const Options& options, Progress& progress) {
    progress.check();
    const auto bytes_of = [](const TensorPtr& held) {
        return held == nullptr ? 0 : sizeof(float) * static_cast<std::size_t>(held->count());
    };
    std::size_t room = room_for_weights(options);
    std::ranges::for_each(kept_, [&](const TensorPtr& kept) { room -= std::min(room, bytes_of(kept)); });
    std::size_t largest = 0;
    const std::scoped_lock lock(workshop_->mutex);
    pass.run(
        workshop_->cpu, streams,
        [&](std::int64_t, const Problem& problem) {
            const StageSet output = StageSet().with(TensorId::output);
            const Dims& dims = problem.dims;
            const auto bytes = sizeof(float) * static_cast<std::size_t>(dims.H * dims.Tq * dims.Tk);
            const bool keep = bytes <= room;
            largest = std::max(largest, bytes);
            Trace trace =
                workshop_->engine.run(problem, keep ? output.with(TensorId::weights) : output, progress);
            room -= keep ? bytes : 0;
            kept_.push_back(trace.slot(TensorId::weights));
            return trace.slot(TensorId::output);
        },
        progress);
    if (std::max(largest, bytes_of(streams.own.back())) > large_stage)
        cpu::release_memory(*workshop_->machine);
}

void ModelRun::State::go_on(const State& before, const Options& options, Progress& progress) {
    progress.check();
    const ForwardPass rest(*model, inputs, edits, before.inputs.T);
    const std::scoped_lock lock(workshop_->mutex);
    std::vector<cpu::KeyValueCache> caches = before.caches_.take();
    caches.resize(before.kept_.size());
    LongerText longer =
        run_behind({before.pass, before.streams, before.kept_, before.inputs.T}, rest, edits, caches,
                   room_for_weights(options), workshop_->engine, workshop_->cpu, progress);
    streams.own = std::move(longer.streams);
    kept_ = std::move(longer.weights);
    caches_.hold(std::move(caches));
}

TensorPtr ModelRun::State::weights(std::int64_t n) const {
    if (const TensorPtr& kept = kept_[static_cast<std::size_t>(n)])
        return kept;
    const std::scoped_lock lock(later_->mutex);
    if (latest_.first != n) {
        latest_ = {-1, nullptr}; // its memory first
        latest_ = {n, one_stage(edited(n), TensorId::weights)};
    }
    return latest_.second;
}

TensorPtr ModelRun::State::held(std::int64_t n) const {
    const TensorPtr& kept = kept_[static_cast<std::size_t>(n)];
    return kept == nullptr && latest_.first == n ? latest_.second : kept;
}

std::unique_ptr<const cpu::LongMap> ModelRun::State::map_of(const Problem& problem, std::int64_t h,
                                                            Progress& progress) const {
    return std::make_unique<const cpu::LongMap>(problem, 0, h, later_->engine, later_->machine, progress);
}

TensorPtr ModelRun::State::rows(std::int64_t n, std::int64_t first, std::int64_t count,
                                const Progress& cancel) const {
    const std::scoped_lock lock(later_->mutex);
    const TensorPtr whole = held(n);
    const Problem problem = whole == nullptr ? edited(n) : Problem();
    const AttentionInfo& sizes = info[static_cast<std::size_t>(attention_place(architecture, n).stack)];
    const MapPart part{first, 0, count, sizes.Tk};
    const auto size = static_cast<std::size_t>(count * sizes.Tk);
    auto out = std::make_shared<Tensor>(Shape{1, sizes.H, count, sizes.Tk});
    for (std::int64_t h = 0; h < sizes.H; ++h) {
        cancel.check();
        const std::span<float> to = out->values().subspan(static_cast<std::size_t>(h) * size, size);
        Progress progress;
        if (whole != nullptr)
            copy_part(*whole, h, part, to);
        else
            std::ranges::copy(map_of(problem, h, progress)->rectangle(part, progress).values(), to.begin());
    }
    return out;
}

void ModelRun::State::read_part(std::int64_t n, std::int64_t h, const MapPart& part,
                                std::span<float> to) const {
    const AttentionInfo& sizes = info[static_cast<std::size_t>(attention_place(architecture, n).stack)];
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
    const std::scoped_lock lock(later_->mutex);
    const Problem problem = edited(n);
    return brought_lengths(problem, *one_stage(problem, TensorId::v));
}

Problem ModelRun::State::edited(std::int64_t n) const {
    return with_edits(pass.problem(later_->cpu, n, streams), edits_of(edits, n));
}

TensorPtr ModelRun::State::one_stage(const Problem& problem, TensorId id) const {
    Progress progress;
    return later_->engine.run(problem, StageSet().with(id), progress).slot(id);
}

Problem ModelRun::State::problem(std::int64_t n) const {
    const std::scoped_lock lock(later_->mutex);
    return pass.problem(later_->cpu, n, streams);
}

const TensorPtr& ModelRun::State::stream(std::int64_t n) const {
    const std::int64_t before = attention_number(architecture, {Stack::own, 0});
    return n < before ? streams.encoder[static_cast<std::size_t>(n)]
                      : streams.own[static_cast<std::size_t>(n - before)];
}

TensorPtr ModelRun::State::logits() const {
    const std::scoped_lock lock(workshop_->mutex);
    return pass.logits(workshop_->cpu, *streams.own.back(), Progress());
}

TensorPtr ModelRun::State::logits_at(std::int64_t position, const Progress& cancel) const {
    const std::scoped_lock lock(workshop_->mutex);
    if (predicted_.first != position) {
        const Tensor& all = *streams.own.back();
        const std::int64_t D = all.shape().back(0);
        const Tensor one(Shape{1, 1, D}, all.values().subspan(static_cast<std::size_t>(position * D),
                                                              static_cast<std::size_t>(D)));
        predicted_ = {position, pass.logits(workshop_->cpu, one, cancel)};
    }
    return predicted_.second;
}

std::shared_ptr<BlockTrace> ModelRun::State::block(std::int64_t n, Progress& progress) const {
    const std::scoped_lock lock(later_->mutex);
    const AttentionPlace place = attention_place(architecture, n);
    const Model& stack = stack_at(*model, n);
    const std::shared_ptr<BlockTrace> block = begun(stack, place);
    block->own = model->layer(n);
    block->weights = with_edits(block->own, edits_of(edits, n));
    block->rows = block->weights.rows;
    if (const LayerEdits* const changed = edits_of(edits, n))
        block->patched = changed->patched;
    const ForwardPass watched = watched_pass(stack, *block);
    watched.step(
        later_->cpu, n, stream(n), place.stack == Stack::cross ? streams.encoder.back() : nullptr,
        [&](std::int64_t, const Problem& problem) {
            Trace trace = later_->engine.run(problem, StageSet().with(TensorId::output), progress);
            return (*block)[TensorId::output] = trace.slot(TensorId::output);
        },
        progress);
    add_activation(later_->cpu, *block, progress);
    return block;
}

std::shared_ptr<BlockTrace> ModelRun::State::begun(const Model& stack, AttentionPlace place) const {
    auto block = std::make_shared<BlockTrace>();
    block->place = place;
    block->architecture = {model, &stack.architecture()};
    return block;
}

ForwardPass ModelRun::State::watched_pass(const Model& stack, BlockTrace& block) const {
    ForwardPass watched = &stack == model.get() ? ForwardPass(*model, inputs, edits) : pass.encoder();
    watched.watch([&block](AttentionPlace, TensorId id, const Tensor& tensor) {
        block[id] = std::make_shared<const Tensor>(tensor.shape(), tensor.values());
    });
    return watched;
}

BlockTracePtr ModelRun::State::ends(Stack stack, std::int64_t position, Progress& progress) const {
    const bool of_encoder = stack == Stack::encoder;
    const std::int64_t end = of_encoder ? architecture.encoder->layers : attention_count(architecture);
    const std::shared_ptr<BlockTrace> last = block(end - 1, progress);
    const std::scoped_lock lock(later_->mutex);
    const Model& part = of_encoder ? *model->encoder() : *model;
    const Architecture& sizes = part.architecture();
    const std::vector<TensorPtr>& passed = of_encoder ? streams.encoder : streams.own;
    const std::shared_ptr<BlockTrace> ends = begun(part, {stack, -1});
    ends->position = position;
    watched_pass(part, *ends).embed(later_->cpu);
    (*ends)[TensorId::resid_in] = passed.front();
    for (const TensorId id : made_from(sizes, TensorId::final_norm, sizes.layers - 1))
        (*ends)[id] = (*last)[id];
    for (std::size_t id = 0; id < weight_count; ++id)
        if (!is_per_layer(static_cast<WeightId>(id)))
            ends->own.tensors[id] = part.weight(static_cast<WeightId>(id));
    ends->weights = with_edits(ends->own, edits_of(edits, end - 1));
    for (std::size_t id = 0; id < weight_count; ++id)
        if (const auto table = static_cast<WeightId>(id); is_table(table) && !is_per_layer(table))
            if (const TableRows* const rows = edited_rows(sizes, edits, table, end - 1))
                ends->rows[table] = *rows;
    if (sizes.final_norm)
        (*ends)[TensorId::final_norm] =
            sizes.final_norm_in_head ? pass.final_normed(later_->cpu, *passed.back()) : passed.back();
    if (of_encoder || !model->has_head())
        return ends;
    const Tensor& all = *passed.back();
    const std::int64_t D = sizes.D;
    const Tensor one(Shape{1, 1, D}, all.values().subspan(static_cast<std::size_t>(position * D),
                                                          static_cast<std::size_t>(D)));
    ends->head_in = pass.head_input(later_->cpu, one, progress);
    (*ends)[TensorId::logits] = pass.logits_of(later_->cpu, *ends->head_in, progress);
    (*ends)[TensorId::probabilities] = softmax(*(*ends)[TensorId::logits]);
    return ends;
}

StackLengths ModelRun::State::lengths(Stack stack, Progress& progress) const {
    const bool of_encoder = stack == Stack::encoder;
    const Architecture& sizes = in_stack(architecture, stack);
    const std::int64_t end = of_encoder ? sizes.layers : attention_count(architecture);
    // What left the last attention before the final norm.
    const std::shared_ptr<BlockTrace> last = block(end - 1, progress);
    const TensorId left = made_from(sizes, TensorId::final_norm, sizes.layers - 1).front();
    const std::scoped_lock lock(later_->mutex);
    StackLengths out{.begin = row_lengths(of_encoder ? *streams.encoder.front() : *streams.own.front()),
                     .layers = {}};
    for (std::int64_t l = 0; l < sizes.layers; ++l) {
        const std::int64_t n = attention_number(architecture, {stack, l});
        const TensorPtr before = pass.patched(n, TensorId::resid_in, stream(n));
        const Tensor& after = n + 1 < end ? *stream(n + 1) : *(*last)[left];
        Tensor added(after.shape());
        std::ranges::transform(after.values(), before->values(), added.data(), std::minus<>());
        out.layers.push_back(row_lengths(added));
    }
    return out;
}

ModelRun::ModelRun(std::unique_ptr<State> state) : state_(std::move(state)) {}

ModelRun::~ModelRun() = default;

ModelRunPtr ModelRun::compute(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits,
                              const ModelRunPtr& before, const Options& options, Progress& progress) {
    if (inputs.B != 1)
        fail_input(tr("common.texts_batch_give_one", "there are {} texts in the batch; give one", inputs.B));
    check_edits(*model, edits);
    auto state = std::make_unique<State>(model, inputs, edits);
    for (const Stack stack : stacks_of(model->architecture()))
        state->info[static_cast<std::size_t>(stack)] = attention_info(*model, inputs, stack);
    state->whole_bytes = options.whole_bytes;
    const std::int64_t count = attention_count(model->architecture());
    if (before != nullptr)
        state->take_workshops(*before->state_);
    if (before != nullptr && before->state_->model == model &&
        goes_on(model->architecture(), before->inputs(), inputs) &&
        first_difference(before->edits(), edits, count) == count) {
        state->go_on(*before->state_, options, progress);
    } else {
        if (before != nullptr && before->state_->model == model)
            state->share(*before->state_, first_difference(before->edits(), edits, count));
        if (state->computed_from < count)
            state->compute(options, progress);
    }
    progress.report(1.0F);
    return ModelRunPtr(new ModelRun(std::move(state)));
}

const Model& ModelRun::model() const {
    return *state_->model;
}

const ModelPtr& ModelRun::model_ptr() const {
    return state_->model;
}

const ModelInputs& ModelRun::inputs() const {
    return state_->inputs;
}

const ModelEdits& ModelRun::edits() const {
    return state_->edits;
}

std::int64_t ModelRun::computed_from() const {
    return state_->computed_from;
}

Problem ModelRun::problem(std::int64_t n) const {
    return state_->problem(n);
}

const TensorPtr& ModelRun::stream(std::int64_t n) const {
    return state_->stream(n);
}

const TensorPtr& ModelRun::hidden(std::int64_t l) const {
    return state_->streams.own[static_cast<std::size_t>(model().encoder() == nullptr ? l : 2 * l)];
}

TensorPtr ModelRun::logits() const {
    return state_->logits();
}

TensorPtr ModelRun::logits_at(std::int64_t position, const Progress& cancel) const {
    return state_->logits_at(position, cancel);
}

BlockTracePtr ModelRun::block(std::int64_t n, Progress& progress) const {
    return state_->block(n, progress);
}

BlockTracePtr ModelRun::ends(Stack stack, std::int64_t position, Progress& progress) const {
    return state_->ends(stack, position, progress);
}

StackLengths ModelRun::lengths(Stack stack, Progress& progress) const {
    return state_->lengths(stack, progress);
}

const AttentionInfo& ModelRun::info(Stack stack) const {
    return state_->info[static_cast<std::size_t>(stack)];
}

const ModelInputs& ModelRun::read_by_queries(Stack stack) const {
    return stack == Stack::encoder ? inputs().source.front() : inputs();
}

const ModelInputs& ModelRun::read_by_keys(Stack stack) const {
    return stack == Stack::own ? inputs() : inputs().source.front();
}

TensorPtr ModelRun::weights(std::int64_t n) const {
    return state_->weights(n);
}

TensorPtr ModelRun::rows(std::int64_t n, std::int64_t first, std::int64_t count,
                         const Progress& cancel) const {
    return state_->rows(n, first, count, cancel);
}

void ModelRun::read_weights(std::int64_t n, std::int64_t h, const MapPart& part, std::span<float> to) const {
    state_->read_part(n, h, part, to);
}

TensorPtr ModelRun::brought_by(std::int64_t n) const {
    return state_->brought(n);
}

TensorPtr ModelRun::brought(std::int64_t l) const {
    return brought_by(attention_number(state_->architecture, {Stack::own, l}));
}

const std::vector<std::string>& ModelRun::query_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

const std::vector<std::string>& ModelRun::key_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

TensorPtr ModelRun::layer(std::int64_t l) const {
    return state_->weights(attention_number(state_->architecture, {Stack::own, l}));
}

void ModelRun::read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const {
    read_weights(attention_number(state_->architecture, {Stack::own, l}), h, part, to);
}

} // namespace headscope::checkpoint
