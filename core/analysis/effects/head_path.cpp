#include "core/analysis/effects/head_path.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/frozen_norm.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/graph_runs.h"

#include <string>

namespace headscope::analysis {

namespace {

std::string name_of(HeadPlace head) {
    return std::to_string(head.layer) + "." + std::to_string(head.head);
}

} // namespace

void require_path(const checkpoint::Model& model, HeadPlace from, HeadPlace to) {
    require_one_stream(model);
    const checkpoint::ModelConfig& a = model.config();
    for (const HeadPlace& head : {from, to})
        if (head.layer < 0 || head.layer >= a.layers || head.head < 0 || head.head >= a.H)
            fail_input(tr("head_path.no_head_layers_numbered",
                          "there is no head {}; layers are numbered 0 to {} and heads 0 to {}", name_of(head),
                          a.layers - 1, a.H - 1));
    for (const HeadPlace& head : {from, to})
        checkpoint::require_attention(a, {checkpoint::Stack::own, head.layer});
    if (from.layer >= to.layer)
        fail_input(tr("head_path.head_writes_nothing_head",
                      "head {} writes nothing that head {} reads; the first head must be in an earlier layer",
                      name_of(from), name_of(to)));
}

CutPath cut_path(const checkpoint::ModelRun& run, HeadPlace from, HeadPlace to, Progress& progress) {
    const checkpoint::ModelConfig& a = run.model().config();
    require_path(run.model(), from, to);
    const checkpoint::ModelStages& stages = run.model().stages();
    const checkpoint::AttentionPlace of_from{checkpoint::Stack::own, from.layer},
        of_to{checkpoint::Stack::own, to.layer};
    if (!stages.has_norm_before(of_to) || stages.norm(of_from, TensorId::attn_out) ||
        stages.has_norm_of_queries(of_to))
        fail_input(tr("head_path.path_head_head_cut",
                      "only models whose single norm comes before the attention let a path between heads be "
                      "cut; this {} model has other norms, so choose another model",
                      a.family));
    checkpoint::GraphRuns runs(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>());
    const auto name = [&](std::int64_t layer, TensorId stage) {
        return runs.name({checkpoint::Stack::own, layer}, stage);
    };
    const graph::Part written{name(from.layer, TensorId::contributions), {{"H", {from.head, 1}}}},
        weights{name(to.layer, TensorId::weights), {{"H", {to.head, 1}}}};
    // Latent vectors follow from what the attention reads.
    const std::string x = name(to.layer, stages.has_latent_keys(of_to) ? TensorId::norm1 : TensorId::x),
                      resid_in = name(to.layer, TensorId::resid_in), q = name(to.layer, TensorId::q_heads),
                      k = name(to.layer, TensorId::k_heads);
    const run::RunPtr own = runs.run({written, weights, {resid_in}, {q}, {k}}, {}, run.kept(), progress);
    const std::int64_t T = run.inputs().T;
    Tensor taken(Shape{T, a.D}, own->part(written)->values());
    scale_by(taken, stages.branch_scale(of_from, TensorId::attn_out).value_or(1.0));
    pass_norm(taken, *(*own)[resid_in], *stages.norm(of_to, TensorId::norm1),
              with_edits(run.model().layer(to.layer),
                         checkpoint::edits_of(run.edits(), to.layer))[TensorId::norm1_weight]);
    for (float& number : taken.values())
        number = -number;
    const run::Intervention without{.part = {x},
                                    .kind = run::Intervention::Kind::add,
                                    .values =
                                        std::make_shared<const Tensor>(Shape{1, T, a.D}, taken.values())};
    const run::RunPtr read = runs.run({{q}, {k}}, {without}, own, progress);
    const auto weights_of = [&](const run::Run& from_run) {
        const TensorPtr numbers = from_run.part(weights);
        return std::vector<float>(numbers->values().begin(), numbers->values().end());
    };
    const auto weights_with = [&](const std::string& node) {
        return weights_of(*runs.run({weights}, {{.part = {node}, .values = (*read)[node]}}, own, progress));
    };
    return {weights_of(*own), weights_with(q), weights_with(k)};
}

} // namespace headscope::analysis
