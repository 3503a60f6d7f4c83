#pragma once

#include "app/shell/control/request_value.h"
#include "app/shell/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// A request that a client of the control socket can send, in addition to the actions of the action table. A
/// request with the id of an action does the same with a value that a person would give in a dialog, a field
/// or a list. To add a request, add a row to one of the sections below and its line to
/// assets/manual/automation.md, which a test compares.
struct Request {
    std::string_view id;
    /// The form of the value, as Markdown for the manual; empty: the request takes no value.
    std::string_view value;
    std::string_view effect; ///< a phrase for the manual, in Markdown
    /// Throws Error(input) with a sentence for the client. `value`: JSON null if the request takes none.
    void (*perform)(Program& program, const RequestValue& value);
    /// Returns why the request does not apply now; empty text: it applies. Null: it always does.
    std::string (*missing)(const AppState& state) = nullptr;
    RepeatedRequest repeats = RepeatedRequest::nothing; ///< failures that count as new, see RepeatedRequest
    bool while_asked = false; ///< applies while a question is open that blocks the window
};

/// All requests, by section.
const std::vector<Request>& requests();
/// Null if there is none with that id.
const Request* find_request(std::string_view id);

/// A heading of the manual and its rows.
struct RequestSection {
    std::string_view title;
    std::vector<Request> rows;
};
const std::vector<RequestSection>& request_sections();

// The sections, each in its own source file.

std::vector<Request> text_requests();
std::vector<Request> view_requests();
std::vector<Request> screen_requests(); ///< of the atlas, patching, circuits, the map and the Flow
std::vector<Request> edit_requests();
std::vector<Request> model_requests();
std::vector<Request> file_requests();
std::vector<Request> question_requests();
std::vector<Request> course_requests();
std::vector<Request> setting_requests();

// Reasons for Request::missing.

std::string needs_checkpoint(const AppState& state);
std::string needs_sentence_input(const AppState& state);  ///< a document that is built from a sentence
std::string needs_heads_of_layers(const AppState& state); ///< a document with a grid of heads
std::string needs_lesson(const AppState& state);
std::string needs_inputs(const AppState& state); ///< a document whose numbers can be changed
std::string needs_numbers_on_screen(const AppState& state);
/// Returns why an action of the table is not available, also because it belongs to another screen.
std::string action_missing(const AppState& state, std::string_view id);

/// Returns the cells that a text such as "W_Q[0, 2]" names in the newest document.
lesson::CellRange cells_in(const AppState& state, const std::string& text);

} // namespace headscope::app
