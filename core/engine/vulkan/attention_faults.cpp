#include "core/base/message.h"
#include "core/engine/range_fault.h"
#include "core/engine/vulkan/attention_run.h"
#include "core/engine/vulkan/unsigned.h"

#include <algorithm>
#include <cmath>
#include <span>

// Numbers of a run that are outside float32's range: found in the faults that the kernels record.

namespace headscope::vulkan {

namespace {

using enum TensorId;

} // namespace

std::vector<std::uint32_t> AttentionRun::faults() {
    std::vector<std::uint32_t> found(fault_count);
    download(Slot::faults, 0, std::span(found));
    return found;
}

/// Reports the first bad number of a projection. stride: from row to row of the slot. part: the number of a
/// row of a head, those of one token side by side.
void AttentionRun::fail_projection(NodeId node, Slot slot, const HeadNodes& heads, std::int64_t stride,
                                   std::int64_t part) {
    const std::int64_t h = part % heads.count, row = part / heads.count, b = row / heads.T, i = row % heads.T;
    std::vector<float> numbers(u64(heads.width));
    download(slot, u64(((b * heads.count + h) * heads.T + i) * stride), std::span(numbers));
    const auto bad = std::ranges::find_if_not(numbers, [](float number) { return std::isfinite(number); });
    const std::int64_t c = bad == numbers.end() ? 0 : bad - numbers.begin(); // clipped by a limit
    engine::fail_projection(name_of(node), graph_.node(node).inputs[1].name, b, i, h * heads.width + c);
}

void AttentionRun::check_projections() {
    const std::vector<std::uint32_t> found = faults();
    const auto part_of = [&](Fault fault) { return found[static_cast<std::size_t>(fault)]; };
    for (std::size_t n = 0; n < a_.heads.size(); ++n)
        if (const std::uint32_t part = part_of(head_slots[n].fault); part != no_fault)
            fail_projection(a_.heads[n].projected, head_slots[n].heads, a_.heads[n],
                            padded(a_.heads[n].width), part);
    if (const std::uint32_t part = part_of(Fault::output); part != no_fault)
        fail_projection(a_.stage(output), slot_of(output),
                        {.B = d_.B, .count = 1, .T = d_.Tq, .width = d_.D, .rows = {}}, d_.D, part);
    for (std::size_t n = 0; n < row_steps_.size(); ++n)
        if (found[static_cast<std::size_t>(Fault::head_rows) + n] != no_fault)
            engine::fail_head_rows(name_of(row_steps_[n]));
}

void AttentionRun::fail_score(TensorId stage, std::int64_t number) {
    const std::int64_t i = number % d_.Tq, h = number / d_.Tq % d_.H, b = number / d_.Tq / d_.H;
    const Slab row{.b = b, .h = h, .row = i};
    const Tensor values = recompute(gpu_, arena_, kernels_, scoring_, stage, row, 0, d_.Tk);
    const auto all = values.values();
    const auto bad = std::ranges::find_if(all, [&](float value) {
        return !std::isfinite(value) && (stage != masked || value > 0 || std::isnan(value));
    });
    const std::int64_t key = bad - all.begin();
    if (stage == masked)
        engine::fail_row(tr("common.masked_score_key", "the masked score of key {}", key), d_, b, h, i,
                         tr("common.make_additive_mask_smaller", "make the additive mask smaller"));
    engine::fail_row(tr("common.score_key", "the score of key {}", key), d_, b, h, i,
                     stage == scores ? tr("common.make_x_w_q", "make X, W_Q or W_K smaller")
                                     : tr("common.raise_temperature_make_x",
                                          "raise the temperature, or make X, W_Q or W_K smaller"));
}

void AttentionRun::check_rows() {
    const std::vector<std::uint32_t> found = faults();
    const auto row_of = [&](Fault fault) { return found[static_cast<std::size_t>(fault)]; };
    for (const auto& [fault, stage] : {std::pair(Fault::score, scores), std::pair(Fault::scaled, scaled),
                                       std::pair(Fault::masked, masked)})
        if (row_of(fault) != no_fault)
            fail_score(stage, row_of(fault));
    const auto fail = [&](std::uint32_t number, const std::string& what, const std::string& remedy) {
        engine::fail_row(what, d_, number / d_.Tq / d_.H, number / d_.Tq % d_.H, number % d_.Tq, remedy);
    };
    if (row_of(Fault::value) != no_fault)
        fail(row_of(Fault::value), tr("common.output", "the output"),
             tr("common.make_x_w_v", "make X, W_V or the head gain smaller"));
    if (row_of(Fault::contributions) != no_fault)
        fail(row_of(Fault::contributions), tr("common.contribution", "the contribution"),
             tr("common.make_x_w_v_2", "make X, W_V, W_O or the head gain smaller"));
}

} // namespace headscope::vulkan
