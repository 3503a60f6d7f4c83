#include "core/analysis/effects/composition.h"
#include "core/checkpoint/model/model_edits.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <Eigen/Core>

using namespace headscope;
using namespace headscope::analysis;

namespace {

using Matrix = Eigen::MatrixXd;

/// Columns of W_Q, W_K or W_V, or rows of W_O, of one head.
Matrix part(const TensorPtr& weight, bool rows, std::int64_t first, std::int64_t dk) {
    using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> all(weight->data(), weight->shape()[0], weight->shape()[1]);
    return rows ? Matrix(all.middleRows(first, dk).cast<double>())
                : Matrix(all.middleCols(first, dk).cast<double>());
}

} // namespace

TEST_CASE("heads compose as the products of their whole matrices say", "[composition]") {
    for (const char* name : {"gpt2_tiny", "llama_tiny_tied", "qwen3_tiny"}) {
        CAPTURE(name);
        const checkpoint::Model model = checkpoint::Model::open(test_data("/models/") + name);
        const checkpoint::ModelConfig& a = model.config();
        Progress progress;
        const std::vector<Composition> all = compositions(model, {}, progress);
        CHECK(std::ssize(all) == a.layers * (a.layers - 1) / 2 * a.H * a.H);
        for (const Composition& one : all) {
            const auto matrices = [&](const analysis::HeadPlace& head) {
                const checkpoint::WeightSet w = model.layer(head.layer);
                const std::int64_t kv = head.head / (a.H / a.Hkv);
                const Matrix OV = part(w[TensorId::W_V], false, kv * a.dk, a.dk) *
                                  part(w[TensorId::W_O], true, head.head * a.dk, a.dk);
                const Matrix QK = part(w[TensorId::W_Q], false, head.head * a.dk, a.dk) *
                                  part(w[TensorId::W_K], false, kv * a.dk, a.dk).transpose();
                return std::pair(OV, QK);
            };
            const Matrix OV = matrices(one.from).first;
            const auto [later_OV, QK] = matrices(one.to);
            const auto share = [&](const Matrix& M) { return (OV * M).norm() / (OV.norm() * M.norm()); };
            CHECK(one.queries == Approx(share(QK)).margin(1e-4));
            CHECK(one.keys == Approx(share(QK.transpose())).margin(1e-4));
            CHECK(one.values == Approx(share(later_OV)).margin(1e-4));
        }
    }
}
