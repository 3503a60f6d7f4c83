#include "app/draw/panels/panels.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float entry_height = 44.0F;
/// The panel is drawn in every frame, so it computes the range only of tensors up to this size.
constexpr std::int64_t most_searched = 1 << 18;

std::string axes_text(const TensorInfo& info, const Dims& dims) {
    std::string text;
    for (int axis = 0; axis < info.rank(); ++axis)
        text += (axis == 0 ? "" : " × ") + axis_name(info.axes[static_cast<std::size_t>(axis)], dims);
    return text;
}

std::string range_text(const Tensor& tensor) {
    if (tensor.count() > most_searched)
        return "";
    float low = INFINITY, high = -INFINITY;
    bool forbidden = false;
    for (const float value : tensor.values()) {
        if (!std::isfinite(value)) {
            forbidden = true;
            continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (low > high)
        return forbidden ? tr("tensors_panel.all", "all −∞") : tr("tensors_panel.empty", "empty");
    const std::string from = number(static_cast<double>(low), 2), to = number(static_cast<double>(high), 2);
    // Translators: the range of numbers: -1.20 to 3.40
    return forbidden ? tr("tensors_panel.to_and", "{} to {}, and −∞", from, to)
                     : tr("tensors_panel.to", "{} to {}", from, to);
}

struct Entry {
    std::string name, range = {}, shape, memory = {};
    StageGroup group;
    bool on;
};

void draw_entry(Sheet& sheet, const Entry& entry) {
    const Theme& theme = sheet.context.theme;
    const figure::Rect area{sheet.left - 12, sheet.y, sheet.width() + 24, entry_height};
    if (entry.on) {
        sheet.picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
        sheet.picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
    }
    const float top = sheet.y;
    sheet.y = top - 1;
    const float name = sheet.put(sheet.left, entry.name, sheet.width(),
                                 entry.on ? figure::Font::mono_semibold : figure::Font::mono, 13, theme.ink);
    const float room = sheet.width() - name - 12;
    if (room > 40)
        sheet.put(sheet.right, entry.range, room, figure::Font::mono, 12, theme.text, figure::Align::right);
    sheet.y = top + 18;
    const float shape =
        sheet.put(sheet.left, entry.shape, sheet.width(), figure::Font::mono, 12, theme.muted);
    if (shape + 12 + sheet.context.measure(entry.memory, figure::Font::mono, 12) <= sheet.width())
        sheet.put(sheet.right, entry.memory, sheet.width(), figure::Font::mono, 12, theme.muted,
                  figure::Align::right);
    sheet.y = top + entry_height;
    sheet.picture.add_hotspot(area, entry.name, GoTo{entry.group},
                              (entry.memory.empty() ? "" : entry.memory + ". ") +
                                  tr("tensors_panel.go", "Go to {}", tr(group_info(entry.group).title)));
}

void draw_tensor(Sheet& sheet, TensorId id) {
    const DrawContext& context = sheet.context;
    const Tensor* tensor =
        context.shown.trace == nullptr ? context.shown.problem().input(id) : context.shown.tensor(id);
    if (tensor == nullptr)
        return;
    const TensorInfo& info = tensor_info(id);
    draw_entry(sheet, {.name = std::string(info.name),
                       .range = range_text(*tensor),
                       .shape = axes_text(info, sheet.context.dims()) + " = " + tensor->shape().text(),
                       .memory = bytes_text(tensor->count() * static_cast<std::int64_t>(sizeof(float))),
                       .group = info.group,
                       .on = is_stage(id) && info.group == context.view.group});
}

std::string mask_words(const Mask& mask) {
    if (mask.empty())
        return tr("common.none", "none");
    std::string text;
    for (const MaskRule& rule : mask)
        text +=
            (text.empty() ? "" : ", ") +
            std::visit(
                Overloaded{[](const CausalMask&) { return tr("common.causal", "causal"); },
                           [](const KeyPaddingMask&) { return tr("tensors_panel.padding", "padding"); },
                           [](const SlidingWindowCausalMask& r) {
                               return tr("tensors_panel.causal_window", "causal window of {}", r.window);
                           },
                           [](const SlidingWindowSymmetricMask& r) {
                               return tr("tensors_panel.window", "window of ±{}", r.half_width);
                           },
                           [](const ChunkedCausalMask& r) {
                               return tr("tensors_panel.causal_chunks", "causal in chunks of {}", r.chunk);
                           },
                           [](const ExplicitMask&) { return tr("tensors_panel.explicit", "explicit"); },
                           [](const AdditiveMask&) { return tr("tensors_panel.additive", "additive"); }},
                rule);
    return text;
}

std::string gain_words(const std::vector<float>& gains) {
    if (std::ranges::all_of(gains, [](float g) { return g == 1.0F; }))
        return tr("tensors_panel.all_1", "all 1");
    std::string text;
    for (const float gain : gains)
        text += (text.empty() ? "" : ", ") + number(static_cast<double>(gain), 2);
    return text;
}

void heading(Sheet& sheet, const std::string& text) {
    sheet.put(sheet.left, text, sheet.width(), figure::Font::ui_semibold, 13.5F, sheet.context.theme.ink);
    sheet.y += Sheet::row_height + 2;
}

} // namespace

Picture draw_tensors(const DrawContext& context) {
    if (context.shown.document->shows_weights())
        return draw_source_panel(context);
    Sheet sheet(context);
    const Problem& problem = context.shown.problem();
    sheet.y = 14;
    heading(sheet, tr("tensors_panel.inputs", "Inputs"));
    // x is also a step of the strip, but is listed only once, among the inputs.
    draw_tensor(sheet, TensorId::x);
    for (const TensorInfo& input : input_table())
        draw_tensor(sheet, input.id);
    for (const TensorInfo& weight : block_weight_table())
        draw_tensor(sheet, weight.id);
    draw_entry(sheet, {.name = "mask",
                       .range = problem.mask.empty() ? tr("common.none", "none") : "",
                       .shape = problem.mask.empty() ? tr("tensors_panel.every_token_reads_every",
                                                          "every token reads every key")
                                                     : mask_words(problem.mask),
                       .group = StageGroup::masked,
                       .on = false});
    draw_entry(sheet,
               {.name = "gain",
                .shape = tr("tensors_panel.one_per_head", "one per head: {}", gain_words(problem.gains)),
                .group = StageGroup::concat,
                .on = false});
    sheet.y += 14;
    heading(sheet, tr("common.stages", "Stages"));
    if (context.shown.trace == nullptr)
        sheet.paragraph(
            tr("tensors_panel.not_listed_filtered",
               "Not listed while filtered weights are on screen: go to another stage, or switch the "
               "filters off in Heads."),
            context.theme.text);
    for (const TensorInfo& stage : stage_table())
        if (stage.id != TensorId::x)
            draw_tensor(sheet, stage.id);
    return sheet.finish();
}

} // namespace headscope::app
