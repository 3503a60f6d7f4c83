#include "core/checkpoint/model/edited_table.h"

#include "core/checkpoint/model/stacks.h"

#include <algorithm>

namespace headscope::checkpoint {

EditedTable::EditedTable(const Model& model, const ModelEdits& edits, TensorId table, std::int64_t n)
    : own_(is_per_layer(table) ? model.layer(n)[table] : model.weight(table)) {
    const std::int64_t last = attention_count(model.config()) - 1;
    if (const TableRows* const rows =
            edited_rows(model.config(), edits, table, is_per_layer(table) ? n : last))
        changed_ = *rows;
}

std::span<const float> EditedTable::row(std::int64_t i) const {
    const auto found = changed_.find(i);
    return found == changed_.end() ? own_row(i) : found->second->values();
}

std::shared_ptr<Tensor> EditedTable::multiply(cpu::CpuDense& cpu, const Tensor& x, const Tensor* b,
                                              const Progress& cancel) const {
    std::shared_ptr<Tensor> out = cpu.multiply_by_rows(x, *own_, b, cancel);
    if (changed_.empty())
        return out;
    const auto count = std::ssize(changed_);
    const std::int64_t D = own_->shape()[1];
    Tensor some(Shape{count, D}), bias(Shape{count}, 0.0F);
    std::int64_t place = 0;
    for (const auto& [row, numbers] : changed_) {
        std::ranges::copy(numbers->values(), some.data() + place * D);
        if (b != nullptr)
            bias.data()[place] = b->data()[row];
        ++place;
    }
    const auto products = cpu.multiply_by_rows(x, some, b == nullptr ? nullptr : &bias, cancel);
    for (std::int64_t i = 0; i < x.count() / D; ++i) {
        const float* from = products->data() + i * count;
        for (const auto& [row, numbers] : changed_)
            out->data()[i * rows() + row] = *from++;
    }
    return out;
}

TensorPtr edited_end_weight(const Model& model, const ModelEdits& edits, TensorId weight) {
    if (is_table(weight))
        return EditedTable(model, edits, weight).whole();
    TensorPtr own = model.weight(weight);
    if (own == nullptr)
        return own;
    const ModelConfig& config = model.config();
    const LayerEdits* const layer = edits_of(edits, edited_with(config, attention_count(config) - 1, weight));
    if (layer == nullptr)
        return own;
    const auto edited = layer->tensors.find(weight);
    return edited == layer->tensors.end() ? own : edited->second;
}

} // namespace headscope::checkpoint
