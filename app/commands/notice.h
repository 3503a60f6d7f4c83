#pragma once

#include "app/commands/command.h"

#include <string>
#include <vector>

namespace headscope::app {

/// What a command did that cannot be seen at a glance, in plain words: how the weights were dealt anew, which
/// edits wait because they no longer fit, whose keys and values changed along. Empty: nothing to tell.
std::string notice_of(const Document& before, const Command& command, const Document& after);

/// Whether the document already is what the command would make of it: what is chosen is chosen again.
bool is_chosen_already(const Document& document, const Command& command);

/// Whether the preset reads the words of its sentence with a word list: text::word_list_of says which.
bool has_word_classes(const project::Recipe& recipe);

/// The words of a sentence that no list knows: the preset takes them for unknown words. Empty for a problem
/// from a file and for the preset "random", which draws every word's numbers.
std::vector<std::string> unknown_words(const project::Recipe& recipe, const std::string& sentence);

} // namespace headscope::app
