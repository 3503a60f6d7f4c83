#include "core/analysis/effects/head_path.h"

#include "core/base/error.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace headscope::analysis {

namespace {

using checkpoint::WeightId;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const Matrix>;

std::string name_of(HeadPlace head) {
    return std::to_string(head.layer) + "." + std::to_string(head.head);
}

void check(const checkpoint::Architecture& a, HeadPlace from, HeadPlace to) {
    for (const HeadPlace& head : {from, to})
        if (head.layer < 0 || head.layer >= a.layers || head.head < 0 || head.head >= a.H)
            fail_input("there is no head " + name_of(head) + "; layers are numbered 0 to " +
                       std::to_string(a.layers - 1) + " and heads 0 to " + std::to_string(a.H - 1));
    if (from.layer >= to.layer)
        fail_input("head " + name_of(from) + " writes nothing that head " + name_of(to) +
                   " reads; the first head must be in an earlier layer");
    if (a.norms.after_branch || a.norms.after_sum || !a.norms.before || a.qk_norm != checkpoint::QkNorm::none)
        fail_input("a path from head to head can be cut in models with one norm before the attention, and "
                   "the norms of this " +
                   a.family + " model stand elsewhere");
}

/// (T, D): what `from` wrote, behind the norm of the layer that `to` is in, at that norm's own scale.
Matrix behind_norm(const checkpoint::Model& model, const checkpoint::ForwardResult& run, HeadPlace from,
                   std::int64_t layer) {
    const checkpoint::Architecture& a = model.architecture();
    const Tensor& contributions =
        *run.layers[static_cast<std::size_t>(from.layer)].trace.stage(TensorId::contributions);
    const Tensor& read = *std::ranges::find_if(run.blocks, [&](const checkpoint::BlockRun& block) {
                              return block.place.layer == layer && block.id == TensorId::resid_in;
                          })->tensor;
    const std::int64_t T = read.shape()[1];
    Matrix x = Rows(read.data(), T, a.D);
    Matrix c = Rows(contributions.data() + contributions.offset(0, from.head, 0, 0), T, a.D);
    if (a.norm == checkpoint::NormKind::layer)
        for (Matrix* rows : {&x, &c})
            rows->colwise() -= rows->rowwise().mean().eval();
    const Eigen::VectorXf scale =
        (x.array().square().rowwise().mean() + static_cast<float>(a.norm_eps)).rsqrt().matrix();
    c = scale.asDiagonal() * c;
    const checkpoint::WeightSet weights =
        checkpoint::with_edits(model.layer(layer), checkpoint::edits_of(run.edits, layer));
    if (const TensorPtr gamma = weights[WeightId::norm1_weight])
        c.array().rowwise() *= Eigen::Map<const Eigen::ArrayXf>(gamma->data(), a.D).transpose();
    return c;
}

/// The weights of `head` where x is [x, c] and c has -W_Q, or -W_K, of its own: c is taken off what the
/// queries, or the keys, are made of.
std::vector<float> without(Problem problem, const Matrix& c, bool queries, bool keys, std::int64_t head,
                           engine::Engine& engine) {
    const std::int64_t T = c.rows(), D = c.cols();
    auto x = std::make_shared<Tensor>(Shape{1, T, 2 * D});
    Eigen::Map<Matrix> both(x->data(), T, 2 * D);
    both << Rows(problem.x->data(), T, D), c;
    problem.x = x;
    const auto stacked = [&](const TensorPtr& weight, float below) -> TensorPtr {
        const std::int64_t columns = weight->shape()[1];
        const Rows above(weight->data(), D, columns);
        auto out = std::make_shared<Tensor>(Shape{2 * D, columns});
        Eigen::Map<Matrix>(out->data(), 2 * D, columns) << above, below * above;
        return out;
    };
    Weights& w = problem.weights;
    w.W_Q = stacked(w.W_Q, queries ? -1.0F : 0.0F);
    w.W_K = stacked(w.W_K, keys ? -1.0F : 0.0F);
    w.W_V = stacked(w.W_V, 0.0F);
    w.W_O = std::make_shared<const Tensor>(Shape{problem.dims.H * problem.dims.dv, 2 * D}, 0.0F);
    w.b_O = nullptr;
    problem.dims.D = problem.dims.Dkv = 2 * D;
    Progress progress;
    const Trace trace = engine.run(problem, StageSet().with(TensorId::weights), progress);
    const Tensor& weights = *trace.stage(TensorId::weights);
    const float* first = weights.data() + weights.offset(0, head, 0, 0);
    return {first, first + T * T};
}

} // namespace

CutPath cut_path(const checkpoint::Model& model, const checkpoint::ForwardResult& run, HeadPlace from,
                 HeadPlace to, engine::Engine& engine) {
    check(model.architecture(), from, to);
    const checkpoint::LayerRun& layer = run.layers[static_cast<std::size_t>(to.layer)];
    const Matrix c = behind_norm(model, run, from, to.layer);
    const auto weights = [&](bool queries, bool keys) {
        return without(*layer.problem, c, queries, keys, to.head, engine);
    };
    return {weights(false, false), weights(true, false), weights(false, true)};
}

} // namespace headscope::analysis
