#include "core/trace/stage.h"

#include "core/base/message.h"
#include "core/trace/stage_set.h"

#include <bitset>

namespace headscope {

int TensorInfo::rank() const {
    return static_cast<int>(std::ranges::find(axes, Axis::none) - axes.begin());
}

Shape TensorInfo::shape(const Dims& dims) const {
    const auto at = [&](std::size_t axis) { return extent(axes[axis], dims); };
    switch (rank()) {
    case 0:
        return {};
    case 1:
        return {at(0)};
    case 2:
        return {at(0), at(1)};
    case 3:
        return {at(0), at(1), at(2)};
    }
    return {at(0), at(1), at(2), at(3)};
}

bool is_stage(TensorId id) {
    return tensor_info(id).stage;
}

std::optional<TensorId> find_stage(std::string_view name) {
    const auto row = std::ranges::find(stage_table(), name, &TensorInfo::name);
    return row == stage_table().end() ? std::nullopt : std::optional(row->id);
}

std::optional<TensorId> find_tensor(std::string_view name) {
    const auto row = std::ranges::find(input_table(), name, &TensorInfo::name);
    return row == input_table().end() ? find_stage(name) : std::optional(row->id);
}

std::optional<TensorId> find_block_stage(std::string_view name) {
    const auto row = std::ranges::find(block_table(), name, &TensorInfo::name);
    return row == block_table().end() ? std::nullopt : std::optional(row->id);
}

std::optional<TensorId> find_block_weight(std::string_view name) {
    const auto row = std::ranges::find(block_weight_table(), name, &TensorInfo::name);
    return row == block_weight_table().end() ? std::nullopt : std::optional(row->id);
}

namespace {

using TensorSet = std::bitset<named_count>;

TensorSet ids_of(std::span<const TensorInfo> rows) {
    TensorSet ids;
    for (const TensorInfo& info : rows)
        ids.set(static_cast<std::size_t>(info.id));
    return ids;
}

} // namespace

bool is_block_stage(TensorId id) {
    static const TensorSet all = ids_of(block_table()); // asked for every number on screen
    return all.test(static_cast<std::size_t>(id));
}

bool is_block_weight(TensorId id) {
    static const TensorSet all = ids_of(block_weight_table());
    return all.test(static_cast<std::size_t>(id));
}

bool is_of_layer(TensorId id) {
    const StageGroup group = tensor_info(id).group;
    return group < StageGroup::merged && group != StageGroup::embedding && group != StageGroup::position;
}

bool is_table(TensorId id) {
    if (static_cast<int>(id) >= tensor_count)
        return false; // no page shows it
    const TensorInfo& info = tensor_info(id);
    const Axis rows = info.rank() < 2 ? Axis::none : info.axes[0];
    return rows == Axis::vocab || rows == Axis::positions || rows == Axis::token_types ||
           rows == Axis::experts || (rows == Axis::distances && is_block_weight(id));
}

bool is_score(TensorId id) {
    return is_stage(id) && tensor_info(id).axes == tensor_info(TensorId::scores).axes;
}

bool has_tensor(TensorId id, const ProblemParts& parts) {
    const auto& when = tensor_info(id).when;
    return when.front() == nullptr ||
           std::ranges::any_of(when, [&](ProblemPart part) { return part != nullptr && parts.*part; });
}

HeadAxis head_axis(const TensorInfo& info, const Dims& dims) {
    for (int axis = 0; axis < info.rank(); ++axis) {
        const AxisRow& row = axis_row(info.axes[static_cast<std::size_t>(axis)]);
        if (row.size == &Dims::H || row.size == &Dims::Hkv)
            return {axis, row.size == &Dims::Hkv, row.times == nullptr ? 1 : dims.*row.times};
    }
    return {};
}

StageSet StageSet::of(const ProblemParts& parts) {
    StageSet stages;
    for (const TensorInfo& row : stage_table())
        if (has_tensor(row.id, parts))
            stages = stages.with(row.id);
    return stages;
}

StageSet StageSet::all() {
    StageSet stages;
    for (const TensorInfo& row : stage_table())
        stages = stages.with(row.id);
    return stages;
}

} // namespace headscope
