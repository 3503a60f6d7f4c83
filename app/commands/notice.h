#pragma once

#include "app/commands/command.h"

#include <string>
#include <vector>

namespace headscope::app {

/// What a command did that cannot be seen at a glance, in plain words: how the weights were dealt anew, which
/// edits wait because they no longer fit, whose keys and values changed along. Empty: nothing to tell.
std::string notice_of(const Document& before, const Command& command, const Document& after);

/// Returns true if the command would leave the document as it is, such as choosing the current preset again.
bool is_chosen_already(const Document& document, const Command& command);

/// Returns whether the preset looks its words up in a word list; text::word_list_of says in which.
bool has_word_classes(const project::Recipe& recipe);

/// The words of a sentence that no list knows: the preset takes them for unknown words. Empty for a problem
/// from a file and for the preset "random", which draws every word's numbers.
std::vector<std::string> unknown_words(const project::Recipe& recipe, const std::string& sentence);

} // namespace headscope::app
