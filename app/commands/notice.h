#pragma once

#include "app/commands/command.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Returns a message about side effects of a command that are easy to miss: how the weights were split again,
/// which edits no longer fit and are pending, whose keys and values changed as well. Empty: no message.
std::string notice_of(const Document& before, const Command& command, const Document& after);

/// Returns true if the command leaves the document unchanged, such as choosing the current preset again.
bool is_chosen_already(const Document& document, const Command& command);

/// Returns true if the preset looks up words in a word list; see text::word_list_of.
bool has_word_classes(const project::Recipe& recipe);

/// Returns the words of a sentence that are in no word list and that the preset treats as unknown. Empty for
/// an attention input from a file and for the preset "random", which draws random numbers for every word.
std::vector<std::string> unknown_words(const project::Recipe& recipe, const std::string& sentence);

} // namespace headscope::app
