#include "core/trace/stage.h"

#include "core/trace/stage_set.h"

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

bool has_tensor(TensorId id, const ProblemParts& parts) {
    const ProblemPart when = tensor_info(id).when;
    return when == nullptr || parts.*when;
}

TensorId source_of(TensorId input, const ProblemParts& parts) {
    const std::optional<TensorId> instead = tensor_info(input).instead;
    return !instead || has_tensor(input, parts) ? input : source_of(*instead, parts);
}

std::vector<ReadSpan> cells_read(TensorId stage, const Dims& dims, const Index& at,
                                 const ProblemParts& parts) {
    const TensorInfo& row = tensor_info(stage, parts);
    std::vector<ReadSpan> spans;
    if (row.cells != nullptr)
        spans = row.cells(row, dims, at);
    for (ReadSpan& span : spans)
        span.source = source_of(span.source, parts);
    return spans;
}

HeadAxis head_axis(const TensorInfo& info, const Dims& dims) {
    for (int axis = 0; axis < info.rank(); ++axis)
        switch (info.axes[static_cast<std::size_t>(axis)]) {
        case Axis::H:
            return {axis, false, 1};
        case Axis::H_dk:
            return {axis, false, dims.dk};
        case Axis::H_dv:
            return {axis, false, dims.dv};
        case Axis::Hkv:
            return {axis, true, 1};
        case Axis::Hkv_dk:
            return {axis, true, dims.dk};
        case Axis::Hkv_dv:
            return {axis, true, dims.dv};
        case Axis::none:
        case Axis::B:
        case Axis::Tq:
        case Axis::Tk:
        case Axis::D:
        case Axis::Dkv:
        case Axis::dk:
        case Axis::dv:
            break;
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
