#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/panels/compare_panels.h"
#include "app/draw/panels/panels.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <span>
#include <utility>

namespace headscope::app {

namespace {

constexpr float highest_gain = 2.0F;
constexpr float lowest_temperature = 0.25F, highest_temperature = 4.0F;
constexpr float history_row = 34.0F;

/// A name, a field with the value, and below them a track with its knob and a tick at the default value.
void draw_slider(Sheet& sheet, Slider slider, const std::string& name, figure::Color colour, bool struck) {
    const Theme& theme = sheet.context.theme;
    figure::Scene& scene = sheet.picture.scene;
    const float top = sheet.y;
    scene.add(figure::RectItem{
        .area = {sheet.left, top + 8, 10, 10}, .fill = struck ? figure::Color{0} : colour, .stroke = colour});
    const float width = sheet.put(sheet.left + 18, name, sheet.width() - 180, figure::Font::ui_medium, 13,
                                  struck ? theme.muted : theme.ink);
    if (struck)
        scene.add(figure::LineItem{
            {sheet.left + 18, top + 13}, {sheet.left + 18 + width, top + 13}, theme.muted, 1});
    constexpr float field_width = 74.0F;
    sheet.picture.fields.push_back(
        {.area = {sheet.right - field_width, top - 1, field_width, 26},
         .label = slider.label + " value",
         .text = shortest_number(slider.value),
         .action = [set = slider.action](const std::string& typed) { return set(parse_number(typed)); },
         .tip = tr("edit_panel.type_exact_value_press", "Type an exact value and press Enter")});
    if (slider.value != slider.default_value)
        sheet.put(sheet.right - field_width - 8,
                  tr("edit_panel.was", "was {}", number(slider.default_value, 2)), 70, figure::Font::mono, 12,
                  theme.muted, figure::Align::right);
    draw_track(sheet.picture, sheet.context, {sheet.left, top + 34, sheet.width(), 4}, std::move(slider),
               colour);
    sheet.y = top + 54;
}

void draw_gains(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Problem& problem = context.shown.problem();
    const Document& document = *context.shown.document;
    sheet.section(document.is_checkpoint()
                      ? tr("edit_panel.gain_per_head", "Head gains of {}", open_layer_name(document))
                      : tr("edit_panel.gain_per_head_2", "Head gains"),
                  tr("edit_panel.0_2", "0 to 2"));
    for (std::int64_t h = 0; h < problem.dims.H; ++h) {
        const std::string name = tr("common.head", "Head {}", h);
        const float top = sheet.y;
        draw_slider(
            sheet,
            {.label = "gain " + std::to_string(h),
             .low = 0,
             .high = highest_gain,
             .value = problem.gain(h),
             .default_value = 1,
             .action =
                 [h](float gain) {
                     return SetGain{h, gain};
                 },
             .tip = tr(
                 "edit_panel.multiplies_head_hands_concat",
                 "Multiplies the head's output before concat; 0 ablates the head. Double click: back to 1")},
            name, context.theme.head(h, problem.dims.H).colour, problem.gain(h) == 0.0F);
        const bool off = problem.gain(h) == 0.0F;
        sheet.picture.add_hotspot(
            {sheet.left - 4, top, 18 + context.measure(name, figure::Font::ui_medium, 13) + 8, 26},
            "switch head " + std::to_string(h), SetGain{h, off ? 1.0F : 0.0F},
            off ? tr("edit_panel.switch_head_again", "Restore this head")
                : tr("edit_panel.switch_head_ablate", "Ablate this head (head gain 0)"));
    }
}

/// Tools for whole heads: the focused head and a second one.
void draw_head_tools(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const ViewState& view = context.view;
    if (context.head_grid != nullptr && context.head_grid->info().is_mean(view.attention.layer, view.head)) {
        sheet.section(tr("edit_panel.whole_heads", "Whole heads"));
        sheet.paragraph(tr("edit_panel.open_worked_out_models",
                           "This is computed from several heads of the model. Open "
                           "a single head to copy, swap or reset it."),
                        context.theme.text);
        return;
    }
    const std::int64_t H = context.dims().H, a = view.head, b = view.compared_head;
    sheet.section(tr("edit_panel.whole_heads", "Whole heads"),
                  H > 1 ? tr("edit_panel.one_another", "this head and another") : "");
    const auto chooser = [&](float x, const std::string& label, std::int64_t now, const auto& action) {
        const std::vector<Segment> segments{
            {"◀ " + label, action((now + H - 1) % H), false, tr("common.head_before", "Previous head")},
            {std::to_string(now), action(now), true, {}},
            {"▶ " + label, action((now + 1) % H), false, tr("common.next_head", "Next head")}};
        draw_segmented(sheet.picture, context, x, sheet.y, segments);
        return segmented_width(context, segments);
    };
    const auto button = [&](int column, const std::string& label, const Action& action,
                            const std::string& tip) {
        const float width = (sheet.width() - 12) / 2;
        draw_button(sheet.picture, context,
                    {sheet.left + (width + 12) * static_cast<float>(column), sheet.y, width, 30}, label,
                    action, false, tip);
    };
    const float taken = chooser(sheet.left, "", a, [](std::int64_t h) { return PickHead{h}; });
    if (H > 1)
        chooser(std::min(sheet.left + taken + 12, sheet.right - taken), " ", b,
                [](std::int64_t h) { return CompareWith{h}; });
    sheet.y += 36;
    const bool off = context.shown.problem().gain(a) == 0.0F;
    // Translators: on buttons {} is the number of a head
    button(0, off ? tr("common.switch_on_2", "Restore {}", a) : tr("common.ablate", "Ablate {}", a),
           SetGain{a, off ? 1.0F : 0.0F}, tr("edit_panel.same", "{} does the same", key_hint("ablate")));
    button(1, tr("edit_panel.reset", "Reset {}", a), ResetHead{a},
           tr("edit_panel.weights_gain_built", "Restores its original weights and head gain"));
    sheet.y += 38;
    if (H == 1)
        return;
    const bool shared = context.dims().Hkv != H && context.dims().kv_head(a) == context.dims().kv_head(b);
    button(0, tr("edit_panel.copy", "Copy {} to {}", a, b), CopyHead{a, b},
           shared
               ? tr("edit_panel.head_becomes_head_w",
                    "Head {} becomes head {}: W_Q columns and W_O rows; they share keys and values", b, a)
               : tr("edit_panel.head_becomes_head_columns",
                    "Head {} becomes head {}: columns of W_Q, W_K, W_V, rows of W_O, and head gain", b, a));
    button(1, tr("edit_panel.swap", "Swap {} and {}", a, b), SwapHeads{a, b},
           shared ? tr("edit_panel.change_places_w_q",
                       "Swaps W_Q columns and W_O rows; they share keys and values")
                  : tr("edit_panel.change_places_columns_w",
                       "Swaps columns of W_Q, W_K, W_V, rows of W_O, and head gains"));
    sheet.y += 38;
}

/// Links to a checkpoint's parameters. A checkpoint opens at its attention weights, where nothing can be
/// edited.
void draw_ways_to_weights(Sheet& sheet) {
    sheet.y += 6;
    float x = sheet.left;
    const StepStrip& strip = sheet.context.view.step_strip;
    const bool experts = sheet.context.dims().experts > 0;
    // The parameters of a norm after the branch are edited at the branch's output, those of the MLP at a unit
    // inside it.
    for (const auto& [words, group] :
         {std::pair{untranslated("W_E"), StageGroup::embedding},
          {untranslated("W_Q  W_K  W_V"), StageGroup::qkv},
          {untranslated("W_G"), StageGroup::gate},
          {untranslated("W_O"), StageGroup::output},
          {untranslated("norm1"), StageGroup::norm1},
          {untranslated("norm2"), StageGroup::norm2},
          {untranslated("W_in  W_out"), StageGroup::mlp_act},
          {translatable("edit_panel.experts", "experts"), StageGroup::mlp_experts},
          {translatable("edit_panel.experts", "experts"), StageGroup::mlp_out},
          {translatable("common.final_norm", "final norm"), StageGroup::final_norm},
          {untranslated("W_U"), StageGroup::logits}}) {
        const bool shows_experts = experts && !strip.has(StageGroup::mlp_experts);
        if (!strip.has(group) || (group == StageGroup::mlp_out && !shows_experts))
            continue;
        const std::string label = tr(words);
        const float wide = sheet.context.measure(label, figure::Font::ui_medium, 13) + 30;
        if (x > sheet.left && x + wide > sheet.right) {
            x = sheet.left;
            sheet.y += 30;
        }
        x += 8 + draw_text_button(sheet.picture, sheet.context, x, sheet.y, label,
                                  sheet.context.view.group == group, GoTo{group},
                                  tr("edit_panel.go_edited", "Go to {}, where they can be edited",
                                     tr(group_info(group).title)));
    }
    sheet.y += 28;
}

/// The seed, for presets with random numbers.
void draw_seed(Sheet& sheet) {
    const project::Recipe& recipe = sheet.context.shown.document->recipe;
    if (recipe.base != nullptr || (recipe.preset != "random" && recipe.preset != "eight-experts"))
        return;
    sheet.section(tr("edit_panel.seed", "Seed"),
                  recipe.preset == "random"
                      ? tr("edit_panel.draws_every_weight", "samples every weight")
                      : tr("edit_panel.vectors_unknown_words", "vectors of unknown words"));
    sheet.picture.fields.push_back(
        {.area = {sheet.left, sheet.y, sheet.width() - 96, 28},
         .label = "preset seed",
         .text = std::to_string(recipe.seed),
         .action = [](const std::string& typed) { return SetSeed{parse_seed(typed)}; },
         .tip = tr("edit_panel.whole_number_same_seed",
                   "A whole number; the same seed gives the same numbers")});
    draw_button(sheet.picture, sheet.context, {sheet.right - 84, sheet.y - 1, 84, 30},
                tr("edit_panel.next_seed", "Next"), SetSeed{recipe.seed + 1}, false,
                tr("edit_panel.draw_anew_next_seed", "Resample with the next seed"));
    sheet.y += 40;
}

void draw_temperature(Sheet& sheet) {
    sheet.section(tr("common.temperature_2", "Temperature"), "scaled = scores ÷ (√dk · t)");
    draw_slider(sheet,
                {.label = "temperature",
                 .low = lowest_temperature,
                 .high = highest_temperature,
                 .value = sheet.context.shown.problem().temperature,
                 .default_value = 1,
                 .action = [](float t) { return SetTemperature{t}; },
                 .tip = tr("edit_panel.below_1_softmax_sharpens",
                           "Below 1 the softmax sharpens, above 1 it spreads. Double click: back to 1")},
                tr("common.all_heads", "All heads"), sheet.context.theme.muted, false);
}

/// Lists steps from before the project was last saved, the latest first, as many as fit. They cannot be
/// undone.
void draw_earlier(Sheet& sheet, float end, std::span<const std::string> earlier) {
    for (std::size_t i = earlier.size(); i-- > 0 && sheet.y + history_row <= end;) {
        const figure::Rect area{sheet.left - 12, sheet.y, sheet.width() + 24, history_row};
        const float top = std::exchange(sheet.y, sheet.y + (history_row - Sheet::row_height) / 2);
        sheet.put(sheet.left, earlier[i], sheet.width(), figure::Font::ui, 13, sheet.context.theme.muted);
        sheet.picture.add_hotspot(
            area, "earlier " + std::to_string(i), MoveInHistory{0},
            tr("edit_panel.step_before_project_saved",
               "This step precedes the last save of the project; only later steps can be undone"));
        sheet.y = top + history_row;
    }
}

/// Lists the latest steps, as many as fit above the buttons; a click returns to a step.
void draw_history(Sheet& sheet, float end) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const auto lines = context.history;
    const bool older = !lines.empty() && !lines.front().steps_before_saving.empty();
    sheet.section(tr("edit_panel.history", "History"),
                  lines.size() < 2 && older ? tr("edit_panel.none_since_saved", "none since it was saved")
                  : lines.size() < 2        ? tr("edit_panel.nothing_edited_yet", "nothing edited yet")
                                     : tr_n("edit_panel.step", "{} step", "{} steps", std::ssize(lines) - 1,
                                            lines.size() - 1));
    const auto room = static_cast<std::int64_t>((end - sheet.y) / history_row);
    const auto count = static_cast<std::int64_t>(lines.size());
    const auto position = static_cast<std::int64_t>(context.history_position);
    const std::int64_t newest = std::min(count - 1, std::max(position + room / 3, room - 1));
    for (std::int64_t i = newest; i >= 0 && i > newest - room; --i) {
        const HistoryLine& line = lines[static_cast<std::size_t>(i)];
        const bool here = i == position, undone = i > position;
        const figure::Rect area{sheet.left - 12, sheet.y, sheet.width() + 24, history_row};
        if (here) {
            sheet.picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
            sheet.picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
        }
        const float top = sheet.y;
        sheet.y = top + (history_row - Sheet::row_height) / 2;
        const std::string said = line.baseline ? tr("edit_panel.this_is_a", "this is A") : line.detail;
        if (line.baseline)
            mark_baseline_line(sheet, area);
        const float detail = said.empty() ? 0 : context.measure(said, figure::Font::mono, 12);
        sheet.put(sheet.left, line.label, sheet.width() - detail - 12,
                  here ? figure::Font::ui_semibold : figure::Font::ui, 13,
                  undone ? theme.muted
                  : here ? theme.ink
                         : theme.text);
        if (!said.empty())
            sheet.put(sheet.right, said, detail + 1, figure::Font::mono, 12, theme.muted,
                      figure::Align::right);
        sheet.picture.add_hotspot(area, "history " + std::to_string(i), MoveInHistory{i - position},
                                  here ? "" : tr("edit_panel.go_state", "Go to this state"));
        sheet.y = top + history_row;
    }
    if (!lines.empty() && newest < room)
        draw_earlier(sheet, end, lines.front().steps_before_saving);
}

/// Draws the undo or redo button; only an outline if there is nothing to undo or redo.
void draw_step(Picture& picture, const DrawContext& context, const figure::Rect& area,
               const std::string& label, std::int64_t by, bool possible, const std::string& keys) {
    if (possible) {
        draw_button(picture, context, area, label, MoveInHistory{by}, false, keys);
        return;
    }
    picture.scene.add(figure::RectItem{.area = area, .stroke = context.theme.line, .radius = 6});
    draw_text(picture, context, area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, 13), label,
              figure::Font::ui_medium, 13, context.theme.line2, figure::Align::center);
}

} // namespace

Picture draw_edit(const DrawContext& context) {
    Sheet sheet(context);
    sheet.y = 14;
    add_most_changed(sheet); // only for two checkpoints, where it is the way to the changes
    sheet.paragraph(
        tr("edit_panel.drag_number_canvas_turn",
           "Drag a number on the canvas, turn the wheel on it, or type. Shift and drag selects a block."),
        context.theme.muted);
    if (context.shown.document->is_checkpoint())
        draw_ways_to_weights(sheet);
    sheet.y += 4;
    draw_gains(sheet);
    const Document& document = *context.shown.document;
    if (!document.is_checkpoint())
        draw_temperature(sheet); // a checkpoint's scale is defined by the model
    draw_seed(sheet);
    draw_head_tools(sheet);
    if (context.shown.trace != nullptr) {
        add_baseline_buttons(sheet);
    } else {
        sheet.section(tr("common.compare", "Compare"), "B − A");
        sheet.paragraph(tr("common.filtered_weights_not_compared",
                           "Filtered weights are not compared; the other stages are."),
                        context.theme.text);
    }
    // In a low window the panel scrolls instead of hiding the latest steps.
    constexpr float history_head = 48, buttons = 52;
    const std::size_t steps =
        context.history.size() +
        (context.history.empty() ? 0 : context.history.front().steps_before_saving.size());
    const float rows = static_cast<float>(std::clamp<std::size_t>(steps, 3, 6)) * history_row;
    const float foot = std::max(context.height - 56, sheet.y + history_head + rows + buttons);
    draw_history(sheet, foot - buttons);
    Picture picture = sheet.finish();
    const float width = (sheet.width() - 12) / 2;
    draw_step(picture, context, {sheet.left, foot, width, 34}, tr("common.undo", "Undo"), -1,
              context.history_position > 0, key_hint("undo"));
    draw_step(picture, context, {sheet.left + width + 12, foot, width, 34}, tr("common.redo", "Redo"), 1,
              context.history_position + 1 < context.history.size(), key_hint("redo"));
    const project::Recipe& recipe = document.recipe;
    if ((document.is_checkpoint() && !document.part()->edits.empty()) || !recipe.edits.empty() ||
        !recipe.gains.empty() || recipe.temperature != 1.0F || !recipe.painted_mask.empty())
        draw_text_button(
            picture, context, sheet.left, foot - 36, tr("common.drop_all_edits", "Drop all edits"), false,
            ResetEdits{},
            tr("edit_panel.everything_built_undo_brings", "Removes all edits; undo restores them"));
    picture.scene.height = std::max(picture.scene.height, foot + 44);
    return picture;
}

} // namespace headscope::app
