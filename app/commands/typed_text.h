#pragma once

#include "app/state/view_state.h"
#include "app/state/word_place.h"

#include <string>

namespace headscope::app {

/// Text typed into the number field of a cell.
struct TypedNumber {
    CellAddress cell;
    std::string text;
};

/// Text typed into the field of a word: a word of a sentence, or a token of a checkpoint's prompt.
struct TypedWord {
    WordPlace place; ///< in the text on screen, which can be older than the document
    std::string text;
};

} // namespace headscope::app
