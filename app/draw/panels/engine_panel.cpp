#include "app/draw/panels/engine_panel.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <cmath>
#include <cstdio>

namespace headscope::app {

namespace {

constexpr float choice_height = 46, button_height = 34;

std::string difference_text(double value) {
    if (value == 0)
        return "0";
    if (!std::isfinite(value))
        return "∞";
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", value);
    return text;
}

/// Draws two lines that choose a device when clicked.
void choice(Sheet& sheet, const EngineState& engines, const std::string& id, const std::string& title,
            const std::string& detail, const std::string& tip, bool usable = true) {
    const Theme& theme = sheet.context.theme;
    const figure::Rect area{8, sheet.y, sheet.context.width - 16, choice_height};
    const bool on = engines.chosen == id;
    if (on)
        sheet.picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight, .radius = 6});
    const float top = sheet.y;
    sheet.y = top + 1;
    sheet.put(sheet.left, (on ? "✓  " : "     ") + title, sheet.width(), figure::Font::ui_medium, 13,
              usable ? theme.ink : theme.muted);
    sheet.y = top + 20;
    sheet.put(sheet.left + 20, detail, sheet.width() - 20, figure::Font::ui, 12, theme.muted);
    if (usable)
        sheet.picture.add_spot(area, "engine " + id, EngineAction{EngineAction::Kind::choose, id}, tip);
    sheet.y = top + choice_height;
}

void choices(Sheet& sheet, const EngineState& engines) {
    const Theme& theme = sheet.context.theme;
    if (!engines.found) {
        choice(sheet, engines, "auto", tr("Automatic"), tr("The CPU, or a graphics processor for large work"),
               {});
        choice(sheet, engines, "cpu", engine_title("cpu"), tr("Every machine has it"), {});
        return sheet.paragraph(tr("Looking for graphics processors…"), theme.muted);
    }
    const engine::AutoChoice best = engine::auto_choice(*engines.found);
    choice(sheet, engines, "auto", tr("Automatic"),
           best.id == "cpu" ? tr("The CPU, on this machine")
                            : tr("{} for large work, else the CPU", engine_title(best.id)),
           tr("Because {}.", best.reason));
    for (const engine::Device& device : engines.found->devices) {
        const std::string all = device.name + "; " + device.detail;
        choice(sheet, engines, device.id, engine_title(device.id), device.usable ? device.name : all, all,
               device.usable);
    }
    if (!engines.found->missing.empty())
        sheet.paragraph(tr("No Vulkan device: {}.", engines.found->missing), theme.muted);
}

void comparison(Sheet& sheet, const EngineComparison& result) {
    const Theme& theme = sheet.context.theme;
    if (!result.error.empty())
        return sheet.paragraph(result.error, theme.bad);
    sheet.paragraph(tr("Largest difference of one number between {} ({}) and {} ({}), beside the stage's "
                       "largest number:",
                       engine_title(result.first), time_text(result.first_seconds),
                       engine_title(result.second), time_text(result.second_seconds)),
                    theme.muted);
    for (const analysis::StageDifference& stage : result.stages) {
        sheet.put(sheet.left, std::string(tensor_info(stage.stage).name), 180, figure::Font::ui, 12.5F,
                  theme.text);
        sheet.put(sheet.right - 110, difference_text(stage.largest), 100, figure::Font::mono_semibold, 12.5F,
                  theme.ink, figure::Align::right);
        // Translators: a difference "of" the largest number beside it
        sheet.put(sheet.right, tr("of {}", difference_text(stage.magnitude)), 100, figure::Font::mono, 12.5F,
                  theme.muted, figure::Align::right);
        sheet.y += 20;
    }
}

} // namespace

std::string engine_title(const std::string& device) {
    constexpr std::string_view numbered = "vulkan:";
    if (device == "cpu")
        return "CPU";
    return device.starts_with(numbered) ? "Vulkan " + device.substr(numbered.size()) : "Vulkan";
}

Picture draw_engine_panel(const EngineState& engines, const DrawContext& context) {
    Sheet sheet(context);
    const Theme& theme = context.theme;
    sheet.y = 12;
    choices(sheet, engines);
    if (!engines.notice.empty()) {
        sheet.y += 6;
        sheet.paragraph(tr("The CPU goes on: {}.", engines.notice), theme.bad);
    }
    const bool possible = engines.found && engines.found->missing.empty();
    if (possible) {
        sheet.section(tr("Compare engines"));
        if (engines.comparing) {
            sheet.paragraph(tr("Running this problem on both…"), theme.muted);
        } else {
            draw_button(sheet.picture, context, {sheet.left, sheet.y + 2, sheet.width(), button_height},
                        tr("Run this problem on the CPU and on Vulkan"),
                        EngineAction{EngineAction::Kind::compare}, false,
                        tr("Every stage on both, and how far the numbers lie apart"));
            sheet.y += button_height + 10;
        }
        if (engines.comparison)
            comparison(sheet, *engines.comparison);
    }
    Picture picture = sheet.finish();
    picture.scene.height -= 8;
    return picture;
}

} // namespace headscope::app
