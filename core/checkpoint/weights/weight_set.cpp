#include "core/checkpoint/weights/weight_set.h"

#include <algorithm>

namespace headscope::checkpoint {

Shape row_shape(const Shape& table) {
    return table.rank() == 3 ? Shape{table[1], table[2]} : Shape{table[1]};
}

std::span<const float> row_of(const Tensor& table, std::int64_t row) {
    const auto count = static_cast<std::size_t>(row_shape(table.shape()).count());
    return table.values().subspan(static_cast<std::size_t>(row) * count, count);
}

float number_in_row(std::span<const float> row, const Shape& table, Index at) {
    at[0] = 0;
    return row[static_cast<std::size_t>(table.offset(at))];
}

TensorPtr with_rows(const TensorPtr& table, const TableRows& rows) {
    if (rows.empty())
        return table;
    auto out = std::make_shared<Tensor>(table->shape(), table->values());
    for (const auto& [row, numbers] : rows)
        std::ranges::copy(numbers->values(), out->data() + row * numbers->count());
    return out;
}

TensorPtr WeightSet::whole(TensorId id) const {
    const auto changed = rows.find(id);
    return changed == rows.end() ? (*this)[id] : with_rows((*this)[id], changed->second);
}

TensorPtr WeightSet::row(TensorId table, std::int64_t i) const {
    if (const auto edited = rows.find(table); edited != rows.end())
        if (const auto found = edited->second.find(i); found != edited->second.end())
            return found->second;
    const TensorPtr& whole = (*this)[table];
    return whole == nullptr ? nullptr
                            : std::make_shared<const Tensor>(row_shape(whole->shape()), row_of(*whole, i));
}

} // namespace headscope::checkpoint
