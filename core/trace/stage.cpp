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

bool is_block_weight(TensorId id) {
    static const auto all = [] { // it is asked for every number on screen
        std::bitset<tensor_count> found;
        for (const TensorInfo& info : block_weight_table())
            found.set(static_cast<std::size_t>(info.id));
        return found;
    }();
    return all.test(static_cast<std::size_t>(id));
}

bool is_of_layer(TensorId id) {
    const StageGroup group = tensor_info(id).group;
    return group < StageGroup::final_norm && group != StageGroup::embedding && group != StageGroup::position;
}

bool is_table(TensorId id) {
    const TensorInfo& info = tensor_info(id);
    const Axis rows = info.rank() < 2 ? Axis::none : info.axes[0];
    return rows == Axis::vocab || rows == Axis::positions || rows == Axis::token_types ||
           rows == Axis::experts || (rows == Axis::distances && is_block_weight(id));
}

bool is_score(TensorId id) {
    return is_stage(id) && tensor_info(id).axes == tensor_info(TensorId::scores).axes;
}

bool has_tensor(TensorId id, const ProblemParts& parts) {
    const ProblemPart when = tensor_info(id, parts).when;
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
        spans = row.cells(row, dims, at, parts);
    for (ReadSpan& span : spans)
        span.source = source_of(span.source, parts);
    return spans;
}

namespace {

std::string replaced(std::string text, std::string_view word, std::string_view with) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + with.size()))
        text.replace(at, word.size(), with);
    return text;
}

/// `text` with `in_place` where a row's first input is cut into heads by the row itself, and `by_head` where
/// the input has heads already. Both name the input "$".
std::string with_source(std::string_view text, const TensorInfo& row, const ProblemParts& parts,
                        std::string_view in_place, std::string_view by_head) {
    const TensorInfo& source = tensor_info(source_of(row.inputs[0], parts));
    const std::string_view input = source.axes == row.axes ? by_head : in_place;
    return replaced(std::string(text), "$", replaced(std::string(input), "$", source.name));
}

} // namespace

std::string formula_of(TensorId stage, const ProblemParts& parts) {
    const TensorInfo& row = tensor_info(stage, parts);
    if (row.verb.empty())
        return parts.tempered ? replaced(tr(row.formula), "√dk", "(√dk · temperature)") : tr(row.formula);
    return with_source(tr(row.formula), row, parts,
                       row.axes[3] == Axis::dk ? "$[:, h·dk : (h+1)·dk]" : "$[:, h·dv : (h+1)·dv]", "$[h]");
}

StageSet with_sources(StageSet wanted, const ProblemParts& parts) {
    const std::span<const TensorInfo> table = stage_table();
    std::for_each(table.rbegin(), table.rend(), [&](const TensorInfo& row) {
        if (!row.verb.empty() && wanted.has(row.id))
            wanted = wanted.with(source_of(row.inputs[0], parts));
    });
    return wanted;
}

std::vector<TensorId> steps_to(TensorId heads, const ProblemParts& parts) {
    std::vector<TensorId> steps{heads};
    while (!tensor_info(steps.back(), parts).verb.empty())
        steps.push_back(source_of(tensor_info(steps.back(), parts).inputs[0], parts));
    std::ranges::reverse(steps);
    return steps;
}

bool heads_are_columns(const ProblemParts& parts) {
    const auto moved = [&](TensorId heads) {
        const TensorInfo& row = tensor_info(heads, parts);
        return row.operation == Operation::split &&
               tensor_info(source_of(row.inputs[0], parts)).operation == Operation::projection;
    };
    return moved(TensorId::q_heads) && moved(TensorId::k_heads);
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
