#include "app/commands/actions/rows.h"

namespace headscope::app {

namespace {

bool presenting(const ActionContext& now) {
    return now.presenting;
}

/// For the keys of a presentation clicker: steps through the lesson, else the stages, else the heads of a
/// file.
std::function<Actions(const ActionContext&)> step(int by) {
    return [by](const ActionContext& now) {
        Actions out;
        if (now.darkened)
            out.push_back(DarkenPresentation{false});
        else if (now.lesson)
            out.push_back(ReadOn{by});
        else if (now.weights_alone)
            out.push_back(MoveInHeadGrid{0, by});
        else
            out.push_back(StepStage{by});
        return out;
    };
}

std::string needs_pages(const ActionContext& now) {
    return now.map != nullptr ? tr("presentation.map_long_text_one", "A map of a long text has one page")
                              : "";
}

Actions flip_darkness(const ActionContext& now) {
    return {DarkenPresentation{!now.darkened}};
}

} // namespace

std::vector<ActionInfo> presentation_actions() {
    return {
        // clang-format off
        // Translators: the verb
        {"present", tr("presentation.present", "Present"), tr("presentation.shows_canvas_alone_larger", "Shows only the canvas, enlarged, with a lesson's text next to it and a spotlight at the mouse; press again, or Esc, to return to the window"), {{Key::F5}}, anywhere, always_send(Present{}), {}, tr("presentation.present_class_again_esc", "present to a class; again or Esc: leave"), Overlay::list},
        {"present next", tr("presentation.next_presentation", "Next in the presentation"), tr("presentation.lessons_text_next_page", "Continues in the lesson's text, then to its next page; without a lesson, to the next stage"), {{Key::page_down}}, presenting, step(1), needs_pages, tr("presentation.lesson_next_stage_back", "next in the lesson, or the next stage; back")},
        {"present before", tr("presentation.back_presentation", "Back in the presentation"), tr("presentation.back_lessons_text_page", "Goes back in the lesson's text, then to its previous page; without a lesson, to the previous stage"), {{Key::page_up}}, presenting, step(-1), needs_pages, ""},
        {"darken", tr("presentation.darken_screen", "Darken the screen"), tr("presentation.hides_presented_again_shows", "Hides the presentation; press again to show it"), {{Key::period}}, presenting, flip_darkness, {}, tr("presentation.darken_screen_back", "darken the screen, and back")},
        // clang-format on
    };
}

} // namespace headscope::app
