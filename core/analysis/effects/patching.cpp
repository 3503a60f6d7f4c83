#include "core/analysis/effects/patching.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
using checkpoint::ModelRunPtr;
using checkpoint::Stack;

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

bool equal(std::span<const float> a, std::span<const float> b) {
    return std::ranges::equal(a, b);
}

/// Throws Error(input) for patches of the residual stream where a stage holds one copy of several.
void require_whole_stream(PatchKind kind, const Model& model) {
    if (kind == PatchKind::residual && !has_one_stream(model))
        fail_input(tr("patching.several_streams",
                      "this {} model has {} copies of the residual stream, and a patch of one of them leaves "
                      "the others as they are; patch the attention, the MLP or a head instead",
                      model.config().family, model.config().stream_copies));
}

void check(const ModelRunPtr& clean, const ModelRunPtr& corrupted, const Patching::Question& question) {
    const Model& model = clean->model();
    const checkpoint::ModelConfig& a = model.config();
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
    State(const ModelRunPtr& clean, const ModelRunPtr& corrupted, const Question& question,
          Progress& progress)
        : run_(corrupted),
          question_(question), prompts_{Prompt(clean, workshop_), Prompt(corrupted, workshop_)} {
        const std::string input = prompts_[0].runs.head_input();
        head_input_ = {input, {{graph()[input].axes[1].name, {question.position, 1}}}};
        std::vector<graph::Part> captures{head_input_, {left()}};
        for (std::int64_t l = 0; l < config().layers; ++l)
            for (const TensorId stage :
                 {TensorId::resid_in, attended(l), TensorId::mlp_out, TensorId::head_out, TensorId::weights,
                  TensorId::q_heads, TensorId::k_heads, TensorId::v_heads})
                if (config().has_attention(l) || !is_stage(stage))
                    captures.push_back({name(l, stage)});
        for (Prompt& prompt : prompts_)
            prompt.run = prompt.runs.run(captures, {}, prompt.run, progress);
        clean_difference = difference(*prompts_[0].run);
        corrupted_difference = difference(*prompts_[1].run);
    }

    double clean_difference = 0, corrupted_difference = 0;

    const Model& model() const { return run_->model(); }
    const checkpoint::ModelConfig& config() const { return model().config(); }
    const checkpoint::ModelStages& stages() const { return run_->model().stages(); }
    const Question& question() const { return question_; }
    std::int64_t T() const { return run_->inputs().T; }
    const checkpoint::ModelEdits& own_edits() const { return run_->edits(); }

    std::string name(std::int64_t l, TensorId stage) const { return stages().name({Stack::own, l}, stage); }
    /// The residual stream after the last layer, before the final norm.
    std::string left() const {
        const std::int64_t last = config().layers - 1;
        return name(last, stages().in_layer({Stack::own, last}).back());
    }
    /// The stage with the attention's term of the residual stream, before a norm of the branch.
    TensorId attended(std::int64_t l) const { return stages().attention_output({Stack::own, l}); }
    /// The numbers of a node in the clean or the corrupted run.
    const Tensor& numbers(bool clean, const std::string& node) const {
        return *(*prompts_[clean ? 0 : 1].run)[node];
    }

    /// The difference of the corrupted run with an intervention.
    double difference_with(const run::Intervention& intervention, Progress& progress) {
        return difference(*run_with({head_input_}, {intervention}, progress));
    }

    /// Row t of a stage of the clean run.
    run::Intervention clean_row(std::int64_t l, TensorId stage, std::int64_t t) const {
        const std::string node = name(l, stage);
        return {.part = {node, {{graph()[node].axes[1].name, {t, 1}}}},
                .values =
                    std::make_shared<const Tensor>(Shape{1, 1, config().D}, row_of(numbers(true, node), t))};
    }

    /// The stage of layer l that a kind by position takes from the clean run.
    TensorId stage_of(PatchKind kind, std::int64_t l) const {
        return kind == PatchKind::residual    ? TensorId::resid_in
               : kind == PatchKind::attention ? attended(l)
                                              : TensorId::mlp_out;
    }

    /// The output of head h with what a kind by head takes from the clean run.
    run::Intervention clean_head(PatchKind kind, std::int64_t l, std::int64_t h, Progress& progress) {
        return head_output(l, h,
                           kind == PatchKind::head ? numbers(true, name(l, TensorId::head_out))
                                                   : mixed_heads(kind, l, progress));
    }

    /// The output of head h, from (1, H, T, dv).
    run::Intervention head_output(std::int64_t l, std::int64_t h, const Tensor& heads) const {
        const Shape& shape = heads.shape();
        const auto one = static_cast<std::size_t>(shape[2] * shape[3]);
        return {.part = {name(l, TensorId::head_out), {{"H", {h, 1}}}},
                .values = std::make_shared<const Tensor>(
                    Shape{1, 1, shape[2], shape[3]},
                    heads.values().subspan(static_cast<std::size_t>(h) * one, one))};
    }

    /// (1, H, T, dv): what the heads of a layer give if each has something of the clean run for itself alone.
    const Tensor& mixed_heads(PatchKind kind, std::int64_t l, Progress& progress) {
        if (mixed_ == nullptr || mixed_kind_ != kind || mixed_layer_ != l) {
            const TensorId stage = kind == PatchKind::q   ? TensorId::q_heads
                                   : kind == PatchKind::k ? TensorId::k_heads
                                   : kind == PatchKind::v ? TensorId::v_heads
                                                          : TensorId::weights;
            const std::string node = name(l, stage);
            mixed_ = heads_with(l, {whole(node, (*prompts_[0].run)[node])}, progress);
            mixed_kind_ = kind;
            mixed_layer_ = l;
        }
        return *mixed_;
    }

    /// (1, H, T, dv): the outputs of the heads of layer l in the corrupted run with interventions.
    TensorPtr heads_with(std::int64_t l, const run::Interventions& interventions, Progress& progress) {
        const std::string node = name(l, TensorId::head_out);
        return (*run_with({{node}}, interventions, progress))[node];
    }

    /// The queries, keys and values of layer l if its attention reads x + change, (T, D).
    run::Interventions read_with(std::int64_t l, const Tensor& change, PathInputs inputs,
                                 Progress& progress) {
        std::vector<graph::Part> wanted;
        for (const auto& [is_wanted, stage] : {std::pair(inputs.queries, TensorId::q_heads),
                                               {inputs.keys, TensorId::k_heads},
                                               {inputs.values, TensorId::v_heads}})
            if (is_wanted)
                wanted.push_back({name(l, stage)});
        if (wanted.empty())
            return {};
        run::Intervention added =
            whole(name(l, stages().has_latent_keys({Stack::own, l}) ? TensorId::norm1 : TensorId::x),
                  std::make_shared<const Tensor>(Shape{1, T(), config().D}, change.values()));
        added.kind = run::Intervention::Kind::add;
        const run::RunPtr run = run_with(wanted, {added}, progress);
        run::Interventions read;
        for (const graph::Part& part : wanted)
            read.push_back(whole(part.node, (*run)[part.node]));
        return read;
    }

    /// (T, D): what a head adds to the stream of a run, after a norm of the branch at that run's scale.
    Tensor added_by(bool clean, HeadPlace head, Progress& progress) {
        Prompt& prompt = prompts_[clean ? 0 : 1];
        const graph::Part written{name(head.layer, TensorId::contributions), {{"H", {head.head, 1}}}};
        Tensor added(Shape{T(), config().D},
                     prompt.runs.run({written}, {}, prompt.run, progress)->part(written)->values());
        const checkpoint::AttentionPlace place{Stack::own, head.layer};
        if (const auto norm = stages().norm(place, TensorId::attn_out))
            pass_norm(added, numbers(clean, name(head.layer, attended(head.layer))), *norm,
                      norm->weight ? weight(head.layer, *norm->weight) : nullptr);
        scale_by(added, stages().branch_scale(place, TensorId::attn_out).value_or(1.0));
        return added;
    }

    /// The output of the later head if what the earlier one wrote for it is the clean run's.
    run::Intervention path_output(HeadPlace from, HeadPlace to, PathInputs inputs, Progress& progress) {
        const checkpoint::ModelConfig& a = config();
        require_path(run_->model(), from, to);
        if (stages().is_stream({Stack::own, to.layer}, TensorId::norm1))
            fail_input(tr("patching.path_head_head_patched",
                          "a path between heads can be patched only if no norm follows the sums of the "
                          "residual stream, and this {} model is post-norm; patch a whole head instead",
                          a.family));
        Tensor change = added_by(true, from, progress);
        const Tensor own = added_by(false, from, progress);
        std::ranges::transform(change.values(), own.values(), change.data(), std::minus<>());
        if (stages().has_norm_before({Stack::own, to.layer}))
            pass_norm(change, numbers(false, name(to.layer, TensorId::resid_in)),
                      *stages().norm({Stack::own, to.layer}, TensorId::norm1),
                      weight(to.layer, TensorId::norm1_weight));
        return head_output(to.layer, to.head,
                           *heads_with(to.layer, read_with(to.layer, change, inputs, progress), progress));
    }

    /// With its edits.
    TensorPtr weight(std::int64_t l, TensorId id) const {
        return with_edits(run_->model().layer(l), checkpoint::edits_of(own_edits(), l))[id];
    }

    /// The corrupted run's edits with rows of layer l.
    checkpoint::ModelEdits patched(std::int64_t l, checkpoint::PatchedRows rows) const {
        checkpoint::ModelEdits edits = own_edits();
        edits[l].patched.push_back(std::move(rows));
        return edits;
    }

    /// Edits that put one row of the clean run into a stage.
    checkpoint::ModelEdits with_clean_row(std::int64_t l, TensorId stage, std::int64_t t) const {
        const Shape one{1, config().D};
        const Tensor& clean = numbers(true, name(l, stage));
        return patched(l, {.at = stage, .first = t, .rows = std::make_shared<Tensor>(one, row_of(clean, t))});
    }

    /// Edits that add to the attention what an output of one of its heads changes.
    checkpoint::ModelEdits with_head_output(const run::Intervention& head, std::int64_t l,
                                            Progress& progress) {
        const std::string node = name(l, attended(l));
        const TensorPtr is = (*run_with({{node}}, {head}, progress))[node];
        auto rows = std::make_shared<Tensor>(Shape{T(), config().D});
        std::ranges::transform(is->values(), numbers(false, node).values(), rows->data(), std::minus<>());
        return patched(l, {.at = attended(l), .rows = std::move(rows), .added = true});
    }

private:
    /// One of the two prompts, and its run.
    struct Prompt {
        Prompt(const ModelRunPtr& of, const std::shared_ptr<checkpoint::Workshop>& workshop)
            : runs(of->text(), of->edits(), workshop), run(of->kept()) {}
        checkpoint::GraphRuns runs;
        run::RunPtr run; ///< with all that is patched, once it was computed
    };

    const graph::Graph& graph() const { return prompts_[0].runs.graph(); }

    static run::Intervention whole(std::string node, TensorPtr values) {
        return {.part = {std::move(node)}, .values = std::move(values)};
    }

    run::RunPtr run_with(const std::vector<graph::Part>& captures, const run::Interventions& interventions,
                         Progress& progress) {
        return prompts_[1].runs.run(captures, interventions, prompts_[1].run, progress);
    }

    /// From the row that the output table multiplies, for two tokens alone.
    double difference(const run::Run& run) const {
        const TensorPtr head_input = run.part(head_input_);
        const checkpoint::EditedTable table(run_->model(), own_edits(), TensorId::W_U);
        const std::int64_t width = table.own().shape()[1];
        const double cap = stages().logit_cap();
        const TensorPtr bias = checkpoint::edited_end_weight(run_->model(), own_edits(), TensorId::b_U);
        const auto logit = [&](std::int64_t id) {
            const ConstRow row(table.row(id).data(), width), x(head_input->data(), width);
            const double sum = x.cast<double>().dot(row.cast<double>()) +
                               (bias == nullptr ? 0.0 : static_cast<double>(bias->data()[id]));
            return cap == 0.0 ? sum : cap * std::tanh(sum / cap);
        };
        return logit(question_.answer) - logit(question_.against);
    }

    const ModelRunPtr run_; ///< of the corrupted prompt
    const Question question_;
    std::shared_ptr<checkpoint::Workshop> workshop_ = std::make_shared<checkpoint::Workshop>();
    std::array<Prompt, 2> prompts_; ///< clean, corrupted
    graph::Part head_input_;        ///< the row of the position
    TensorPtr mixed_;               ///< see mixed_heads
    PatchKind mixed_kind_ = PatchKind::residual;
    std::int64_t mixed_layer_ = -1;
};

Patching::Patching(ModelRunPtr clean, ModelRunPtr corrupted, const Question& question, Progress& progress) {
    check(clean, corrupted, question);
    for (const ModelRunPtr& run : {clean, corrupted})
        checkpoint::require_finite_logits(run->logits_at(question.position, progress)->values(),
                                          question.position);
    state_ = std::make_unique<State>(clean, corrupted, question, progress);
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
    return state_->config().layers + (kind == PatchKind::residual ? 1 : 0);
}

std::int64_t Patching::columns(PatchKind kind) const {
    return info_of(kind).by_head ? state_->config().H : state_->T();
}

bool Patching::same(PatchKind kind, std::int64_t row, std::int64_t column) const {
    if (info_of(kind).by_head)
        return !state_->config().has_attention(row); // there is nothing to patch
    if (column > state_->question().position)
        return true; // nothing that comes later is read
    const bool last = row == state_->config().layers;
    if (last && column != state_->question().position)
        return true;
    const std::string node = last ? state_->left() : state_->name(row, state_->stage_of(kind, row));
    return equal(row_of(state_->numbers(true, node), column), row_of(state_->numbers(false, node), column));
}

double Patching::patched(PatchKind kind, std::int64_t row, std::int64_t column, Progress& progress) {
    require_whole_stream(kind, state_->model());
    if (same(kind, row, column))
        return state_->corrupted_difference;
    if (row == state_->config().layers)
        return state_->clean_difference; // the whole row that the head reads
    return state_->difference_with(info_of(kind).by_head
                                       ? state_->clean_head(kind, row, column, progress)
                                       : state_->clean_row(row, state_->stage_of(kind, row), column),
                                   progress);
}

checkpoint::ModelEdits Patching::edits(PatchKind kind, std::int64_t row, std::int64_t column,
                                       Progress& progress) {
    require_whole_stream(kind, state_->model());
    if (row == state_->config().layers)
        fail_input(tr("patching.no_layer_reads_residual",
                      "no layer reads the residual stream after the last layer, "
                      "so there is no run with it patched; choose a layer"));
    if (same(kind, row, column))
        return state_->own_edits();
    return info_of(kind).by_head
               ? state_->with_head_output(state_->clean_head(kind, row, column, progress), row, progress)
               : state_->with_clean_row(row, state_->stage_of(kind, row), column);
}

double Patching::path(HeadPlace from, HeadPlace to, PathInputs inputs, Progress& progress) {
    return state_->difference_with(state_->path_output(from, to, inputs, progress), progress);
}

checkpoint::ModelEdits Patching::path_edits(HeadPlace from, HeadPlace to, PathInputs inputs,
                                            Progress& progress) {
    return state_->with_head_output(state_->path_output(from, to, inputs, progress), to.layer, progress);
}

} // namespace headscope::analysis
