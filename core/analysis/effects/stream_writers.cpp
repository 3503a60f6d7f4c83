#include "core/analysis/effects/stream_writers.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/head_parts.h"
#include "core/analysis/effects/rows.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/graph/labels.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <map>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::Stack;
using Kind = Writer::Kind;

/// Returns true for stages of D numbers around the attention.
bool is_vector_of_stream(TensorId stage) {
    const Axis width = tensor_info(stage).axes[2];
    return width == Axis::D || width == Axis::d_embed;
}

} // namespace

std::string Writer::name() const {
    const std::string at = (stack == Stack::cross ? "cross L" : "L") + std::to_string(layer);
    switch (kind) {
    case Kind::embedding:
        return "embedding";
    case Kind::position:
        return "position";
    case Kind::head:
        return at + "H" + std::to_string(head);
    case Kind::output_bias:
        return at + " b_O";
    case Kind::mlp:
        return at + " mlp";
    case Kind::delta:
        return at + " delta";
    case Kind::embedding_norm_bias:
        return "embedding norm bias";
    case Kind::norm1_bias:
        return at + " norm1 bias";
    case Kind::norm2_bias:
        return at + " norm2 bias";
    case Kind::final_norm_bias:
        return "final norm bias";
    case Kind::head_bias:
        return "head bias";
    case Kind::projection_bias:
        return "bias";
    }
    return {};
}

/// Walks through the layers at one position, attention by attention.
class StreamWriters::Recorder {
public:
    Recorder(StreamWriters& to, bool sources, cpu::CpuDense& cpu, const Progress& cancel)
        : to_(to), sources_(sources), cpu_(cpu), cancel_(cancel), progress_(Progress::CancelledWith{cancel}),
          runs_(to.run_.text(), to.run_.edits(), std::make_shared<checkpoint::Workshop>()) {}

    TensorPtr embed() {
        const checkpoint::ModelConfig& a = model().config();
        const std::int64_t first = attention_number(a, {Stack::own, 0});
        const auto stream =
            std::make_shared<const Tensor>(Shape{1, 1, a.D}, row_of(*to_.run_.stream(first), to_.position_));
        if (stages().around(Stack::own, graph::labels::embedding_mapped) !=
            nullptr) { // tokens and positions are in it through one norm and one map
            to_.add({{.kind = Kind::embedding}}, *stream);
            return stream;
        }
        see({Stack::own, -1}, stages().before_layers(Stack::own));
        const Tensor& words = seen_.at(TensorId::embedding);
        to_.add({{.kind = Kind::embedding}}, words);
        Tensor sum = copy_of(words);
        if (const auto position = seen_.find(TensorId::position); position != seen_.end()) {
            to_.add({{.kind = Kind::position}}, position->second);
            std::ranges::transform(sum.values(), position->second.values(), sum.data(), std::plus<>());
        }
        if (stages().around(Stack::own, graph::labels::embedding_norm) != nullptr)
            to_.pass_norm(sum, stages().norm_around(Stack::own, graph::labels::embedding_norm),
                          model().weight(TensorId::embedding_norm_weight),
                          model().weight(TensorId::embedding_norm_bias), {.kind = Kind::embedding_norm_bias});
        return stream;
    }

    TensorPtr step(std::int64_t n) {
        seen_.clear();
        const checkpoint::ModelConfig& a = model().config();
        const checkpoint::AttentionPlace place = attention_place(a, n);
        if (!has_attention(a, place))
            return delta_step(n, place);
        const Problem whole = to_.run_.problem(n);
        if (!stages().is_stream(place, TensorId::norm1) && n + 1 < attention_count(a))
            return step_to(n, place, whole);
        attend(place, with_edits(whole, checkpoint::edits_of(to_.run_.edits(), n)), whole);
        see(place, stages().in_layer(place));
        finish(n, place);
        return left(place);
    }

private:
    const checkpoint::Model& model() const { return to_.run_.model(); }
    const checkpoint::ModelStages& stages() const { return model().stages(); }
    /// The residual stream that leaves a layer, as seen.
    TensorPtr left(checkpoint::AttentionPlace place) const {
        const Tensor& last = seen_.at(stages().in_layer(place).back());
        return std::make_shared<const Tensor>(last.shape(), last.values());
    }
    /// Reads the rows of the position, (1, 1, width), of stages that the numbers of a step are made of.
    void see(checkpoint::AttentionPlace place, const std::vector<TensorId>& stages) {
        seen_.clear();
        std::vector<std::pair<TensorId, graph::Part>> rows;
        for (const TensorId id : stages)
            if (is_vector_of_stream(id)) {
                const std::string node = runs_.name(place, id);
                rows.emplace_back(
                    id, graph::Part{node, {{runs_.graph()[node].axes[1].name, {to_.position_, 1}}}});
            }
        std::vector<graph::Part> captures;
        for (const auto& [id, row] : rows)
            captures.push_back(row);
        const run::RunPtr numbers = runs_.run(captures, {}, to_.run_.kept(), progress_);
        for (const auto& [id, row] : rows)
            seen_.insert_or_assign(id, copy_of(*numbers->part(row)));
    }
    const Tensor* seen(TensorId id) const {
        const auto found = seen_.find(id);
        return found == seen_.end() ? nullptr : &found->second;
    }

    /// Steps through a layer with a delta layer in place of attention: one component of the stream.
    TensorPtr delta_step(std::int64_t n, checkpoint::AttentionPlace place) {
        const checkpoint::ModelConfig& a = model().config();
        see(place, stages().in_layer(place));
        const Tensor& branch = seen_.at(stages().attention_output(place));
        heads_.reset();
        written_.first = {Writer{.kind = Kind::delta, .stack = place.stack, .layer = place.layer}};
        written_.second = Tensor(Shape{1, a.D}, branch.values());
        finish(n, place);
        return left(place);
    }

    /// The same where the next stream is known: what the MLP added is what the stream gained beside the
    /// attention, so that the MLP need not run.
    TensorPtr step_to(std::int64_t n, checkpoint::AttentionPlace place, const Problem& whole) {
        const checkpoint::ModelConfig& a = model().config();
        const TensorPtr output =
            attend(place, with_edits(whole, checkpoint::edits_of(to_.run_.edits(), n)), whole);
        Tensor added(Shape{1, a.D}, output->values());
        seen_.insert_or_assign(stages().attention_output(place), copy_of(*output));
        if (const auto branch = after_branch(place, weights_of(n)))
            branch->apply(added);
        const auto before = row_of(*to_.run_.stream(n), to_.position_),
                   after = row_of(*to_.run_.stream(n + 1), to_.position_);
        Tensor mlp(Shape{1, a.D}, after);
        for (std::size_t d = 0; d < before.size(); ++d)
            mlp.data()[d] -= before[d] + added.data()[d];
        if (stages().has(place, TensorId::mlp_out)) // not between a decoder's own attention and the next one
            seen_.insert_or_assign(TensorId::mlp_out, std::move(mlp));
        finish(n, place);
        return std::make_shared<const Tensor>(Shape{1, 1, a.D}, after);
    }

    /// Computes the output of each head as added to the residual stream, before a norm or scale of the
    /// branch; b_O in the last row.
    TensorPtr attend(checkpoint::AttentionPlace place, Problem problem, const Problem& whole) {
        const Dims& d = whole.dims;
        Heads heads{.problem = std::move(problem),
                    .weights =
                        to_.run_.rows(attention_number(model().config(), place), to_.position_, 1, cancel_),
                    .values = nullptr,
                    .gates = nullptr};
        heads.gates = head_gates(heads.problem, to_.position_, 1);
        const Tensor& read = whole.has_source() ? *whole.x_kv : *whole.x;
        const bool mixed_first = !sources_ && heads.problem.qkv_limit == 0.0F;
        if (!mixed_first)
            heads.values = values_of(heads.problem, read, cpu_, cancel_);
        const TensorPtr& b_O = heads.problem.weights.b_O;
        Tensor rows(Shape{d.H + (b_O == nullptr ? 0 : 1), d.D});
        MutableRows all(rows.data(), rows.shape()[0], d.D);
        std::vector<Writer> writers;
        for (std::int64_t h = 0; h < d.H; ++h) {
            write_of_head(
                heads.problem, *heads.weights, heads.values.get(), read, heads.gates.get(), h,
                rows.values().subspan(static_cast<std::size_t>(h * d.D), static_cast<std::size_t>(d.D)));
            writers.push_back({Kind::head, place.stack, place.layer, h});
        }
        if (b_O != nullptr) {
            all.row(d.H) = ConstRow(b_O->data(), d.D);
            writers.push_back({Kind::output_bias, place.stack, place.layer, -1});
        }
        auto output = std::make_shared<Tensor>(Shape{1, 1, d.D});
        MutableRow(output->data(), d.D) = all.colwise().sum();
        written_ = {std::move(writers), std::move(rows)};
        heads.problem.x = heads.problem.x_kv = nullptr; // of a long text as large as the values
        heads_ = std::move(heads);
        return output;
    }

    /// Lists what step() made, in its order.
    void finish(std::int64_t n, checkpoint::AttentionPlace place) {
        const checkpoint::WeightSet weights = weights_of(n);
        to_.add(written_.first, *written_.second, after_branch(place, weights));
        if (sources_)
            to_.steps_.back().heads = std::exchange(heads_, std::nullopt);
        pass_norm(place, TensorId::norm1, weights, {Kind::norm1_bias, place.stack, place.layer, -1});
        if (const Tensor* const mlp = seen(TensorId::mlp_out))
            to_.add({{Kind::mlp, Stack::own, place.layer, -1}}, *mlp);
        pass_norm(place, TensorId::norm2, weights, {Kind::norm2_bias, Stack::own, place.layer, -1});
    }

    checkpoint::WeightSet weights_of(std::int64_t n) const {
        return with_edits(model().layer(n), checkpoint::edits_of(to_.run_.edits(), n));
    }
    static TensorPtr weight_in(const checkpoint::WeightSet& weights, std::optional<TensorId> id) {
        return id ? weights[*id] : nullptr;
    }

    /// The norm or the scale between what the attention returns, which was seen, and the stream.
    std::optional<FrozenNorm> after_branch(checkpoint::AttentionPlace place,
                                           const checkpoint::WeightSet& weights) const {
        if (const auto scale = stages().branch_scale(place, TensorId::attn_out))
            return FrozenNorm::scaled(*scale);
        const auto norm = stages().norm(place, TensorId::attn_out);
        return norm ? std::optional(FrozenNorm(seen_.at(stages().attention_output(place)).values(), *norm,
                                               weight_in(weights, norm->weight)))
                    : std::nullopt;
    }

    /// Passes a norm of a sum of the stream that replaces it; other norms leave the stream as it is.
    void pass_norm(checkpoint::AttentionPlace place, TensorId id, const checkpoint::WeightSet& weights,
                   Writer of_bias) {
        if (!stages().is_stream(place, id))
            return;
        const checkpoint::NormOfRows norm = *stages().norm(place, id);
        to_.pass_norm(seen_.at(stages().sources(place, id).front()), norm, weight_in(weights, norm.weight),
                      weight_in(weights, norm.bias), of_bias);
    }

    StreamWriters& to_;
    const bool sources_;
    cpu::CpuDense& cpu_;
    const Progress& cancel_;
    Progress progress_;
    checkpoint::GraphRuns runs_;
    std::map<TensorId, Tensor> seen_;
    std::pair<std::vector<Writer>, std::optional<Tensor>> written_;
    std::optional<Heads> heads_;
};

StreamWriters::StreamWriters(const checkpoint::ModelRun& run, std::int64_t position, std::int64_t until,
                             bool sources, cpu::CpuDense& cpu, const Progress& cancel)
    : run_(run), position_(position) {
    require_one_stream(run.model());
    require_unpatched(run);
    Recorder recorder(*this, sources, cpu, cancel);
    TensorPtr left = recorder.embed();
    const std::int64_t first = attention_number(run.model().config(), {Stack::own, 0});
    for (std::int64_t n = first; n < until; ++n) {
        cancel.check();
        left = recorder.step(n);
    }
    stream_.assign(left->values().begin(), left->values().end());
}

void StreamWriters::add(const std::vector<Writer>& writers, const Tensor& rows,
                        std::optional<FrozenNorm> branch) {
    Tensor flat(Shape{std::ssize(writers), rows.shape().back(0)}, rows.values());
    if (branch)
        branch->apply(flat);
    steps_.push_back(
        {.writer = writers_.size(), .rows = std::move(flat), .norm = std::move(branch), .heads = {}});
    writers_.insert(writers_.end(), writers.begin(), writers.end());
}

void StreamWriters::pass_norm(const Tensor& x, const checkpoint::NormOfRows& norm, const TensorPtr& weight,
                              const TensorPtr& bias, Writer of_bias) {
    steps_.push_back(
        {.writer = writers_.size(), .rows = {}, .norm = FrozenNorm(x.values(), norm, weight), .heads = {}});
    if (bias != nullptr)
        add({of_bias}, *bias);
}

Tensor StreamWriters::along(const Tensor& at_end) const {
    Tensor directions = copy_of(at_end);
    const std::int64_t D = directions.shape()[0], k = directions.shape()[1];
    Tensor out(Shape{std::ssize(writers_), k});
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
        if (step->rows) {
            const std::int64_t count = step->rows->shape()[0];
            MutableRows(out.data() + out.offset(static_cast<std::int64_t>(step->writer), 0), count, k) =
                ConstRows(step->rows->data(), count, D) * ConstRows(directions.data(), D, k);
        } else {
            step->norm->turn_back(directions);
        }
    return out;
}

std::vector<std::vector<float>> StreamWriters::by_source(const Tensor& at_end) const {
    Tensor direction = copy_of(at_end);
    std::vector<std::vector<float>> parts(writers_.size());
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        if (!step->rows) {
            step->norm->turn_back(direction);
            continue;
        }
        if (!step->heads)
            continue;
        Tensor written = copy_of(direction);
        if (step->norm)
            step->norm->turn_back(written);
        const Tensor towards(Shape{1, written.count()}, written.values());
        const Problem& problem = step->heads->problem;
        for (std::int64_t h = 0; h < problem.dims.H; ++h) {
            const Tensor each = parts_by_source(problem, *step->heads->weights, *step->heads->values,
                                                step->heads->gates.get(), h, towards);
            parts[step->writer + static_cast<std::size_t>(h)].assign(each.values().begin(),
                                                                     each.values().end());
        }
    }
    return parts;
}

} // namespace headscope::analysis
