#pragma once

#include "app/draw/kit/picture.h"
#include "core/lesson/lesson.h"

namespace headscope::app {

/// Where running text stands and how it looks.
struct TextStyle {
    float size = 14.5F, line = 23.0F;
    figure::Color color = 0, strong = 0; ///< `strong` also for live values
};

/// Words in their styles, broken into lines of at most `width`; live values are computed from the state, and
/// hovering one tells what it is. Returns the baseline that the next line would have.
float draw_spans(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                 const lesson::Spans& spans, const lesson::LessonState& state, const TextStyle& style);

/// How wide a text is set in one line, and its widest word (with the punctuation that hangs on it).
struct TextWidth {
    float word = 0, line = 0;
};
TextWidth width_of(const DrawContext& context, const lesson::Spans& spans, const lesson::LessonState& state,
                   float size);

/// What a span says as plain text.
std::string spoken(const lesson::Span& span, const lesson::LessonState& state);

} // namespace headscope::app
