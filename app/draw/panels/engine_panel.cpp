#include "app/draw/panels/engine_panel.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/model/quantized.h"

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
        sheet.picture.add_hotspot(area, "engine " + id, EngineAction{EngineAction::Kind::choose, id}, tip);
    sheet.y = top + choice_height;
}

void choices(Sheet& sheet, const EngineState& engines) {
    const Theme& theme = sheet.context.theme;
    if (!engines.devices) {
        choice(sheet, engines, "auto", tr("engine_panel.automatic", "Automatic"),
               tr("engine_panel.cpu_graphics_processor", "The CPU, or a graphics processor for large work"),
               {});
        choice(sheet, engines, "cpu", engine_title("cpu"),
               tr("engine_panel.every_machine", "Available on every machine"), {});
        return sheet.paragraph(
            tr("engine_panel.looking_graphics_processors", "Looking for graphics processors…"), theme.muted);
    }
    const engine::AutoChoice best = engine::auto_choice(*engines.devices);
    choice(sheet, engines, "auto", tr("engine_panel.automatic", "Automatic"),
           best.id == "cpu" ? tr("engine_panel.cpu_machine", "The CPU, on this machine")
                            : tr("engine_panel.large_work_else_cpu", "{} for large work, else the CPU",
                                 engine_title(best.id)),
           tr("engine_panel.because", "Because {}.", best.reason));
    for (const engine::Device& device : engines.devices->devices) {
        const std::string all = device.name + "; " + device.detail;
        choice(sheet, engines, device.id, engine_title(device.id), device.usable ? device.name : all, all,
               device.usable);
    }
    if (!engines.devices->no_vulkan_reason.empty())
        sheet.paragraph(
            tr("engine_panel.no_vulkan_device", "No Vulkan device: {}.", engines.devices->no_vulkan_reason),
            theme.muted);
}

void comparison(Sheet& sheet, const EngineComparison& result) {
    const Theme& theme = sheet.context.theme;
    if (!result.error.empty())
        return sheet.paragraph(result.error, theme.bad);
    sheet.paragraph(tr("engine_panel.largest_difference_one",
                       "Largest difference of a single number between {} ({}) and {} ({}), and the largest "
                       "number of the stage:",
                       engine_title(result.first), time_text(result.first_seconds),
                       engine_title(result.second), time_text(result.second_seconds)),
                    theme.muted);
    for (const analysis::StageDifference& stage : result.stages) {
        sheet.put(sheet.left, std::string(tensor_info(stage.stage).name), 180, figure::Font::ui, 12.5F,
                  theme.text);
        sheet.put(sheet.right - 110, difference_text(stage.largest), 100, figure::Font::mono_semibold, 12.5F,
                  theme.ink, figure::Align::right);
        // Translators: a difference "of" the largest number beside it
        sheet.put(sheet.right, tr("common.of", "of {}", difference_text(stage.magnitude)), 100,
                  figure::Font::mono, 12.5F, theme.muted, figure::Align::right);
        sheet.y += 20;
    }
}

/// The number nearest to its limit, of each kind.
void checked_rows(Sheet& sheet, const ModelCheck& check) {
    const Theme& theme = sheet.context.theme;
    for (const CheckedKind& kind : check.kinds()) {
        const bool agrees = kind.agrees();
        sheet.put(sheet.left, tr(kind.title), 210, figure::Font::ui, 12.5F, agrees ? theme.text : theme.bad);
        sheet.put(sheet.right - 110, difference_text(kind.row.difference), 70, figure::Font::mono_semibold,
                  12.5F, agrees ? theme.ink : theme.bad, figure::Align::right);
        sheet.put(sheet.right,
                  // Translators: the largest difference that is allowed, next to the difference
                  tr("engine_panel.limit", "limit {}", difference_text(kind.row.allowed)), 100,
                  figure::Font::mono, 12.5F, theme.muted, figure::Align::right);
        sheet.y += 20;
    }
    sheet.y += 6;
}

void model_check(Sheet& sheet, const EngineState& engines, const checkpoint::TextModelPtr& model) {
    const Theme& theme = sheet.context.theme;
    sheet.section(tr("engine_panel.numbers_of_model", "Numbers of this model"));
    const std::string left_out =
        model->model == nullptr ? "" : left_out_sentence(model->model->report().other_parts);
    if (!left_out.empty())
        sheet.paragraph(left_out, theme.muted);
    if (const std::string stored = model->model == nullptr ? "" : stored_sentence(*model->model);
        !stored.empty())
        sheet.paragraph(stored, theme.muted);
    const ModelCheck* const check = engines.check_of(model);
    if (check != nullptr && engines.checking)
        return sheet.paragraph(
            tr("engine_panel.checking", "Checking… {} %", static_cast<int>(100 * engines.check_fraction)),
            theme.muted);
    if (check == nullptr) {
        sheet.paragraph(
            tr("engine_panel.not_checked",
               "Not checked yet. The check runs up to 16 tokens through the model as it is in its file and "
               "compares every layer with the same computation in double precision."),
            theme.muted);
    } else {
        const bool good = check->error.empty() && !check->failed();
        sheet.paragraph((good ? "✓ " : "") + check->sentence(), good ? theme.muted : theme.bad);
        checked_rows(sheet, *check);
    }
    draw_button(sheet.picture, sheet.context, {sheet.left, sheet.y + 4, sheet.width(), button_height},
                check == nullptr ? tr("engine_panel.check_numbers", "Check the numbers")
                                 : tr("engine_panel.check_again", "Check again"),
                EngineAction{EngineAction::Kind::check}, false,
                tr("engine_panel.check_tip",
                   "Also checks the sums of the residual stream and of the weights, and a second run"));
    sheet.y += button_height + 12;
}

} // namespace

std::string engine_title(const std::string& device) {
    constexpr std::string_view numbered = "vulkan:";
    if (device == "cpu")
        return "CPU";
    return device.starts_with(numbered) ? "Vulkan " + device.substr(numbered.size()) : "Vulkan";
}

std::string engine_title(const Trace& trace) {
    return engine_title(trace.device) + (trace.left_to_cpu.empty() ? "" : " + " + engine_title("cpu"));
}

std::string left_to_cpu_sentence(const Trace& trace, const EngineState& engines) {
    if (!trace.left_to_cpu.empty()) {
        std::vector<std::string> stages;
        for (const TensorInfo& stage : stage_table())
            if (trace.left_to_cpu.has(stage.id))
                stages.emplace_back(stage.name);
        return tr("engine_panel.left_to_cpu",
                  "The device has no kernel for these stages, so the CPU computed them: {}.", joined(stages));
    }
    const bool chosen = engines.chosen.starts_with("vulkan") && engines.fallback_reason.empty();
    return chosen && trace.device == "cpu"
               ? tr("engine_panel.no_score_kernels",
                    "The device has no kernel for the scores of this problem, so the CPU computed all of it.")
               : "";
}

Picture draw_engine_panel(const EngineState& engines, const checkpoint::TextModelPtr& model,
                          const DrawContext& context) {
    Sheet sheet(context);
    const Theme& theme = context.theme;
    sheet.y = 12;
    choices(sheet, engines);
    if (!engines.fallback_reason.empty()) {
        sheet.y += 6;
        sheet.paragraph(tr("common.cpu_goes", "Using the CPU instead: {}.", engines.fallback_reason),
                        theme.bad);
    }
    const bool possible = engines.devices && engines.devices->no_vulkan_reason.empty();
    if (possible) {
        sheet.section(tr("engine_panel.compare_engines", "Compare engines"));
        if (engines.comparing) {
            sheet.paragraph(tr("engine_panel.running_problem_both", "Running this problem on both…"),
                            theme.muted);
        } else {
            draw_button(
                sheet.picture, context, {sheet.left, sheet.y + 2, sheet.width(), button_height},
                tr("engine_panel.run_problem_cpu_vulkan", "Run this problem on the CPU and on Vulkan"),
                EngineAction{EngineAction::Kind::compare}, false,
                tr("engine_panel.every_stage_both_how",
                   "Runs every stage on both and shows their differences"));
            sheet.y += button_height + 10;
        }
        if (engines.comparison)
            comparison(sheet, *engines.comparison);
    }
    if (model != nullptr)
        model_check(sheet, engines, model);
    Picture picture = sheet.finish();
    picture.scene.height -= 8;
    return picture;
}

} // namespace headscope::app
