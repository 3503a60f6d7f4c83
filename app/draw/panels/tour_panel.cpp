#include "app/draw/panels/tour_panel.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/state/screens/flow.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

constexpr float tour_pad = 24, circle = 24;

struct TourStep {
    std::string title, text;
    bool done;
    Action action;
    std::string label;
};

std::vector<TourStep> tour_steps(const DrawContext& context) {
    const FlowTour& tour = context.view.flow.tour;
    const Problem& problem = context.shown.problem();
    const std::string word =
        shortened(problem.query_label(flow_word(context.view.flow, problem.dims.Tq)), 16);
    return {{tr("tour.look", "Look"),
             tr("tour.look_text", "Press play. “{}” finds what it needs in 10 seconds.", word), tour.looked,
             TogglePlay{}, "tour look"},
            {tr("tour.change_word", "Change a word"),
             tr("tour.double_click_word", "Double click a word and type another one. Everything follows."),
             tour.changed_word, EditFlowWord{FlowWord{flow_word(context.view.flow, problem.dims.Tq)}},
             "tour change"},
            {tr("tour.switch_off", "Switch a head off"),
             tr("tour.switch_off_text", "Click its switch. See what the output loses."), tour.switched_off,
             SetGain{context.view.head, problem.gain(context.view.head) == 0 ? 1.0F : 0.0F}, "tour switch"}};
}

void draw_check(Picture& picture, const DrawContext& context, figure::Point center, bool done, bool current,
                int number) {
    const Theme& theme = context.theme;
    const bool filled = done || current;
    picture.scene.add(figure::RectItem{.area = {center.x - circle / 2, center.y - circle / 2, circle, circle},
                                       .fill = filled ? theme.ink : theme.panel,
                                       .stroke = filled ? theme.ink : theme.line2,
                                       .stroke_width = 1.5F,
                                       .radius = circle / 2});
    if (done) {
        const figure::Point knee{center.x - 1, center.y + 4};
        picture.scene.add(figure::LineItem{{center.x - 5, center.y}, knee, theme.canvas, 2});
        picture.scene.add(figure::LineItem{knee, {center.x + 6, center.y - 5}, theme.canvas, 2});
        return;
    }
    draw_text(picture, context, center.x, figure::baseline_for(center.y, 13), std::to_string(number),
              figure::Font::ui_semibold, 13, current ? theme.canvas : theme.muted, figure::Align::center);
}

struct TourWay {
    std::string title, text, label;
    Action action;
    bool primary = false;
};

float draw_way(Picture& picture, const DrawContext& context, float y, const TourWay& way, bool primary) {
    const Theme& theme = context.theme;
    constexpr float high = 56;
    const figure::Rect area{tour_pad, y, context.width - 2 * tour_pad, high};
    picture.scene.add(figure::RectItem{.area = area,
                                       .fill = theme.raise,
                                       .stroke = primary ? theme.ink : theme.line2,
                                       .stroke_width = primary ? 1.5F : 1.0F,
                                       .radius = 6});
    const float room = area.w - 52;
    draw_text(picture, context, area.x + 16, y + 23,
              fitted(context, way.title, figure::Font::ui_semibold, 13.5F, room), figure::Font::ui_semibold,
              13.5F, theme.ink);
    draw_text(picture, context, area.x + 16, y + 42, fitted(context, way.text, figure::Font::ui, 13, room),
              figure::Font::ui, 13, theme.text);
    draw_chevron(picture.scene, {area.right() - 16, y + high / 2}, Pointing::right, theme.ink);
    picture.add_hotspot(area, way.label, way.action, way.text);
    return y + high + 10;
}

/// The hint at the end: the next step, or what was just done.
float draw_callout(Picture& picture, const DrawContext& context, float y) {
    const FlowTour& tour = context.view.flow.tour;
    const std::string key = key_hint("play");
    const std::string title = !tour.looked         ? tr("tour.press_play", "1  Press play, or {}", key)
                              : !tour.changed_word ? tr("tour.change_here", "2  Double click a word")
                              : !tour.switched_off ? tr("tour.click_switch", "3  Click the switch of a head")
                                                   : tr("tour.all_done", "Done: choose how to continue");
    const std::string text =
        !tour.looked         ? tr("tour.stop_anywhere", "Stop anywhere, go back, repeat.")
        : !tour.changed_word ? tr("tour.enter_takes", "Type another one; Enter takes it.")
        : !tour.switched_off ? tr("tour.it_adds_nothing", "Its output then counts as 0.")
                             : tr("tour.undo_brings_back", "{} brings a head back.", key_hint("undo"));
    const figure::Rect area{tour_pad, y, context.width - 2 * tour_pad, 62};
    const Theme& theme = context.theme;
    picture.scene.add(figure::RectItem{.area = area,
                                       .fill = theme.dark ? theme.raise : theme.ink,
                                       .stroke = theme.dark ? theme.line2 : theme.ink,
                                       .radius = 6});
    const figure::Color color = theme.dark ? theme.ink : theme.canvas;
    draw_text(picture, context, area.x + 16, y + 26,
              fitted(context, title, figure::Font::ui_semibold, 14, area.w - 32), figure::Font::ui_semibold,
              14, color);
    draw_text(picture, context, area.x + 16, y + 47, fitted(context, text, figure::Font::ui, 13, area.w - 32),
              figure::Font::ui, 13, figure::with_alpha(color, 220));
    return area.bottom();
}

} // namespace

bool shows_tour(const DrawContext& context) {
    return context.view.flow.tour.offered && context.view.flow.on_screen &&
           context.shown.document->is_experiment() && context.shown.trace != nullptr;
}

Picture draw_tour(const DrawContext& context, const CourseState& course, const FilesState& files) {
    Picture picture;
    const Theme& theme = context.theme;
    const float width = context.width - 2 * tour_pad;
    float y = draw_paragraph(picture, context, tour_pad, 38, width,
                             tr("tour.what_is_attention", "What is attention?"), figure::Font::ui_semibold,
                             20, 26, theme.ink);
    y = draw_paragraph(
        picture, context, tour_pad, y, width,
        tr("tour.each_word_looks",
           "Each word looks at the other words and takes what it needs. Here it happens with real "
           "numbers. Three things to do, one minute:"),
        figure::Font::ui, 13.5F, 20, theme.text);
    y += 2;
    const std::vector<TourStep> steps = tour_steps(context);
    const auto next = std::ranges::find(steps, false, &TourStep::done);
    for (auto step = steps.begin(); step != steps.end(); ++step) {
        const bool current = step == next;
        const float text_x = tour_pad + circle + 14, text_w = width - circle - 22;
        const std::vector<std::string> lines =
            wrapped(step->text, text_w, context.measure, figure::Font::ui, 13);
        const float high = 36 + 18 * static_cast<float>(lines.size());
        const figure::Rect frame{tour_pad - 10, y - 6, width + 20, high + 10};
        if (current)
            picture.scene.add(
                figure::RectItem{.area = frame, .fill = theme.raise, .stroke = theme.ink, .radius = 6});
        draw_check(picture, context, {tour_pad + circle / 2, y + 16}, step->done, current,
                   static_cast<int>(step - steps.begin()) + 1);
        draw_text(picture, context, text_x, figure::baseline_for(y + 16, 14.5F), step->title,
                  figure::Font::ui_semibold, 14.5F, theme.ink);
        draw_paragraph(picture, context, text_x, y + 42, text_w, step->text, figure::Font::ui, 13, 18,
                       theme.text);
        picture.add_hotspot(frame, step->label, step->action, step->title);
        y += high + 14;
    }
    // In a low panel, what to do now stands with the steps, so that it is in sight.
    constexpr float ways_and_hint = 38 + 3 * 66 + 82;
    const bool low = y + ways_and_hint > context.height;
    if (low)
        y = draw_callout(picture, context, y) + 14;
    draw_hairline(picture, context, tour_pad, y, width);
    y += 26;
    const bool done = context.view.flow.tour.done();
    draw_text(picture, context, tour_pad, y, tr("tour.then_choose", "Then choose"), figure::Font::ui_semibold,
              14.5F, theme.ink);
    const std::string skip = tr("tour.skip", "or skip the tour");
    const float skip_w = draw_text(picture, context, tour_pad + width, y, skip, figure::Font::ui, 13,
                                   theme.text, figure::Align::right);
    picture.add_hotspot({tour_pad + width - skip_w - 4, y - 15, skip_w + 8, 22}, "skip the tour",
                        OfferFlowTour{false}, tr("tour.skip_tip", "Shows the Start page without the tour"));
    y += 12;
    const std::string model = files.packaged.empty() ? "" : files.packaged.front();
    std::vector<TourWay> ways;
    if (!course.lessons.empty())
        ways.push_back({tr("common.take_course", "Take the course"),
                        tr("tour.lessons", "{} lessons, 10 minutes each", course.lessons.size()),
                        "way course", ShowTab{LeftTab::course}});
    ways.push_back({tr("tour.own_text", "Use your own text"),
                    tr("tour.type_above", "type it in the field at the top"), "way text", TypeSentence{}});
    ways.push_back({tr("start_panel.open_trained_model", "Open a trained model"),
                    model.empty() ? tr("tour.model_folder", "a folder from Hugging Face")
                                  : tr("tour.model_included", "{} is included", model),
                    "way model", model.empty() ? Action(ChooseProject{}) : Action(OpenPath{model})});
    for (const TourWay& way : ways)
        y = draw_way(picture, context, y, way, done);
    if (!low)
        y = draw_callout(picture, context, std::max(y + 6, context.height - 76));
    picture.scene.width = context.width;
    picture.scene.height = y + 10;
    return picture;
}

} // namespace headscope::app
