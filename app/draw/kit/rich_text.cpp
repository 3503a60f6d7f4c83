#include "app/draw/kit/rich_text.h"

#include "app/draw/kit/controls.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/check.h"
#include "core/manual/glossary.h"
#include "core/manual/manual.h"

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

/// A part of a line that is not broken.
struct Word {
    std::string text;
    const lesson::Span* span = nullptr;
    bool space_before = false;
    bool broken_off = false; ///< rest of a word wider than a line; may start a line
};

std::vector<Word> words_of(const lesson::Spans& spans, const lesson::LessonState& state) {
    std::vector<Word> words;
    bool space = false;
    for (const lesson::Span& span : spans) {
        const std::string text = plain_text(span, state);
        for (std::size_t begin = 0; begin < text.size();) {
            if (text[begin] == ' ') {
                space = true;
                ++begin;
                continue;
            }
            // Code and values keep their spaces, so that an address stays one word.
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

/// The number of bytes of a text that fit, at least one character; after a separator if that keeps at least
/// half of them.
std::size_t fitting(const std::string& text, float width,
                    const std::function<float(std::string_view)>& measure) {
    const auto is_inside = [&](std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    std::size_t end = 0, behind_sign = 0;
    for (std::size_t next = 1; end < text.size(); ++next) {
        while (is_inside(next))
            ++next;
        if (end > 0 && measure(std::string_view(text).substr(0, next)) > width)
            break;
        end = next;
        if (std::string_view(" /_-.,=").find(text[end - 1]) != std::string_view::npos)
            behind_sign = end;
    }
    return end < text.size() && behind_sign > end / 2 ? behind_sign : end;
}

/// Breaks words that are wider than a line.
std::vector<Word> broken(std::vector<Word> words, const DrawContext& context, float width, float size) {
    std::vector<Word> out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        Word& word = words[i];
        const figure::Font font = font_of(*word.span);
        const auto measure = [&](std::string_view text) {
            return context.measure(std::string(text), font, size_in(font, size));
        };
        // Leave space for punctuation after the word.
        const bool goes_on = i + 1 < words.size() && !words[i + 1].space_before;
        const float most = goes_on ? std::max(width - size, size) : width;
        while (measure(word.text) > most) {
            const std::size_t end = fitting(word.text, most, measure);
            if (end >= word.text.size())
                break;
            out.push_back({word.text.substr(0, end), word.span, word.space_before, word.broken_off});
            word = {word.text.substr(end), word.span, false, true};
        }
        out.push_back(std::move(word));
    }
    return out;
}

/// The part of a link on one line.
struct LinkRun {
    const lesson::Span* span = nullptr;
    float from = 0, to = 0;
};

std::string where_to(const std::string& link) {
    const auto place = manual::place_of(link);
    if (!place)
        return link + "\n" + tr("rich_text.click_copies_address", "A click copies this address");
    const manual::Page* const page = manual::find_page(place->page);
    const manual::Section* const section = manual::find_section(*place);
    if (page == nullptr || section == nullptr)
        return {};
    return section->block == 0 ? tr("rich_text.opens", "Opens “{}”", section->title)
                               : tr("rich_text.opens_2", "Opens “{}” in “{}”", section->title, page->title);
}

void end_link(Picture& picture, const DrawContext& context, LinkRun& run, float baseline,
              const TextStyle& style) {
    if (run.span != nullptr)
        mark_link(picture, context, run.span->link, run.from, run.to, baseline, style.size);
    run = {};
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

std::string plain_text(const lesson::Span& span, const lesson::LessonState& state) {
    if (!span.value)
        return span.text;
    try {
        return lesson::print_value(*span.value, state);
    } catch (const Error&) {
        // The learner's own sentence may not contain a word of the lesson.
        return "–";
    }
}

void mark_link(Picture& picture, const DrawContext& context, const std::string& link, float from, float to,
               float baseline, float size) {
    const auto place = manual::place_of(link);
    const manual::Term* const term =
        place && place->page == "glossary" ? manual::find_term(place->anchor) : nullptr;
    const float y = baseline + 3.5F;
    if (term == nullptr)
        picture.scene.add(figure::LineItem{{from, y}, {to, y}, context.theme.muted, 1});
    else
        for (float x = from; x < to; x += 4)
            picture.scene.add(figure::LineItem{{x, y}, {std::min(x + 1.5F, to), y}, context.theme.muted, 1});
    picture.add_hotspot({from, baseline - size, to - from, size + 6},
                        "link " + std::to_string(picture.hotspots.size()) + " " + link, follow_link(link),
                        term == nullptr ? where_to(link) : manual::definition_of(*term).text);
}

Action follow_link(const std::string& link) {
    if (const auto place = manual::place_of(link))
        return OpenManual{*place};
    return CopyText{link, tr("rich_text.address", "the address {}", link)};
}

float draw_spans(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                 const lesson::Spans& spans, const lesson::LessonState& state, const TextStyle& style) {
    const float space = context.measure(" ", figure::Font::ui, style.size);
    float at = x;
    bool fresh = true;
    LinkRun link;
    std::size_t run = 0; // index of the text item that collects the words of one span
    const std::vector<Word> words = broken(words_of(spans, state), context, width, style.size);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Word& word = words[i];
        const figure::Font font = font_of(*word.span);
        const float size = size_in(font, style.size);
        // Keeps punctuation directly after a word on the same line as the word.
        float glued = context.measure(word.text, font, size);
        for (std::size_t next = i + 1;
             next < words.size() && !words[next].space_before && !words[next].broken_off; ++next) {
            const figure::Font other = font_of(*words[next].span);
            glued += context.measure(words[next].text, other, style.size);
        }
        const bool same = i > 0 && words[i - 1].span == word.span;
        const float gap = !word.space_before || fresh ? 0 : same ? context.measure(" ", font, size) : space;
        const bool may_break = word.space_before || word.broken_off || i == 0;
        if (link.span != word.span)
            end_link(picture, context, link, baseline, style);
        if (!fresh && may_break && at + gap + glued > x + width) {
            end_link(picture, context, link, baseline, style);
            baseline += style.line;
            at = x;
            fresh = true;
        } else {
            at += gap;
        }
        const bool strong = word.span->value || word.span->style != lesson::SpanStyle::plain;
        const float taken = context.measure(word.text, font, size);
        if (same && !fresh) {
            std::get<figure::TextItem>(picture.scene.items[run]).text += (gap > 0 ? " " : "") + word.text;
        } else {
            run = picture.scene.items.size();
            draw_text(picture, context, at, baseline, word.text, font, size,
                      strong ? style.strong : style.color);
        }
        if (word.span->value) {
            picture.scene.add(figure::LineItem{
                {at, baseline + 3.5F}, {at + taken, baseline + 3.5F}, context.theme.line2, 1});
            picture.tips.push_back({{at, baseline - style.size, taken, style.line},
                                    tr("rich_text.computed_canvas", "{}, computed from what is on the canvas",
                                       word.span->value->expression.text())});
        } else if (!word.span->link.empty()) {
            link = {word.span, link.span == word.span ? link.from : at, at + taken};
        }
        at += taken;
        fresh = false;
    }
    end_link(picture, context, link, baseline, style);
    return baseline + style.line;
}

} // namespace headscope::app
