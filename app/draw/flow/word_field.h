#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// Adds the open field of a word over its place, if the view edits this word. `count`: the words of its text,
/// through which Tab goes. Returns true if it did.
bool add_word_field(Picture& picture, const DrawContext& context, const FlowWord& word, std::int64_t count,
                    const figure::Rect& place);

/// The hotspot of a word: a click puts it in focus (`focuses`), and a click on the word in focus opens its
/// field, if the text was typed.
void add_word_hotspot(Picture& picture, const DrawContext& context, const figure::Rect& area,
                      std::string label, const FlowWord& word, bool in_focus, Action focuses,
                      std::string tip);

} // namespace headscope::app
