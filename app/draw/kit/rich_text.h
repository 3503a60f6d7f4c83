#pragma once

#include "app/draw/kit/picture.h"
#include "core/lesson/lesson.h"

namespace headscope::app {

/// The size and the colours of running text.
struct TextStyle {
    float size = 14.5F, line = 23.0F;
    figure::Color color = 0, strong = 0; ///< `strong` is also the colour of live values
};

/// Draws words in their styles, in lines of at most `width`; a word that is wider is broken. Live values are
/// computed from the state; hovering a live value explains it. Links are underlined, words of the glossary
/// with dots; hovering says where a link leads or what the word means, and a click goes there. Returns the
/// baseline of the next line.
float draw_spans(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                 const lesson::Spans& spans, const lesson::LessonState& state, const TextStyle& style);

/// The width of a text in one line, and the width of its widest word with the punctuation after it.
struct TextWidth {
    float word = 0, line = 0;
};
TextWidth width_of(const DrawContext& context, const lesson::Spans& spans, const lesson::LessonState& state,
                   float size);

/// Underlines what stands from `from` to `to` on a line of that text size, a word of the glossary with dots,
/// and makes it react.
void mark_link(Picture& picture, const DrawContext& context, const std::string& link, float from, float to,
               float baseline, float size);

/// What a click on a link does: opens the manual, or copies a web address.
Action follow_link(const std::string& link);

/// A span as plain text.
std::string spoken(const lesson::Span& span, const lesson::LessonState& state);

} // namespace headscope::app
