#include "app/draw/kit/rich_text.h"

#include "app/draw/kit/controls.h"
#include "core/base/error.h"
#include "core/lesson/check.h"

#include <algorithm>

namespace headscope::app {

namespace {

figure::Font font_of(const lesson::Span& span) {
    if (span.value)
        return figure::Font::mono_semibold;
    switch (span.style) {
    case lesson::SpanStyle::strong:
        return figure::Font::ui_semibold;
    case lesson::SpanStyle::emphasis:
        return figure::Font::ui_medium;
    case lesson::SpanStyle::code:
        return figure::Font::mono;
    case lesson::SpanStyle::plain:
        break;
    }
    return figure::Font::ui;
}

/// A part of a line that is never broken.
struct Word {
    std::string text;
    const lesson::Span* span = nullptr;
    bool space_before = false;
};

std::vector<Word> words_of(const lesson::Spans& spans, const lesson::LessonState& state) {
    std::vector<Word> words;
    bool space = false;
    for (const lesson::Span& span : spans) {
        const std::string text = spoken(span, state);
        for (std::size_t begin = 0; begin < text.size();) {
            if (text[begin] == ' ') {
                space = true;
                ++begin;
                continue;
            }
            // Code and values keep their spaces: an address stays in one word.
            const bool whole = span.value || span.style == lesson::SpanStyle::code;
            const std::size_t end = whole ? text.size() : std::min(text.find(' ', begin), text.size());
            words.push_back({text.substr(begin, end - begin), &span, space});
            space = false;
            begin = end;
        }
    }
    return words;
}

float size_in(figure::Font font, float size) {
    return font == figure::Font::mono || font == figure::Font::mono_semibold ? size * 0.93F : size;
}

} // namespace

TextWidth width_of(const DrawContext& context, const lesson::Spans& spans, const lesson::LessonState& state,
                   float size) {
    const float space = context.measure(" ", figure::Font::ui, size);
    TextWidth out;
    float word = 0;
    for (const Word& piece : words_of(spans, state)) {
        const figure::Font font = font_of(*piece.span);
        const float width = context.measure(piece.text, font, size_in(font, size));
        word = piece.space_before ? width : word + width;
        out.word = std::max(out.word, word);
        out.line += width + (piece.space_before ? space : 0.0F);
    }
    return out;
}

std::string spoken(const lesson::Span& span, const lesson::LessonState& state) {
    if (!span.value)
        return span.text;
    try {
        return lesson::print_value(*span.value, state);
    } catch (const Error&) {
        // The learner's own sentence may lack a word of the lesson.
        return "–";
    }
}

float draw_spans(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                 const lesson::Spans& spans, const lesson::LessonState& state, const TextStyle& style) {
    const float space = context.measure(" ", figure::Font::ui, style.size);
    float at = x;
    bool fresh = true;
    const std::vector<Word> words = words_of(spans, state);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Word& word = words[i];
        const figure::Font font = font_of(*word.span);
        const float size = size_in(font, style.size);
        // Punctuation directly after a word goes with that word to the next line.
        float glued = context.measure(word.text, font, size);
        for (std::size_t next = i + 1; next < words.size() && !words[next].space_before; ++next) {
            const figure::Font other = font_of(*words[next].span);
            glued += context.measure(words[next].text, other, style.size);
        }
        const float gap = word.space_before && !fresh ? space : 0;
        if (!fresh && (word.space_before || i == 0) && at + gap + glued > x + width) {
            baseline += style.line;
            at = x;
            fresh = true;
        } else {
            at += gap;
        }
        const bool strong = word.span->value || word.span->style != lesson::SpanStyle::plain;
        const float taken = draw_text(picture, context, at, baseline, word.text, font, size,
                                      strong ? style.strong : style.color);
        if (word.span->value) {
            picture.scene.add(figure::LineItem{
                {at, baseline + 3.5F}, {at + taken, baseline + 3.5F}, context.theme.line2, 1});
            picture.tips.push_back(
                {{at, baseline - style.size, taken, style.line},
                 word.span->value->expression.text() + ", computed from what is on the canvas"});
        }
        at += taken;
        fresh = false;
    }
    return baseline + style.line;
}

} // namespace headscope::app
