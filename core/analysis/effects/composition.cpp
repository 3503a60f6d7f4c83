#include "core/analysis/effects/composition.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/checkpoint/model/stacks.h"
#include "core/engine/cpu/dense.h"
#include "core/tensor/views.h"

#include <cmath>
#include <cstdint>

namespace headscope::analysis {

namespace {

/// (H dk, D) with the columns of each query head as rows, one after the other: those of its key head twice
/// where two query heads share one.
Tensor by_head(const TensorPtr& weight, std::int64_t H, std::int64_t heads, std::int64_t dk) {
    const std::int64_t D = weight->shape()[0];
    Tensor out(Shape{1, H * dk, D});
    MutableRows rows(out.data(), H * dk, D);
    for (std::int64_t h = 0; h < H; ++h)
        rows.middleRows(h * dk, dk) =
            ConstRows(weight->data(), D, weight->shape()[1]).middleCols(h / (H / heads) * dk, dk).transpose();
    return out;
}

/// The matrices of a layer, head by head, each (1, H dk, D), and what their norms need.
struct LayerCircuits {
    Tensor queries, keys, values;                                ///< rows are columns of W_Q, W_K, W_V
    Tensor outputs;                                              ///< rows of W_O
    std::vector<Eigen::MatrixXf> gram_q, gram_k, gram_v, gram_o; ///< (dk, dk) of each head's rows
    std::vector<double> norm_ov, norm_qk;
};

auto rows_of_head(const Tensor& tensor, std::int64_t h, std::int64_t dk) {
    return ConstRows(tensor.data() + h * dk * tensor.shape()[2], dk, tensor.shape()[2]);
}

/// The squared Frobenius norm of A B C where A has the Gram matrix of its columns `left` and C that of its
/// rows `right`.
double squared_norm(const Eigen::MatrixXf& left, const Eigen::MatrixXf& between,
                    const Eigen::MatrixXf& right) {
    return static_cast<double>((left * between).cwiseProduct(between * right).sum());
}

LayerCircuits circuits_of(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                          std::int64_t layer) {
    const checkpoint::ModelConfig& a = model.config();
    require_direct_circuits(model);
    const std::int64_t n = attention_number(a, {checkpoint::Stack::own, layer});
    const checkpoint::WeightSet w = with_edits(model.layer(n), checkpoint::edits_of(edits, n));
    LayerCircuits out{.queries = by_head(w[TensorId::W_Q], a.H, a.H, a.dk),
                      .keys = by_head(w[TensorId::W_K], a.H, a.Hkv, a.dk),
                      .values = by_head(w[TensorId::W_V], a.H, a.Hkv, a.dk),
                      .outputs = Tensor(Shape{1, a.H * a.dk, a.D}, w[TensorId::W_O]->values()),
                      .gram_q = {},
                      .gram_k = {},
                      .gram_v = {},
                      .gram_o = {},
                      .norm_ov = {},
                      .norm_qk = {}};
    const Eigen::MatrixXf one = Eigen::MatrixXf::Identity(a.dk, a.dk);
    for (std::int64_t h = 0; h < a.H; ++h) {
        const auto gram = [&](const Tensor& of) -> Eigen::MatrixXf {
            const auto rows = rows_of_head(of, h, a.dk);
            return rows * rows.transpose();
        };
        out.gram_q.push_back(gram(out.queries));
        out.gram_k.push_back(gram(out.keys));
        out.gram_v.push_back(gram(out.values));
        out.gram_o.push_back(gram(out.outputs));
        out.norm_ov.push_back(std::sqrt(squared_norm(out.gram_v.back(), one, out.gram_o.back())));
        out.norm_qk.push_back(std::sqrt(squared_norm(out.gram_q.back(), one, out.gram_k.back())));
    }
    return out;
}

} // namespace

std::vector<Composition> compositions(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                      Progress& progress) {
    const checkpoint::ModelConfig& a = model.config();
    cpu::CpuDense cpu;
    std::vector<LayerCircuits> layers;
    std::vector<Composition> all;
    for (std::int64_t to = 0; to < a.layers; ++to) {
        layers.push_back(circuits_of(model, edits, to));
        const LayerCircuits& later = layers.back();
        for (std::int64_t from = 0; from < to; ++from) {
            progress.check();
            const LayerCircuits& earlier = layers[static_cast<std::size_t>(from)];
            // What each earlier head writes, as each later one projects it: (H dk, H dk).
            const auto read_by = [&](const Tensor& columns) {
                const Tensor table(Shape{columns.shape()[1], columns.shape()[2]}, columns.values());
                return cpu.multiply_by_rows(earlier.outputs, table, nullptr, progress);
            };
            const auto queries = read_by(later.queries), keys = read_by(later.keys),
                       values = read_by(later.values);
            for (std::int64_t h = 0; h < a.H; ++h)
                for (std::int64_t g = 0; g < a.H; ++g) {
                    const auto from_head = static_cast<std::size_t>(g), to_head = static_cast<std::size_t>(h);
                    const auto share = [&](const Tensor& product, const Eigen::MatrixXf& behind,
                                           double norm) {
                        const Eigen::MatrixXf between = ConstRows(product.data(), a.H * a.dk, a.H * a.dk)
                                                            .block(g * a.dk, h * a.dk, a.dk, a.dk);
                        const double most = earlier.norm_ov[from_head] * norm;
                        return most == 0
                                   ? 0.0
                                   : std::sqrt(std::max(
                                         squared_norm(earlier.gram_v[from_head], between, behind), 0.0)) /
                                         most;
                    };
                    all.push_back({{from, g},
                                   {to, h},
                                   share(*queries, later.gram_k[to_head], later.norm_qk[to_head]),
                                   share(*keys, later.gram_q[to_head], later.norm_qk[to_head]),
                                   share(*values, later.gram_o[to_head], later.norm_ov[to_head])});
                }
        }
        progress.report(static_cast<float>(to + 1) / static_cast<float>(a.layers));
    }
    return all;
}

} // namespace headscope::analysis
