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

bool has_list(const ActionContext& now) {
    return now.view.sentences != nullptr;
}

std::string needs_text(const ActionContext& now) {
    return now.weights_file ? tr("presentation.no_sentence", "Attention weights from a file have no sentence")
                            : "";
}

/// Reason why there is no further sentence in that direction.
std::function<std::string(const ActionContext&)> needs_sentence(int by) {
    return [by](const ActionContext& now) {
        if (!has_list(now))
            return tr("files_sentences.no_list", "There is no list of sentences; open one first.");
        const int at = now.view.sentence + by;
        return at < 0 ? tr("presentation.first_sentence", "This is the first sentence of the list")
               : at >= static_cast<int>(now.view.sentences->size())
                   ? tr("presentation.last_sentence", "This is the last sentence of the list")
                   : needs_text(now);
    };
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
        {"next sentence", tr("presentation.next_sentence", "Next sentence"), tr("presentation.next_sentence_tip", "Shows the next sentence of the list; {} restores the sentence before", chord_text(ctrl('Z'))), {shift(Key::page_down)}, has_list, always_send(StepSentence{1}), needs_sentence(1), tr("presentation.sentences_of_list", "next sentence of the list, previous sentence")},
        {"sentence before", tr("presentation.sentence_before", "Previous sentence"), tr("presentation.sentence_before_tip", "Shows the previous sentence of the list"), {shift(Key::page_up)}, has_list, always_send(StepSentence{-1}), needs_sentence(-1), ""},
        // clang-format on
    };
}

} // namespace headscope::app
