#pragma once

#include "app/views/state.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

class Program;

/// An answer that the window offers to a question.
struct QuestionChoice {
    std::string_view id;      ///< for the value of a reply
    std::vector<Action> does; ///< the messages of its button
};

/// A question that the window asks, or a dialog that waits for the user.
struct OpenQuestion {
    std::string_view kind = {}; ///< "unsaved changes"; see question_kinds()
    std::string text = {};      ///< in the user's language
    std::vector<QuestionChoice> choices = {};
    /// The form of an answer in the user's own words: "PATH", "NAME" or "CHOICE"; empty: only the choices.
    std::string_view takes = {};
    void (*take)(Program& program, const std::string& answer) = nullptr; ///< for such an answer
    /// Only "reply", "cancel" and requests that change nothing apply until it is answered, and every answer
    /// of the socket repeats it.
    bool blocks = false;
};

/// The question in front of the window; nothing if there is none.
std::optional<OpenQuestion> open_question(const AppState& state);

/// A kind of question, for the manual.
struct QuestionKind {
    std::string_view kind, choices, meaning;
};
const std::vector<QuestionKind>& question_kinds();

} // namespace headscope::app
