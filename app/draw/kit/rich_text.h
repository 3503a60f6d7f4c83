#pragma once

#include "app/draw/kit/picture.h"
#include "core/lesson/lesson.h"

namespace headscope::app {

/// The size and the colours of running text.
struct TextStyle {
    float size = 14.5F, line = 23.0F;
    figure::Color color = 0, strong = 0; ///< `strong` is also the colour of live values
};

/// Draws words in their styles, in lines of at most `width`. Live values are computed from the state;
/// hovering a live value explains it. Returns the baseline of the next line.
float draw_spans(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                 const lesson::Spans& spans, const lesson::LessonState& state, const TextStyle& style);

/// The width of a text in one line, and the width of its widest word with the punctuation after it.
struct TextWidth {
    float word = 0, line = 0;
};
TextWidth width_of(const DrawContext& context, const lesson::Spans& spans, const lesson::LessonState& state,
                   float size);

/// A span as plain text.
std::string spoken(const lesson::Span& span, const lesson::LessonState& state);

} // namespace headscope::app
