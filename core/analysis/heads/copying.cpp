#include "core/analysis/heads/copying.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/heads/eigenvalues.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/stacks.h"
#include "core/engine/cpu/dense.h"
#include "core/tensor/views.h"

#include <Eigen/Core>
#include <algorithm>
#include <set>
#include <span>

namespace headscope::analysis {

namespace {

ConstRows rows_of(const Tensor& tensor, std::int64_t rows, std::int64_t columns) {
    return {tensor.data(), rows, columns};
}

/// W_U W_E, (1, D, D): the sum over the vocabulary of a token's row of W_U times its row of W_E. Parts of the
/// vocabulary are added in double, so that a long sum loses nothing.
Tensor table_product(const checkpoint::Model& model, const checkpoint::ModelEdits& edits, cpu::CpuDense& cpu,
                     const Progress& cancel) {
    const checkpoint::EditedTable words(model, edits, TensorId::W_E), out(model, edits, TensorId::W_U);
    const std::int64_t vocab = std::min(words.rows(), out.rows()), D = words.own().shape()[1];
    const auto E = rows_of(words.own(), vocab, D), U = rows_of(out.own(), vocab, D);
    constexpr std::int64_t most_rows = 8192;
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(D, D);
    for (std::int64_t first = 0; first < vocab; first += most_rows) {
        const std::int64_t count = std::min(most_rows, vocab - first);
        Tensor left(Shape{1, D, count}), right(Shape{count, D});
        MutableRows(left.data(), D, count) = U.middleRows(first, count).transpose();
        MutableRows(right.data(), count, D) = E.middleRows(first, count);
        sum += rows_of(*cpu.multiply(left, right, nullptr, cancel), D, D).cast<double>();
    }
    std::set<std::int64_t> changed;
    for (const checkpoint::EditedTable* const table : {&words, &out})
        for (const auto& [row, numbers] : table->changed())
            changed.insert(row);
    const auto row = [D](std::span<const float> numbers) -> Eigen::RowVectorXd {
        return ConstRow(numbers.data(), D).cast<double>();
    };
    for (const std::int64_t id : changed)
        sum += row(out.row(id)).transpose() * row(words.row(id)) -
               row(out.own_row(id)).transpose() * row(words.own_row(id));
    // Narrower embeddings are reached through their map and the head's dense layer.
    if (const TensorPtr map = model.weight(TensorId::embedding_map)) {
        const std::int64_t width = map->shape()[1];
        sum = sum * rows_of(*map, D, width).cast<double>();
        if (const TensorPtr dense = model.weight(TensorId::head_dense))
            sum = rows_of(*dense, width, D).cast<double>() * sum;
    }
    Tensor product(Shape{sum.rows(), sum.cols()});
    MutableRows(product.data(), sum.rows(), sum.cols()) = sum.cast<float>();
    return product;
}

double copying_of(const Eigen::MatrixXd& circuit) {
    double real = 0, all = 0;
    const std::span numbers(circuit.data(), static_cast<std::size_t>(circuit.size()));
    for (const std::complex<double> lambda : eigenvalues(numbers, circuit.rows())) {
        real += lambda.real();
        all += std::abs(lambda);
    }
    return all > 0 ? real / all : 0.0;
}

} // namespace

std::vector<std::vector<double>> ov_copying(const checkpoint::Model& model,
                                            const checkpoint::ModelEdits& edits,
                                            const std::vector<std::int64_t>& layers, const Progress& cancel) {
    if (!model.has_head())
        fail_input(tr("copying.no_head_gives_logits",
                      "{} has no language-model head, so nothing can be copied to its logits; open a "
                      "checkpoint that was saved with its head",
                      model.path()));
    const checkpoint::ModelConfig& config = model.config();
    require_direct_circuits(model);
    const std::int64_t D = config.D, H = config.H, Hkv = config.Hkv, dk = config.dk;
    cpu::CpuDense cpu;
    const Tensor tables = table_product(model, edits, cpu, cancel);
    std::vector<std::vector<double>> scores;
    for (const std::int64_t l : layers) {
        const std::int64_t n = attention_number(config, {checkpoint::Stack::own, l});
        const checkpoint::LayerEdits* const of_layer = edits_of(edits, n);
        const checkpoint::WeightSet weights = with_edits(model.layer(n), of_layer);
        const Tensor output(Shape{1, H * dk, D}, weights[TensorId::W_O]->values());
        const TensorPtr written = cpu.multiply(output, tables, nullptr, cancel); // W_O (W_U W_E)
        const Eigen::MatrixXd values = rows_of(*weights[TensorId::W_V], D, Hkv * dk).cast<double>();
        std::vector<double>& of_heads = scores.emplace_back();
        for (std::int64_t h = 0; h < H; ++h) {
            cancel.check();
            const bool gained = of_layer != nullptr && !of_layer->gains.empty();
            const float gain = gained ? of_layer->gains[static_cast<std::size_t>(h)] : 1.0F;
            const Eigen::MatrixXd of_head =
                rows_of(*written, H * dk, D).middleRows(h * dk, dk).cast<double>() *
                static_cast<double>(gain);
            of_heads.push_back(copying_of(of_head * values.middleCols(h / (H / Hkv) * dk, dk)));
        }
    }
    return scores;
}

} // namespace headscope::analysis
