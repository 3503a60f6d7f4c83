#include "app/views/presentation/presented_bars.h"

#include "app/draw/kit/sheet.h"
#include "app/draw/panels/presented_prediction.h"
#include "app/state/screens/screen.h"
#include "app/views/scrolled.h"
#include "core/base/message.h"
#include "core/lesson/questions/step_tasks.h"
#include "core/text/one_line.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float presented_pad = 24, presented_text_size = 26;

/// The text on screen, as it would be in a list of sentences.
const std::string& presented_text(const AppState& state) {
    return state.document->is_checkpoint() ? state.document->part()->prompt : state.document->recipe.sentence;
}

/// "3 of 7", and whether the text is that sentence of the list.
struct ListPlace {
    std::string words;
    bool changed = false;
};

ListPlace place_in_list(const AppState& state) {
    const SentenceListPtr& list = state.view.sentences;
    if (list == nullptr)
        return {};
    const auto count = static_cast<int>(list->size());
    const int at = state.view.sentence;
    if (at < 0 || at >= count)
        return {tr_n("presented_bars.sentences", "{} sentence", "{} sentences", count, count), false};
    return {tr("common.of_2", "{} of {}", at + 1, count),
            presented_text(state) != (*list)[static_cast<std::size_t>(at)]};
}

/// Draws the position at the right edge. Returns its left edge.
float draw_place(figure::Scene& scene, const ListPlace& place, float right, float middle,
                 const ViewTools& tools) {
    constexpr float size = 20, small = 14;
    if (place.words.empty())
        return right;
    float width = tools.measure(place.words, figure::Font::ui_medium, size);
    const float baseline = figure::baseline_for(place.changed ? middle - 9 : middle, size);
    add_text(scene, {right, baseline}, place.words, figure::Font::ui_medium, size, tools.theme.ink,
             figure::Align::right);
    if (place.changed) {
        const std::string changed = tr("presented_bars.changed", "changed");
        width = std::max(width, tools.measure(changed, figure::Font::ui, small));
        add_text(scene, {right, baseline + 19}, changed, figure::Font::ui, small, tools.theme.muted,
                 figure::Align::right);
    }
    return right - width - 20;
}

/// Draws the sentence in one line, smaller if it is long.
void draw_sentence(figure::Scene& scene, const AppState& state, const figure::Rect& area,
                   const ViewTools& tools) {
    constexpr float smallest = 17;
    const std::string text = text::with_control_signs(presented_text(state));
    tools.surface.need_glyphs(text);
    float size = presented_text_size;
    while (size > smallest && tools.measure(text, figure::Font::ui_medium, size) > area.w)
        size -= 1;
    const DrawContext context{state.shown, state.drawn_view(), tools.theme, tools.measure, area.w, area.h};
    add_text(scene, {area.x, figure::baseline_for(area.y + area.h / 2, size)},
             fitted_words(context, text, figure::Font::ui_medium, size, area.w), figure::Font::ui_medium,
             size, tools.theme.ink);
}

} // namespace

bool presents_sentence(const AppState& state) {
    return state.presentation.on && (state.presentation.types_sentence || state.view.sentences != nullptr) &&
           !state.document->is_given();
}

bool presents_prediction(const AppState& state) {
    if (!state.presentation.on || !state.document->is_checkpoint() || !state.model.predictions)
        return false;
    // Where a lesson asks for a prediction, it is not given away.
    if (const lesson::Step* const step = state.course.open == nullptr ? nullptr : state.course.step())
        for (const lesson::StepQuestion* const question : lesson::questions_of(step->blocks))
            if (!state.course.of_open().done.contains(question->id))
                return false;
    const Screen screen = screen_of(state.shown, state.view);
    const checkpoint::TextModel& model = *state.document->part()->model;
    return screen != Screen::flow && (state.model.next_distribution.has_value() || model.masked());
}

void view_presented_sentence(const AppState& state, const figure::Rect& area, Presentation& presentation,
                             const ViewTools& tools) {
    draw_panel_background(area, tools, false);
    figure::Scene scene;
    scene.add(figure::LineItem{
        {area.x, area.bottom() - 0.5F}, {area.right(), area.bottom() - 0.5F}, tools.theme.line, 1});
    const float right =
        draw_place(scene, place_in_list(state), area.right() - presented_pad, area.y + area.h / 2, tools);
    const figure::Rect text{area.x + presented_pad, area.y + 9, right - area.x - presented_pad, area.h - 18};
    const std::string fixed = state.document->is_checkpoint() ? "" : fixed_sentence_reason(state);
    if (presentation.types_sentence && !fixed.empty()) {
        presentation.types_sentence = false;
        tools.send(Explain{fixed});
    }
    if (!presentation.types_sentence) {
        draw_sentence(scene, state, text, tools);
        return paint_here(scene, tools);
    }
    paint_here(scene, tools);
    if (state.document->is_checkpoint())
        view_prompt_fields(state, text, presented_text_size, tools);
    else
        view_sentence_fields(state, text, presented_text_size, tools);
    // A field that Esc left gets its former text one frame later.
    constexpr int frames_after_typing = 3;
    presentation.frames_left = ImGui::IsAnyItemActive() && ImGui::GetIO().WantTextInput
                                   ? frames_after_typing
                                   : presentation.frames_left - 1;
    presentation.types_sentence = presentation.frames_left > 0;
}

void view_presented_prediction(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const DrawContext context{state.shown, state.drawn_view(), tools.theme, tools.measure, area.w, area.h};
    Picture picture;
    picture.append(draw_presented_prediction(context, *state.model.predictions), area.x, area.y);
    for (const TokenProbability& odds : state.model.predictions->likeliest)
        tools.surface.need_glyphs(odds.label);
    show_picture(picture, origin.x, origin.y, tools, nullptr);
}

} // namespace headscope::app
