#include "core/analysis/effects/unit_words.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <numeric>

namespace headscope::analysis {

namespace {

Eigen::ArrayXd numbers_of(const Tensor& tensor) {
    return ConstNumbers(tensor.data(), tensor.count()).cast<double>();
}

checkpoint::WeightSet edited_weights(const checkpoint::ModelRun& run, std::int64_t n) {
    return checkpoint::with_edits(checkpoint::editable_weights(run.model(), n),
                                  checkpoint::edits_of(run.edits(), n));
}

/// What 1 of the unit's activation adds to the row that W_U multiplies, but for what norms divide by.
Eigen::VectorXf direction_of(const checkpoint::ModelRun& run, std::int64_t n, std::int64_t unit) {
    const checkpoint::ModelConfig& config = run.model().config();
    const checkpoint::WeightSet layer = edited_weights(run, n),
                                last = edited_weights(run, attention_count(config) - 1);
    const float* const row = layer[TensorId::W_out]->data() + unit * config.D;
    Eigen::ArrayXd direction = ConstNumbers(row, config.D).cast<double>();
    const checkpoint::ModelStages& stages = run.model().stages();
    const checkpoint::AttentionPlace place = attention_place(config, n);
    if (const auto norm = stages.norm(place, TensorId::mlp_out);
        norm && norm->weight && layer[*norm->weight] != nullptr)
        direction *= numbers_of(*layer[*norm->weight]);
    direction *= stages.branch_scale(place, TensorId::mlp_out).value_or(1.0);
    if (stages.norm({checkpoint::Stack::own, -1}, TensorId::final_norm)->centered)
        direction -= direction.mean();
    if (last[TensorId::final_norm_weight] != nullptr)
        direction *= numbers_of(*last[TensorId::final_norm_weight]);
    return (direction * stages.head_scale()).matrix().cast<float>();
}

bool has_experts(const checkpoint::Model& model, checkpoint::Stack stack) {
    bool any = false;
    for (std::int64_t l = 0; l < in_stack(model.config(), stack).layers && !any; ++l)
        any = model.stages().has({stack, l}, TensorId::routing);
    return any;
}

} // namespace

bool has_unit_words(const checkpoint::Model& model, checkpoint::Stack stack) {
    return model.has_head() && stack != checkpoint::Stack::encoder &&
           model.stages().has({stack, -1}, TensorId::final_norm) && !has_experts(model, stack) &&
           has_one_stream(model) && !model.stages().is_stream({stack, 0}, TensorId::norm1) &&
           model.weight(TensorId::head_dense) == nullptr;
}

UnitWords unit_words(const checkpoint::ModelRun& run, std::int64_t n, std::int64_t unit, std::size_t most,
                     const Progress& cancel) {
    const Eigen::VectorXf direction = direction_of(run, n, unit);
    const checkpoint::EditedTable table(run.model(), run.edits(), TensorId::W_U);
    const std::int64_t vocab = table.rows(), D = table.own().shape()[1];
    const ConstRows rows(table.own().data(), vocab, D);
    Eigen::VectorXf logits(vocab);
    constexpr std::int64_t part = 4096;
    for (std::int64_t first = 0; first < vocab; first += part) {
        cancel.check();
        const std::int64_t count = std::min(part, vocab - first);
        logits.segment(first, count).noalias() = rows.middleRows(first, count) * direction;
    }
    for (const auto& [id, row] : table.changed())
        logits[id] = Eigen::Map<const Eigen::VectorXf>(row->data(), D).dot(direction);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(vocab));
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    most = std::min(most, ids.size());
    const auto first_by = [&](auto order) {
        std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(most), order,
                                  [&](std::int64_t id) { return logits[id]; });
        std::vector<UnitWords::Word> words;
        for (std::size_t at = 0; at < most; ++at)
            words.push_back({ids[at], logits[ids[at]]});
        return words;
    };
    return {n, unit, first_by(std::ranges::greater{}), first_by(std::ranges::less{})};
}

} // namespace headscope::analysis
