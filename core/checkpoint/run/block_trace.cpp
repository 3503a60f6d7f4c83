#include "core/checkpoint/run/block_trace.h"

#include "core/tensor/views.h"

#include <algorithm>

namespace headscope::checkpoint {

const TensorPtr& BlockTrace::find(TensorId id) const {
    return is_block_weight(id) ? weights[id] : (*this)[id];
}

float BlockTrace::value(TensorId id, Index at) const {
    if (id == TensorId::logits || id == TensorId::probabilities)
        at[1] -= position;
    if (is_block_weight(id) && is_table(id))
        return number_in_row(table_row(id, at[0]), find(id)->shape(), at);
    const Tensor& tensor = *find(id);
    return tensor.data()[tensor.shape().offset(at)];
}

bool BlockTrace::is_set(TensorId id, const Index& at) const {
    return id == TensorId::mlp_act && std::ranges::any_of(patched, [&](const PatchedRows& patch) {
               return patch.at == id && patch.holds(at[1], at[2]);
           });
}

float BlockTrace::own_value(TensorId weight, const Index& at) const {
    const Tensor& tensor = *own[weight];
    return tensor.data()[tensor.shape().offset(at)];
}

std::span<const float> BlockTrace::table_row(TensorId table, std::int64_t row) const {
    if (const auto edited = rows.find(table); edited != rows.end())
        if (const auto found = edited->second.find(row); found != edited->second.end())
            return found->second->values();
    return row_of(*own[table], row);
}

TensorPtr BlockTrace::edited(TensorId id) const {
    const auto changed = is_block_weight(id) ? rows.find(id) : rows.end();
    return changed == rows.end() ? find(id) : with_rows(find(id), changed->second);
}

std::vector<float> row_lengths(const Tensor& x) {
    const std::int64_t D = x.shape().back(0);
    const ConstRows rows(x.data(), x.count() / D, D);
    const Eigen::VectorXf lengths = rows.rowwise().norm();
    return {lengths.begin(), lengths.end()};
}

} // namespace headscope::checkpoint
