#include "app/draw/prompts/prompts_panel.h"

#include "app/commands/actions.h"
#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/state/prompts/prompt_list.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float prompt_row = 42, number_column = 62, line_column = 28;

/// Draws the buttons that open a file or generate a list.
void write_sources(Sheet& sheet, const ModelState& model) {
    const DrawContext& context = sheet.context;
    Picture& picture = sheet.picture;
    const float baseline = figure::baseline_for(14, Sheet::text_size);
    draw_button(picture, context, {sheet.left, sheet.y, sheet.width(), 32},
                tr("prompts_panel.open", "Open prompts…"), ChoosePrompts{}, false,
                tr("prompts_panel.open_tip", "A .jsonl, .csv or .txt file with one prompt or pair a line"));
    sheet.y += 44;
    float x =
        sheet.left +
        draw_text(picture, context, sheet.left, sheet.y + baseline,
                  // Translators: followed by the number of prompts to generate
                  tr("prompts_panel.examples", "Examples:"), Font::ui, Sheet::text_size, context.theme.text) +
        8;
    picture.fields.push_back(
        {.area = {x, sheet.y, 48, 28},
         .label = "prompt count",
         .text = std::to_string(model.example_prompts),
         .action = [](const std::string& typed) -> Action {
             const auto count = number_of<std::int64_t>(typed);
             if (!count || *count < 1 || *count > most_example_prompts)
                 fail_input(tr("prompts_panel.count", "Type a number from 1 to {}.", most_example_prompts));
             return SetPromptCount{*count};
         },
         .tip = tr("prompts_panel.count_tip", "The number of prompts that an example generates: 1 to {}",
                   most_example_prompts)});
    x += 56;
    draw_text(picture, context, x, sheet.y + baseline, tr("prompts_panel.of_task", "prompts of"), Font::ui,
              Sheet::text_size, context.theme.text);
    sheet.y += 36;
    x = sheet.left;
    for (const auto& [task, tip] :
         {std::pair{"ioi", tr("prompts_panel.ioi_tip", "The name of the second person (indirect object "
                                                       "identification, Wang et al. 2022)")},
          {"greater-than", tr("prompts_panel.greater_tip", "A later year (Hanna et al. 2023)")},
          {"induction", tr("prompts_panel.induction_tip", "The next word of a repeated list (Olsson et al. "
                                                          "2022)")}})
        x += draw_text_button(picture, context, x, sheet.y, task_title(task), false, GeneratePrompts{task},
                              tip) +
             8;
    sheet.y += 40;
}

/// The unit of the numbers of the screen, for the distance from the mean.
std::string unit_text(const DrawContext& context) {
    const AttentionView& view = context.view.attention;
    if (view.screen == Screen::patching)
        return tr("prompts_panel.fraction", "recovered fraction");
    if (view.screen == Screen::atlas && context.shown.atlas != nullptr)
        return name_of(resolve_atlas_view(*context.shown.atlas, view.atlas, view.pattern).colour);
    return tr("common.logits", "logits");
}

void write_order(Sheet& sheet, const PromptListState& prompts) {
    const DrawContext& context = sheet.context;
    const auto order = [&](const std::string& label, PromptOrder of, const std::string& tip) {
        return Segment{.label = label, .action = SortPrompts{of}, .on = prompts.order == of, .tip = tip};
    };
    const std::vector<Segment> orders{
        // Translators: orders of a list
        order(tr("prompts_panel.line", "Line"), PromptOrder::line,
              tr("prompts_panel.line_tip", "In the order of the file")),
        order(tr("prompts_panel.difference", "Difference"), PromptOrder::difference,
              tr("prompts_panel.difference_tip",
                 "The smallest logit difference of answer and against first: prompts that the model gets "
                 "wrong")),
        order(tr("prompts_panel.distance", "Distance"), PromptOrder::distance,
              tr("prompts_panel.distance_tip",
                 "The prompt that disagrees most with the mean first: the root mean square of its numbers "
                 "minus the mean"))};
    draw_text(sheet.picture, context, sheet.left, figure::baseline_for(sheet.y + 14, Sheet::text_size),
              tr("prompts_panel.sort", "Sort"), Font::ui, Sheet::text_size, context.theme.muted);
    const float wide = segmented_width(context, orders);
    draw_segmented(sheet.picture, context, sheet.right - wide, sheet.y, orders);
    sheet.y += 38;
}

/// Draws the names of the columns of numbers.
void write_columns(Sheet& sheet, const PromptListState& prompts, bool distances) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    if (distances)
        sheet.paragraph(tr("prompts_panel.distance_unit",
                           "Distance: root mean square over the grid of number minus mean, in {}.",
                           unit_text(context)),
                        theme.muted);
    else if (prompts.order == PromptOrder::distance)
        sheet.paragraph(tr("prompts_panel.no_distance", "Distances appear with the mean on Atlas, Effects or "
                                                        "Patching."),
                        theme.muted);
    const float baseline = figure::baseline_for(sheet.y + 10, 12);
    float x = sheet.right;
    if (distances) {
        draw_text(sheet.picture, context, x, baseline, tr("prompts_panel.distance_column", "distance"),
                  Font::ui, 12, theme.muted, Align::right);
        x -= number_column;
    }
    draw_text(sheet.picture, context, x, baseline, tr("prompts_panel.difference_column", "difference"),
              Font::ui, 12, theme.muted, Align::right);
    sheet.y += 24;
}

std::string tip_of(const ListedPrompt& prompt) {
    std::string tip = text::plain_text(prompt.text);
    if (!prompt.corrupted.empty())
        tip = tr("prompts_panel.pair", "clean: {}\ncorrupted: {}", tip, text::plain_text(prompt.corrupted));
    if (prompt.answer_id && prompt.against_id)
        tip += "\n" + tr("prompts_panel.tokens", "answer {}, against {}", prompt.answer, prompt.against);
    return tip;
}

/// The name of a row for the keyboard and for lessons.
std::string row_label(const ListedPrompt& prompt) {
    return "listed prompt " + std::to_string(prompt.line);
}

figure::Rect row_area(const Sheet& sheet) {
    return {sheet.left - 8, sheet.y, sheet.width() + 16, prompt_row - 2};
}

/// Leaves a row empty that is not visible; the keyboard still reaches it.
void skip_prompt(Sheet& sheet, const ListedPrompt& prompt, std::size_t index) {
    if (prompt.usable() && sheet.context.controls)
        sheet.picture.add_hotspot(row_area(sheet), row_label(prompt), ShowListedPrompt{index}, "");
    sheet.y += prompt_row;
}

void write_prompt(Sheet& sheet, const PromptListState& prompts, std::size_t index, bool distances) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    Picture& picture = sheet.picture;
    const ListedPrompt& prompt = prompts.list->prompts[index];
    const figure::Rect area = row_area(sheet);
    const bool open = prompts.open == index;
    if (open) {
        picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight, .radius = 4});
        picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
    }
    const float first = sheet.y + 16, second = sheet.y + 33, text = sheet.left + line_column;
    const auto at = [](const auto& list, std::size_t n) {
        return n < list.size() ? list[n] : typename std::decay_t<decltype(list)>::value_type{};
    };
    draw_text(picture, context, sheet.left, first, std::to_string(prompt.line), Font::mono, 12, theme.muted);
    draw_text(picture, context, text, first,
              fitted(context, text::plain_text(prompt.text), open ? Font::ui_semibold : Font::ui,
                     Sheet::text_size, sheet.right - text),
              open ? Font::ui_semibold : Font::ui, Sheet::text_size,
              prompt.usable() ? theme.ink : theme.muted);
    const std::string fault = prompt.usable() ? at(prompts.faults, index) : prompt.fault;
    if (!fault.empty()) {
        draw_text(picture, context, text, second,
                  fitted_words(context, "⚠ " + fault, Font::ui, 12, sheet.right - text), Font::ui, 12,
                  theme.bad);
    } else {
        float numbers = sheet.right;
        if (distances) {
            if (const auto apart = at(prompts.distances, index))
                draw_text(picture, context, numbers, second, number(*apart, 3), Font::mono, 12, theme.text,
                          Align::right);
            numbers -= number_column;
        }
        if (const auto difference = at(prompts.differences, index))
            draw_text(picture, context, numbers, second, signed_number(*difference, 2), Font::mono, 12,
                      *difference < 0 ? theme.bad : theme.text, Align::right);
        numbers -= number_column;
        const std::string tokens =
            prompt.against.empty() ? prompt.answer : prompt.answer + " − " + prompt.against;
        draw_text(picture, context, text, second, fitted(context, tokens, Font::ui, 12, numbers - text),
                  Font::ui, 12, theme.muted);
    }
    if (prompt.usable() && context.controls)
        picture.add_hotspot(area, row_label(prompt), ShowListedPrompt{index},
                            tip_of(prompt) + (fault.empty() ? "" : "\n⚠ " + fault));
    else
        picture.tips.push_back(
            {area, tr("prompts_panel.unusable", "Line {} cannot be used: {}", prompt.line, fault)});
    sheet.y += prompt_row;
}

} // namespace

Picture draw_prompts(const DrawContext& context, const ModelState& model, float scrolled) {
    Sheet sheet(context);
    sheet.y = 16;
    if (context.controls)
        write_sources(sheet, model);
    const PromptListState* const prompts = model.prompts.get();
    if (prompts == nullptr) {
        sheet.paragraph(
            tr("prompts_panel.empty",
               "A list of prompts shows whether a result holds for more than one text: step through "
               "it, or show the mean over it on Atlas, Effects and Patching."),
            context.theme.text);
        return sheet.finish();
    }
    const std::int64_t count = std::ssize(prompts->list->prompts), bad = count - prompts->list->usable();
    sheet.section(prompts->list->name, tr_n("prompt_bar.count", "{} prompt", "{} prompts", count, count));
    if (bad > 0)
        sheet.paragraph(tr_n("prompts_panel.bad", "{} line cannot be used and is left out.",
                             "{} lines cannot be used and are left out.", bad, bad),
                        context.theme.bad);
    if (context.controls)
        write_order(sheet, *prompts);
    const bool distances = std::ranges::any_of(prompts->distances, &std::optional<double>::has_value);
    write_columns(sheet, *prompts, distances);
    for (const std::size_t index : prompts->rows)
        if (std::abs(sheet.y - scrolled) < 2 * context.height)
            write_prompt(sheet, *prompts, index, distances);
        else
            skip_prompt(sheet, prompts->list->prompts[index], index);
    return sheet.finish();
}

} // namespace headscope::app
