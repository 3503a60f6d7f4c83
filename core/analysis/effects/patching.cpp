#include "core/analysis/effects/patching.h"

#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/mixed_weights.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/checkpoint/run/predictions.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
using checkpoint::ModelRunPtr;
using checkpoint::Stack;
using checkpoint::WeightId;

constexpr std::array patch_kind_table{
    PatchKindInfo{PatchKind::residual, "residual",
                  translatable("patching.residual_stream", "Residual stream"), false},
    PatchKindInfo{PatchKind::attention, "attention",
                  translatable("patching.attention_output", "Attention output"), false},
    PatchKindInfo{PatchKind::mlp, "mlp", translatable("patching.mlp_output", "MLP output"), false},
    PatchKindInfo{PatchKind::head, "head", translatable("common.head_output", "Head output"), true},
    PatchKindInfo{PatchKind::q, "q", translatable("patching.queries_head", "Queries of a head"), true},
    PatchKindInfo{PatchKind::k, "k", translatable("patching.keys_head", "Keys of a head"), true},
    PatchKindInfo{PatchKind::v, "v", translatable("patching.values_head", "Values of a head"), true},
    PatchKindInfo{PatchKind::pattern, "pattern", translatable("patching.weights_head", "Weights of a head"),
                  true},
};

/// What a run computed of one layer, at all T positions.
struct LayerNumbers {
    Problem problem;     ///< with the edits
    TensorPtr attention; ///< (1, T, D): the attention's output, before a norm of the branch
    TensorPtr values;    ///< (1, T, Hkv dv)
    TensorPtr weights;   ///< (1, H, T, T)
    TensorPtr mlp;       ///< (1, T, D): what the MLP adds
    TensorPtr left;      ///< (1, T, D): the stream behind the layer, before a norm that stands on it
};

bool equal(std::span<const float> a, std::span<const float> b) {
    return std::ranges::equal(a, b);
}

void check(const ModelRunPtr& clean, const ModelRunPtr& corrupted, const Patching::Question& question) {
    const Model& model = clean->model();
    const checkpoint::Architecture& a = model.architecture();
    if (model.encoder() != nullptr || !a.causal)
        fail_input(tr("patching.activations_patched_models",
                      "activation patching needs a model that predicts the next token, and {} is a {} model; "
                      "open a decoder",
                      model.path(), a.family));
    if (!model.has_head())
        fail_input(tr("common.no_language_model_head",
                      "{} has no language-model head, so there are no logits; open a checkpoint that was "
                      "saved with its head",
                      model.path()));
    require_same_length(clean->inputs().ids, corrupted->inputs().ids);
    require_unpatched(*clean);
    require_unpatched(*corrupted);
    require_number(question.answer, a.vocab, Numbered::token);
    require_number(question.against, a.vocab, Numbered::token);
    require_number(question.position, clean->inputs().T, Numbered::position);
}

} // namespace

std::span<const PatchKindInfo> patch_kinds() {
    return patch_kind_table;
}

void require_same_length(const std::vector<std::int64_t>& clean, const std::vector<std::int64_t>& corrupted) {
    if (clean.size() != corrupted.size())
        fail_input(tr("patching.clean_prompt_tokens_corrupted",
                      "the clean prompt has {} tokens and the corrupted prompt {}; they differ from token {} "
                      "on, and patching needs prompts of equal length: reword one of them",
                      clean.size(), corrupted.size(),
                      std::ranges::mismatch(clean, corrupted).in1 - clean.begin()));
}

const PatchKindInfo& info_of(PatchKind kind) {
    return *std::ranges::find(patch_kind_table, kind, &PatchKindInfo::kind);
}

class Patching::State {
public:
    State(ModelRunPtr clean, ModelRunPtr corrupted, const Question& question)
        : runs_{std::move(clean), std::move(corrupted)}, question_(question),
          pass_(runs_[1]->model(), runs_[1]->inputs(), runs_[1]->edits()) {}

    double clean_difference = 0, corrupted_difference = 0;

    const checkpoint::Architecture& architecture() const { return runs_[1]->model().architecture(); }
    const Question& question() const { return question_; }
    std::int64_t T() const { return runs_[1]->inputs().T; }
    const TensorPtr& stream(bool clean, std::int64_t l) const { return run(clean).stream(l); }
    const checkpoint::ModelEdits& own_edits() const { return run(false).edits(); }

    /// The difference of a run, from the stream behind its last layer before the final norm.
    double difference(const Tensor& left, const Progress& cancel) {
        const checkpoint::Architecture& a = architecture();
        const Tensor one(Shape{1, 1, a.D}, row_of(left, question_.position));
        return difference_of_hidden(
            a.final_norm && !a.final_norm_in_head ? *pass_.final_normed(cpu_, one) : one, cancel);
    }

    double difference_of(bool clean, Progress& progress) {
        return difference(*numbers(clean, architecture().layers - 1, progress).left, progress);
    }

    /// Computed once for each layer of each run.
    const LayerNumbers& numbers(bool clean, std::int64_t l, Progress& progress) {
        std::map<std::int64_t, LayerNumbers>& known = numbers_[clean ? 0 : 1];
        if (const auto found = known.find(l); found != known.end())
            return found->second;
        progress.check();
        checkpoint::ForwardPass pass(run(clean).model(), run(clean).inputs(), run(clean).edits());
        LayerNumbers out;
        pass.watch([&](checkpoint::AttentionPlace, TensorId id, const Tensor& tensor) {
            TensorPtr* const slot = id == TensorId::mlp_out     ? &out.mlp
                                    : id == TensorId::resid_out ? &out.left
                                                                : nullptr;
            if (slot != nullptr)
                *slot = std::make_shared<const Tensor>(tensor.shape(), tensor.values());
        });
        pass.step(
            cpu_, l, stream(clean, l), nullptr,
            [&](std::int64_t, Problem problem) {
                Trace trace = engine_.run(
                    problem, StageSet().with(TensorId::weights).with(TensorId::output).with(TensorId::v),
                    progress);
                out.weights = trace.slot(TensorId::weights);
                out.values = trace.slot(TensorId::v);
                out.attention = trace.slot(TensorId::output);
                out.problem = std::move(problem);
                return out.attention;
            },
            progress);
        return known.emplace(l, std::move(out)).first->second;
    }

    /// The difference of the corrupted run with these edits, which differ from its own in layer l.
    double difference_with(std::int64_t l, const checkpoint::ModelEdits& edits, Progress& progress) {
        progress.check();
        const checkpoint::ForwardPass pass(run(false).model(), run(false).inputs(), edits);
        const bool same_attention = edits.at(l).patched.back().at != TensorId::resid_in;
        checkpoint::Streams streams;
        for (std::int64_t n = 0; n <= l; ++n)
            streams.own.push_back(stream(false, n));
        pass.run(
            cpu_, streams,
            [&](std::int64_t n, const Problem& problem) {
                if (n == l && same_attention)
                    return numbers(false, l, progress).attention;
                return engine_.run(problem, StageSet().with(TensorId::output), progress)
                    .slot(TensorId::output);
            },
            progress);
        const Tensor one(Shape{1, 1, architecture().D}, row_of(*streams.own.back(), question_.position));
        return difference_of_hidden(one, progress);
    }

    /// The corrupted run's edits with one vector of the clean run in layer l.
    checkpoint::ModelEdits with_row(std::int64_t l, TensorId at, const Tensor& clean, std::int64_t t) const {
        const Shape one{1, architecture().D};
        return patched(l, {.at = at, .first = t, .rows = std::make_shared<Tensor>(one, row_of(clean, t))});
    }

    /// The same where head h of layer l adds other vectors, (T, D).
    checkpoint::ModelEdits with_head(std::int64_t l, std::int64_t h, const Tensor& weights,
                                     const Tensor& values, Progress& progress) {
        const LayerNumbers& own = numbers(false, l, progress);
        auto rows = std::make_shared<Tensor>(Shape{T(), architecture().D});
        MutableRows(rows->data(), T(), architecture().D) =
            written(own.problem, weights, values, h) - written(own.problem, *own.weights, *own.values, h);
        return patched(l, {.at = attended(), .rows = std::move(rows), .added = true});
    }

    /// What the attention adds, before a norm of the branch.
    TensorId attended() const {
        return architecture().norms.after_branch ? TensorId::attn_raw : TensorId::attn_out;
    }

    checkpoint::ModelEdits patched(std::int64_t l, checkpoint::PatchedRows rows) const {
        checkpoint::ModelEdits edits = run(false).edits();
        edits[l].patched.push_back(std::move(rows));
        return edits;
    }

    /// (1, H, T, T): the corrupted run's weights with something added to what queries or keys read.
    TensorPtr weights_with(std::int64_t l, const float* other, const Mixture& mixture, Progress& progress) {
        return mixed_weights(numbers(false, l, progress).problem, other, mixture, engine_, progress);
    }

    TensorPtr values_with(const Problem& problem, const Tensor& x, const Progress& cancel) {
        return values_of(problem, x, cpu_, cancel);
    }

    /// What head h adds to the attention's output, (T, D), with these weights and values.
    static RowMatrix written(const Problem& problem, const Tensor& weights, const Tensor& values,
                             std::int64_t h) {
        const Dims& d = problem.dims;
        const Tensor& W_O = *problem.weights.W_O;
        return problem.gain(h) *
               ((ConstRows(weights.data() + weights.offset(0, h, 0, 0), d.Tq, d.Tk) *
                 ConstRows(values.data(), d.Tk, values.shape()[2]).middleCols(d.kv_head(h) * d.dv, d.dv)) *
                ConstRows(W_O.data(), W_O.shape()[0], d.D).middleRows(h * d.dv, d.dv));
    }

    /// What a head adds to the stream of a run, (T, D), behind a norm of the branch at that run's scale.
    RowMatrix added_by(bool clean, HeadPlace head, Progress& progress) {
        const LayerNumbers& of = numbers(clean, head.layer, progress);
        RowMatrix added = written(of.problem, *of.weights, *of.values, head.head);
        if (architecture().norms.after_branch)
            pass_norms(added, *of.attention, weight(head.layer, WeightId::norm1_after_weight));
        return added;
    }

    /// Each row through the norm, at the scale of the row of `read`.
    void pass_norms(RowMatrix& rows, const Tensor& read, const TensorPtr& weight) const {
        const checkpoint::Architecture& a = architecture();
        for (std::int64_t t = 0; t < T(); ++t) {
            Tensor row(Shape{1, a.D}, std::span(rows.row(t).data(), static_cast<std::size_t>(a.D)));
            FrozenNorm(row_of(read, t), a.norm, weight, a.norm_eps).apply(row);
            rows.row(t) = ConstRow(row.data(), a.D);
        }
    }

    /// With its edits.
    TensorPtr weight(std::int64_t l, WeightId id) const {
        return with_edits(run(false).model().layer(l), checkpoint::edits_of(run(false).edits(), l))[id];
    }

    /// Queries or keys of the clean run, for all heads of the layer that is asked for.
    TensorPtr weights_from_clean(PatchKind kind, std::int64_t l, Progress& progress) {
        if (mixed_kind_ != kind || mixed_layer_ != l) {
            const LayerNumbers& clean = numbers(true, l, progress);
            mixed_ = weights_with(l, clean.problem.x->data(),
                                  kind == PatchKind::q ? Mixture{0, 1, 1, 0} : Mixture{1, 0, 0, 1}, progress);
            mixed_kind_ = kind;
            mixed_layer_ = l;
        }
        return mixed_;
    }

private:
    const checkpoint::ModelRun& run(bool clean) const { return *runs_[clean ? 0 : 1]; }

    double difference_of_hidden(const Tensor& one, const Progress& cancel) {
        const checkpoint::Architecture& a = architecture();
        const Model& model = run(false).model();
        const TensorPtr head_in = pass_.head_input(cpu_, one, cancel);
        const checkpoint::EditedTable table(model, run(false).edits(), WeightId::output_table);
        const TensorPtr bias =
            checkpoint::edited_end_weight(model, run(false).edits(), WeightId::output_bias);
        const auto logit = [&](std::int64_t id) {
            const ConstRow row(table.row(id).data(), a.D), x(head_in->data(), a.D);
            const double sum = x.cast<double>().dot(row.cast<double>()) +
                               (bias == nullptr ? 0.0 : static_cast<double>(bias->data()[id]));
            return a.logit_cap == 0.0 ? sum : a.logit_cap * std::tanh(sum / a.logit_cap);
        };
        return logit(question_.answer) - logit(question_.against);
    }

    const std::array<ModelRunPtr, 2> runs_; ///< clean, corrupted
    const Question question_;
    std::shared_ptr<cpu::CpuMachine> machine_ = cpu::make_cpu_machine();
    cpu::CpuEngine engine_{machine_};
    cpu::CpuDense cpu_{machine_};
    const checkpoint::ForwardPass pass_; ///< of the corrupted prompt
    std::array<std::map<std::int64_t, LayerNumbers>, 2> numbers_;
    TensorPtr mixed_; ///< see weights_from_clean
    PatchKind mixed_kind_ = PatchKind::residual;
    std::int64_t mixed_layer_ = -1;
};

Patching::Patching(ModelRunPtr clean, ModelRunPtr corrupted, const Question& question, Progress& progress) {
    check(clean, corrupted, question);
    for (const ModelRunPtr& run : {clean, corrupted})
        checkpoint::require_finite_logits(run->logits_at(question.position, progress)->values(),
                                          question.position);
    state_ = std::make_unique<State>(std::move(clean), std::move(corrupted), question);
    const std::int64_t layers = state_->architecture().layers;
    for (std::int64_t l = 0; l < layers; ++l) {
        state_->numbers(true, l, progress);
        state_->numbers(false, l, progress);
    }
    state_->clean_difference = state_->difference_of(true, progress);
    state_->corrupted_difference = state_->difference_of(false, progress);
    if (state_->clean_difference == state_->corrupted_difference)
        fail_input(tr("patching.both_prompts_give_same",
                      "both prompts give the same logit difference, so there is nothing to recover; change a "
                      "prompt or choose other tokens"));
}

Patching::~Patching() = default;

double Patching::clean() const {
    return state_->clean_difference;
}

double Patching::corrupted() const {
    return state_->corrupted_difference;
}

double Patching::recovered(double difference) const {
    return (difference - state_->corrupted_difference) /
           (state_->clean_difference - state_->corrupted_difference);
}

std::int64_t Patching::rows(PatchKind kind) const {
    return state_->architecture().layers + (kind == PatchKind::residual ? 1 : 0);
}

std::int64_t Patching::columns(PatchKind kind) const {
    return info_of(kind).by_head ? state_->architecture().H : state_->T();
}

bool Patching::same(PatchKind kind, std::int64_t row, std::int64_t column) const {
    if (info_of(kind).by_head)
        return false;
    if (column > state_->question().position)
        return true; // nothing that comes later is read
    Progress progress;
    const bool last = row == state_->architecture().layers;
    if (kind == PatchKind::residual && !last)
        return equal(row_of(*state_->stream(true, row), column), row_of(*state_->stream(false, row), column));
    const LayerNumbers& clean = state_->numbers(true, last ? row - 1 : row, progress);
    const LayerNumbers& corrupted = state_->numbers(false, last ? row - 1 : row, progress);
    const TensorPtr LayerNumbers::*const tensor = last                           ? &LayerNumbers::left
                                                  : kind == PatchKind::attention ? &LayerNumbers::attention
                                                                                 : &LayerNumbers::mlp;
    return (last && column != state_->question().position) ||
           equal(row_of(*(clean.*tensor), column), row_of(*(corrupted.*tensor), column));
}

double Patching::patched(PatchKind kind, std::int64_t row, std::int64_t column, Progress& progress) {
    if (same(kind, row, column))
        return state_->corrupted_difference;
    if (row == state_->architecture().layers)
        return state_->clean_difference; // the whole row that the head reads
    return state_->difference_with(row, edits(kind, row, column, progress), progress);
}

checkpoint::ModelEdits Patching::edits(PatchKind kind, std::int64_t row, std::int64_t column,
                                       Progress& progress) {
    if (row == state_->architecture().layers)
        fail_input(tr("patching.no_layer_reads_residual",
                      "no layer reads the residual stream after the last layer, "
                      "so there is no run with it patched; choose a layer"));
    if (same(kind, row, column))
        return state_->own_edits();
    const LayerNumbers& clean = state_->numbers(true, row, progress);
    const LayerNumbers& own = state_->numbers(false, row, progress);
    const auto head = [&](const Tensor& weights, const Tensor& values) {
        return state_->with_head(row, column, weights, values, progress);
    };
    switch (kind) {
    case PatchKind::residual:
        return state_->with_row(row, TensorId::resid_in, *state_->stream(true, row), column);
    case PatchKind::attention:
        return state_->with_row(row, state_->attended(), *clean.attention, column);
    case PatchKind::mlp:
        return state_->with_row(row, TensorId::mlp_out, *clean.mlp, column);
    case PatchKind::head:
        return head(*clean.weights, *clean.values);
    case PatchKind::v:
        return head(*own.weights, *clean.values);
    case PatchKind::pattern:
        return head(*clean.weights, *own.values);
    case PatchKind::q:
    case PatchKind::k:
        return head(*state_->weights_from_clean(kind, row, progress), *own.values);
    }
    return state_->own_edits();
}

double Patching::path(HeadPlace from, HeadPlace to, PathInputs inputs, Progress& progress) {
    return state_->difference_with(to.layer, path_edits(from, to, inputs, progress), progress);
}

checkpoint::ModelEdits Patching::path_edits(HeadPlace from, HeadPlace to, PathInputs inputs,
                                            Progress& progress) {
    const checkpoint::Architecture& a = state_->architecture();
    require_path(a, from, to);
    if (a.norms.after_sum)
        fail_input(tr("patching.path_head_head_patched",
                      "a path between heads can be patched only if no norm follows the sums of the residual "
                      "stream, and this {} model is post-norm; patch a whole head instead",
                      a.family));
    const LayerNumbers& reader = state_->numbers(false, to.layer, progress);
    RowMatrix change = state_->added_by(true, from, progress) - state_->added_by(false, from, progress);
    if (a.norms.before && (a.norms.first || to.layer > 0))
        state_->pass_norms(change, *state_->stream(false, to.layer),
                           state_->weight(to.layer, WeightId::norm1_weight));
    TensorPtr weights = reader.weights, values = reader.values;
    if (inputs.queries || inputs.keys)
        weights =
            state_->weights_with(to.layer, change.data(),
                                 {1, inputs.queries ? 1.0F : 0.0F, 1, inputs.keys ? 1.0F : 0.0F}, progress);
    if (inputs.values) {
        Tensor x(reader.problem.x->shape(), reader.problem.x->values());
        MutableRows(x.data(), state_->T(), a.D) += change;
        values = state_->values_with(reader.problem, x, progress);
    }
    return state_->with_head(to.layer, to.head, *weights, *values, progress);
}

} // namespace headscope::analysis
