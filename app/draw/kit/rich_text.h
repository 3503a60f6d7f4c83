#pragma once

#include "app/draw/kit/picture.h"
#include "core/lesson/lesson.h"

namespace headscope::app {

/// The size and the colors of running text.
struct TextStyle {
    float size = 14.5F, line = 23.0F;
    figure::Color color = 0, strong = 0; ///< `strong` is also the color of live values
};

/// Draws spans in their styles, in lines of at most `width`; a wider word is broken. Live values are computed
/// from the state; their tooltip explains them. Links are underlined, glossary terms with dots. The tooltip
/// shows a link's destination or a term's meaning, and a click follows it. Returns the baseline of the next
/// line.
float draw_spans(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                 const lesson::Spans& spans, const lesson::LessonState& state, const TextStyle& style);

/// The width of a text in one line, and the width of its widest word with the punctuation after it.
struct TextWidth {
    float word = 0, line = 0;
};
TextWidth width_of(const DrawContext& context, const lesson::Spans& spans, const lesson::LessonState& state,
                   float size);

/// Underlines the text between x = `from` and x = `to` on a line of that text size, with dots for a glossary
/// term, and makes it clickable.
void mark_link(Picture& picture, const DrawContext& context, const std::string& link, float from, float to,
               float baseline, float size);

/// The action of a click on a link: opens the manual, or copies a web address.
Action follow_link(const std::string& link);

/// A span as plain text.
std::string plain_text(const lesson::Span& span, const lesson::LessonState& state);

} // namespace headscope::app
