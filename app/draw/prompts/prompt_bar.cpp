#include "app/draw/prompts/prompt_bar.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float bar_text = 12.5F, bar_gap = 12, bar_inset = 8;

/// "Prompt 3 of 20", by the order on screen.
std::string place_text(const PromptListState& prompts) {
    const std::int64_t count = std::ssize(prompts.rows);
    if (!prompts.open)
        return tr_n("prompt_bar.count", "{} prompt", "{} prompts", count, count);
    const auto at = std::ranges::find(prompts.rows, *prompts.open) - prompts.rows.begin();
    return tr("prompt_bar.place", "Prompt {} of {}", at + 1, count);
}

/// Draws the button with an arrow that shows another prompt. Returns its width.
float draw_step(Picture& picture, const DrawContext& context, const PromptListState& prompts, float x,
                int by) {
    constexpr float width = 26;
    const bool on = stepped_prompt(prompts, by).has_value();
    const figure::Rect area{x, bar_inset - 1, width, prompt_bar_height - 2 * bar_inset + 2};
    picture.scene.add(figure::RectItem{
        .area = area, .fill = context.theme.raise, .stroke = context.theme.line2, .radius = 5});
    draw_chevron(picture.scene, {x + width / 2 + (by > 0 ? 3.0F : -3.0F), area.y + area.h / 2},
                 by > 0 ? Pointing::right : Pointing::left, on ? context.theme.ink : context.theme.line2, 4,
                 1.8F);
    const char* const id = by > 0 ? "next prompt" : "prompt before";
    if (on)
        picture.add_hotspot(area, id, StepListedPrompt{by},
                            with_key(by > 0 ? tr("prompt_bar.next", "Next prompt")
                                            : tr("prompt_bar.before", "Previous prompt"),
                                     id));
    return width;
}

/// Draws how many prompts of the mean are measured, with the button that stops or continues. Returns the
/// width.
float draw_measured(Picture& picture, const DrawContext& context, const PromptListState& prompts, float x,
                    float room) {
    if (!prompts.shows_mean() || prompts.done >= prompts.count)
        return 0;
    const std::string button = prompts.stopped ? tr("common.go", "Resume") : tr("common.cancel", "Cancel");
    const float wide = context.measure(button, Font::ui_medium, bar_text) + 16;
    const std::string words = fitted(
        context,
        prompts.stopped ? tr("prompt_bar.stopped", "stopped after {} of {}", prompts.done, prompts.count)
                        : tr("prompt_bar.measured", "measured: {} of {}", prompts.done, prompts.count),
        Font::ui, bar_text, room - wide - 8);
    float end = x;
    if (room > wide + 40)
        end += draw_text(picture, context, x, figure::baseline_for(prompt_bar_height / 2, bar_text), words,
                         Font::ui, bar_text, context.theme.text) +
               8;
    end += draw_text_button(
        picture, context, end, (prompt_bar_height - 26) / 2, button, false, MeasureRuns{prompts.stopped},
        prompts.stopped ? tr("prompt_bar.go_on", "Measures the remaining prompts")
                        : tr("prompt_bar.stop", "Stops; the prompts that were measured stay"));
    return end - x;
}

} // namespace

Picture draw_prompt_bar(const DrawContext& context, const PromptListState& prompts) {
    Picture picture;
    const Theme& theme = context.theme;
    const float baseline = figure::baseline_for(prompt_bar_height / 2, bar_text);
    picture.scene.width = context.width;
    picture.scene.height = prompt_bar_height;
    picture.scene.add(
        figure::RectItem{.area = {0, 0, context.width, prompt_bar_height}, .fill = theme.panel});
    draw_hairline(picture, context, 0, prompt_bar_height - 0.5F, context.width);
    float x = canvas_pad - 8, end = context.width - 12;
    if (context.controls) {
        const std::string close = tr("prompt_bar.close", "Close"), list = tr("prompt_bar.list", "List");
        end -= context.measure(close, Font::ui_medium, bar_text) + 16;
        draw_text_button(picture, context, end, (prompt_bar_height - 26) / 2, close, false, ClosePrompts{},
                         tr("prompt_bar.close_tip", "Removes the list of prompts; the prompt stays"));
        end -= context.measure(list, Font::ui_medium, bar_text) + 24;
        draw_text_button(picture, context, end, (prompt_bar_height - 26) / 2, list, false,
                         ShowTab{LeftTab::prompts},
                         with_key(tr("prompt_bar.list_tip", "Shows the prompts in the panel at the left"),
                                  "list of prompts"));
        end -= bar_gap;
        x += draw_step(picture, context, prompts, x, -1) + 4;
        x += draw_step(picture, context, prompts, x, 1) + bar_gap;
    }
    x += draw_text(picture, context, x, baseline, place_text(prompts), Font::ui_semibold, bar_text,
                   theme.ink) +
         bar_gap;
    if (prompts.no_mean_reason.empty()) {
        const std::int64_t count = prompts.list->usable();
        const std::vector<Segment> sides{
            {.label = tr("prompt_bar.this", "This prompt"),
             .action = ShowPromptMean{false},
             .on = !prompts.mean,
             .tip = tr("prompt_bar.this_tip", "Shows the numbers of the open prompt")},
            {.label = tr("prompt_bar.mean", "Mean of {}", count),
             .action = ShowPromptMean{true},
             .on = prompts.mean,
             .tip =
                 with_key(tr("prompt_bar.mean_tip", "Shows the mean over the prompts of the list; hover over "
                                                    "a number for its spread"),
                          "mean of prompts")}};
        if (context.controls) {
            draw_segmented(picture, context, x, (prompt_bar_height - 28) / 2, sides);
            x += segmented_width(context, sides) + bar_gap;
        }
        if (const float used = draw_measured(picture, context, prompts, x, end - x); used > 0)
            x += used + bar_gap;
    } else {
        const std::string words = fitted_words(context, prompts.no_mean_reason, Font::ui, bar_text, end - x);
        const float wide = draw_text(picture, context, x, baseline, words, Font::ui, bar_text, theme.muted);
        picture.tips.push_back({{x, 0, std::max(wide, 20.0F), prompt_bar_height}, prompts.no_mean_reason});
        x += wide + bar_gap;
    }
    // The name of the list has the rest of the room.
    if (constexpr float least = 40; end - x > least)
        draw_text(picture, context, end, baseline,
                  fitted(context, prompts.list->name, Font::ui, bar_text, end - x), Font::ui, bar_text,
                  theme.muted, Align::right);
    return picture;
}

} // namespace headscope::app
