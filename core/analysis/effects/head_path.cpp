#include "core/analysis/effects/head_path.h"

#include "core/analysis/effects/mixed_weights.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>

namespace headscope::analysis {

namespace {

using checkpoint::WeightId;

std::string name_of(HeadPlace head) {
    return std::to_string(head.layer) + "." + std::to_string(head.head);
}

/// (T, D): what `from` wrote, behind the norm of the layer that `to` is in, at that norm's own scale.
RowMatrix behind_norm(const checkpoint::Model& model, const checkpoint::ForwardResult& run, HeadPlace from,
                      std::int64_t layer) {
    const checkpoint::Architecture& a = model.architecture();
    const Tensor& contributions =
        *run.layers[static_cast<std::size_t>(from.layer)].trace.stage(TensorId::contributions);
    const Tensor& read = *std::ranges::find_if(run.blocks, [&](const checkpoint::BlockRun& block) {
                              return block.place.layer == layer && block.id == TensorId::resid_in;
                          })->tensor;
    const std::int64_t T = read.shape()[1];
    RowMatrix x = ConstRows(read.data(), T, a.D);
    RowMatrix c = ConstRows(contributions.data() + contributions.offset(0, from.head, 0, 0), T, a.D);
    if (a.norm == checkpoint::NormKind::layer)
        for (RowMatrix* rows : {&x, &c})
            rows->colwise() -= rows->rowwise().mean().eval();
    const Eigen::VectorXf scale =
        (x.array().square().rowwise().mean() + static_cast<float>(a.norm_eps)).rsqrt().matrix();
    c = scale.asDiagonal() * c;
    const checkpoint::WeightSet weights =
        checkpoint::with_edits(model.layer(layer), checkpoint::edits_of(run.edits, layer));
    if (const TensorPtr gamma = weights[WeightId::norm1_weight])
        c.array().rowwise() *= ConstNumbers(gamma->data(), a.D).transpose();
    return c;
}

} // namespace

void require_path(const checkpoint::Architecture& a, HeadPlace from, HeadPlace to) {
    for (const HeadPlace& head : {from, to})
        if (head.layer < 0 || head.layer >= a.layers || head.head < 0 || head.head >= a.H)
            fail_input(tr("head_path.no_head_layers_numbered",
                          "there is no head {}; layers are numbered 0 to {} and heads 0 to {}", name_of(head),
                          a.layers - 1, a.H - 1));
    if (from.layer >= to.layer)
        fail_input(tr("head_path.head_writes_nothing_head",
                      "head {} writes nothing that head {} reads; the first head must be in an earlier layer",
                      name_of(from), name_of(to)));
}

CutPath cut_path(const checkpoint::Model& model, const checkpoint::ForwardResult& run, HeadPlace from,
                 HeadPlace to, engine::Engine& engine) {
    const checkpoint::Architecture& a = model.architecture();
    require_path(a, from, to);
    if (a.norms.after_branch || a.norms.after_sum || !a.norms.before || a.qk_norm != checkpoint::QkNorm::none)
        fail_input(tr("head_path.path_head_head_cut",
                      "only models whose single norm comes before the attention let a path between heads be "
                      "cut; this {} model has other norms, so choose another model",
                      a.family));
    const checkpoint::LayerRun& layer = run.layers[static_cast<std::size_t>(to.layer)];
    const RowMatrix c = behind_norm(model, run, from, to.layer);
    const auto weights = [&](float queries, float keys) -> std::vector<float> {
        Progress progress;
        const TensorPtr all =
            mixed_weights(*layer.problem, c.data(), {1, queries, 1, keys}, engine, progress);
        const float* const first = all->data() + all->offset(0, to.head, 0, 0);
        return {first, first + c.rows() * c.rows()};
    };
    return {weights(0, 0), weights(-1, 0), weights(0, -1)};
}

} // namespace headscope::analysis
