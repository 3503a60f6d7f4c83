#include "app/shell/control/requests/requests.h"

#include "app/views/action_context.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

const std::vector<RequestSection>& request_sections() {
    static const std::vector<RequestSection> all{{"Texts and inputs", text_requests()},
                                                 {"Views", view_requests()},
                                                 {"Single screens", screen_requests()},
                                                 {"Edits", edit_requests()},
                                                 {"Checkpoints", model_requests()},
                                                 {"Files", file_requests()},
                                                 {"Questions and dialogs", question_requests()},
                                                 {"The course", course_requests()},
                                                 {"Settings", setting_requests()}};
    return all;
}

const std::vector<Request>& requests() {
    static const std::vector<Request> all = [] {
        std::vector<Request> rows;
        for (const RequestSection& section : request_sections())
            rows.insert(rows.end(), section.rows.begin(), section.rows.end());
        return rows;
    }();
    return all;
}

const Request* find_request(std::string_view id) {
    const auto found = std::ranges::find(requests(), id, &Request::id);
    return found == requests().end() ? nullptr : &*found;
}

std::string needs_checkpoint(const AppState& state) {
    return state.document->is_checkpoint()
               ? ""
               : tr("requests.needs_checkpoint", "This belongs to a checkpoint; open one first");
}

std::string needs_sentence_input(const AppState& state) {
    return state.document->is_experiment()
               ? ""
               : tr("requests.needs_sentence",
                    "This belongs to a sentence or a problem; a checkpoint and attention weights from a file "
                    "do not have it");
}

std::string needs_heads_of_layers(const AppState& state) {
    return state.document->has_head_grid()
               ? ""
               : tr("requests.needs_layers",
                    "This belongs to a checkpoint or a file of attention weights; open one first");
}

std::string needs_lesson(const AppState& state) {
    return state.course.open != nullptr ? ""
                                        : tr("requests.needs_lesson", "No lesson is open; open one first");
}

std::string needs_inputs(const AppState& state) {
    return state.document->is_given() ? tr("files.attention_weights_file_shown",
                                           "These attention weights come from a file; how they were computed "
                                           "is not known")
                                      : "";
}

std::string needs_numbers_on_screen(const AppState& state) {
    return state.shown.ready() ? "" : tr("common.nothing_computed_yet", "Nothing is computed yet");
}

std::string action_missing(const AppState& state, std::string_view id) {
    const ActionContext now = action_context(state);
    const ActionInfo& info = action(id);
    return info.applies(now) ? why_not(info, now)
                             : tr("named_actions.nothing_page", "\"{}\" does nothing on this screen", id);
}

lesson::CellRange cells_in(const AppState& state, const std::string& text) {
    return lesson::resolve(lesson::parse_target(text), state.document->problem);
}

} // namespace headscope::app
