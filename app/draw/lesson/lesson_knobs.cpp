#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

constexpr float knob_inset = 10.0F, knob_height = 27.0F, knob_field_width = 72.0F;

/// The position of a value among `knob.stops`, as a fractional index; logarithmic between two entries.
float place_of(const lesson::Knob& knob, double value) {
    if (knob.slider_values.empty())
        return static_cast<float>(value);
    const auto above = std::ranges::lower_bound(knob.slider_values, value);
    const auto index = static_cast<float>(above - knob.slider_values.begin());
    if (above == knob.slider_values.end())
        return index - 1;
    if (*above == value || above == knob.slider_values.begin())
        return index;
    const double below = *std::prev(above);
    return index - 1 + static_cast<float>(std::log(value / below) / std::log(*above / below));
}

std::string value_text(const lesson::Knob& knob) {
    return knob.decimals > 0 ? number(knob.value, knob.decimals)
                             : grouped(static_cast<std::int64_t>(knob.value));
}

double typed_number(std::string text) {
    std::erase(text, ',');
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
        fail_input(
            tr("lesson_knobs.no_number_type_one", "“{}” is not a number; type one such as 4096", text));
    return value;
}

/// The names of knobs that are words, not symbols.
constexpr std::array knob_words{translatable("panel.merged", "merged"),
                                translatable("common.temperature", "temperature"),
                                translatable("common.query_2", "query"), translatable("common.key", "key"),
                                translatable("explanations.pair", "pair")};

/// The spelling in texts and in the tab Predict: top-k.
std::string knob_label(const lesson::Knob& knob) {
    std::string label = tr(find_message(knob_words, knob.name));
    std::ranges::replace(label, '_', '-');
    return label;
}

void draw_knob(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::Knobs& set,
               const lesson::Knob& knob, float name_width) {
    const Theme& theme = column.context.theme;
    Picture& picture = column.picture;
    const float middle = column.y + knob_height / 2;
    draw_text(picture, column.context, column.x, figure::baseline_for(middle, 13), knob_label(knob),
              figure::Font::ui_medium, 13, theme.ink);
    picture.tips.push_back({{column.x, column.y, name_width, knob_height}, knob.description});
    const std::string label = "panel " + std::to_string(panel.line) + " " + knob.name;
    const int line = panel.line;
    const auto turn = [line, name = knob.name](double value) {
        lesson::Knobs values;
        values[name] = value;
        return TurnKnobs{line, std::move(values)};
    };
    const figure::Rect track{column.x + name_width, middle - 2,
                             column.width - name_width - knob_field_width - 16, 4};
    const float low = knob.slider_values.empty() ? static_cast<float>(knob.low) : 0,
                high = knob.slider_values.empty() ? static_cast<float>(knob.high)
                                                  : static_cast<float>(knob.slider_values.size() - 1);
    const float place = place_of(knob, knob.value);
    const float at = track.x + track.w * (high > low ? (place - low) / (high - low) : 0);
    picture.scene.add(figure::RectItem{.area = track, .fill = theme.line2, .radius = 2});
    picture.scene.add(
        figure::RectItem{.area = {track.x, track.y, at - track.x, track.h}, .fill = theme.text, .radius = 2});
    picture.scene.add(figure::RectItem{.area = {at - 7, middle - 7, 14, 14},
                                       .fill = theme.raise,
                                       .stroke = theme.ink,
                                       .stroke_width = 2,
                                       .radius = 7});
    if (high > low)
        picture.sliders.push_back(
            {.track = {track.x, middle - 12, track.w, 24},
             .label = label,
             .low = low,
             .high = high,
             .value = place,
             .default_value = place_of(knob, knob.lesson_value),
             .action =
                 [turn, stops = knob.slider_values](float to) {
                     return turn(stops.empty() ? static_cast<double>(to)
                                               : stops[static_cast<std::size_t>(std::lround(to))]);
                 },
             .tip = tr("lesson_knobs.double_click_back_lesson",
                       "{}. Double click: back to the lesson's value", knob.description),
             .grain = knob.slider_values.empty() ? 0.01F : 1.0F});
    picture.fields.push_back(
        {.area = {column.right() - knob_field_width, column.y + 2, knob_field_width, 23},
         .label = label + " value",
         .text = value_text(knob),
         .action =
             [turn, panel, set, name = knob.name](const std::string& typed) {
                 const double value = typed_number(typed);
                 lesson::check_knob(panel, set, name, value);
                 return turn(value);
             },
         .tip = tr("lesson_knobs.type_number_press_enter", "Type a number and press Enter")});
    column.y += knob_height;
}

} // namespace

void PanelColumn::line(const std::string& text, figure::Color colour, figure::Font font) {
    draw_text(picture, context, x, y + 13, text, font, 12.5F, colour);
    y += 19;
}

void PanelColumn::words(const std::string& text, figure::Color colour) {
    y = draw_paragraph(picture, context, x, y + 13, width, text, figure::Font::ui, 12.5F, 18, colour) - 11;
}

void draw_knobs(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::Knobs& set) {
    std::vector<lesson::Knob> knobs = lesson::knobs_of(panel, set);
    std::erase_if(knobs, [&](const lesson::Knob& knob) {
        return !panel.knobs.empty() && std::ranges::find(panel.knobs, knob.name) == panel.knobs.end();
    });
    float names = 0;
    for (const lesson::Knob& knob : knobs)
        names = std::max(names, column.context.measure(knob_label(knob), figure::Font::ui_medium, 13));
    for (const lesson::Knob& knob : knobs)
        draw_knob(column, panel, set, knob, names + 18);
}

float draw_lesson_panel(Picture& picture, const DrawContext& context, const CourseState& course,
                        const lesson::LessonPanel& panel, float x, float y, float width) {
    const auto found = course.panels.find(panel.line);
    const PanelState none, &state = found == course.panels.end() ? none : found->second;
    Picture inner;
    PanelColumn column{inner, context, x + knob_inset, y + 8, width - 2 * knob_inset};
    draw_knobs(column, panel, state.set);
    column.y += 4;
    if (const auto* fault = std::get_if<std::string>(&state.shows))
        column.words(*fault, context.theme.text);
    if (const auto* figure = std::get_if<lesson::PanelFigure>(&state.shows))
        std::visit(Overloaded{[&](const lesson::CostFigure& one) { draw_cost(column, one); },
                              [&](const lesson::CacheFigure& one) { draw_cache(column, panel, one); },
                              [&](const lesson::MergeFigure& one) {
                                  draw_blur(column, one, lesson::knobs_of(panel, state.set).front().value);
                              },
                              [&](const lesson::LoopFigure& one) { draw_loop(column, one); },
                              [&](const lesson::SamplingFigure& one) { draw_sampling(column, one); },
                              [&](const lesson::HeadsFigure& one) { draw_heads_table(column, one); },
                              [&](const lesson::PathFigure& one) { draw_path(column, one); },
                              [&](const lesson::PositionsFigure& one) { draw_positions(column, one); }},
                   *figure);
    const bool of_problem = !std::holds_alternative<lesson::CostPanel>(panel.kind) &&
                            !std::holds_alternative<lesson::CachePanel>(panel.kind) &&
                            !std::holds_alternative<lesson::PositionsPanel>(panel.kind);
    if (of_problem && has_left_scene(course, *context.shown.document) &&
        button_shown(course, *context.shown.document) == 0) // a button must not move the content below
        column.words(tr("lesson_knobs.computed_problem_screen",
                        "computed from the problem on screen, which you have changed"),
                     context.theme.muted);
    const float height = column.y - y + 8;
    picture.scene.add(figure::RectItem{.area = {x, y, width, height},
                                       .fill = context.theme.raise,
                                       .stroke = context.theme.line2,
                                       .radius = 6});
    picture.append(std::move(inner), 0, 0);
    return y + height + 12;
}

} // namespace headscope::app
