#include "app/draw/kit/sheet.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/rich_text.h"
#include "core/manual/glossary.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

constexpr float name_column = 76.0F;
constexpr float value_gap = 12.0F;

} // namespace

std::string fitted(const DrawContext& context, const std::string& text, figure::Font font, float size,
                   float width) {
    if (context.measure(text, font, size) <= width)
        return text;
    int fits = 1, too_many = columns(text);
    while (too_many - fits > 1) {
        const int middle = (fits + too_many) / 2;
        (context.measure(shortened(text, middle), font, size) <= width ? fits : too_many) = middle;
    }
    return shortened(text, fits);
}

std::string fitted_words(const DrawContext& context, const std::string& text, figure::Font font, float size,
                         float width) {
    std::string words = text, shown = text;
    while (!words.empty() && context.measure(shown, font, size) > width) {
        const std::size_t end = words.rfind(' ');
        words.resize(end == std::string::npos ? 0 : end);
        shown = words.empty() ? "" : words + " …";
    }
    return shown;
}

Sheet::Sheet(const DrawContext& drawn_in)
    : context(drawn_in), left(pad), right(std::max(drawn_in.width, 4 * pad) - pad) {}

void Sheet::headline(const std::string& subject, const std::string& value, const std::string& meaning,
                     float meaning_size) {
    y = 18;
    put(left, subject, width(), figure::Font::mono, 14, context.theme.ink);
    const float taken =
        draw_text(picture, context, left, 84, value, figure::Font::ui_semibold, 34, context.theme.ink);
    y = 68;
    put(left + taken + 12, meaning, width() - taken - 12, figure::Font::ui, meaning_size,
        context.theme.muted);
    y = 98;
}

void Sheet::section(const std::string& name, const std::string& formula) {
    y += 12;
    draw_hairline(picture, context, left, y, width());
    y += 8;
    const float taken = put(left, name, width(), figure::Font::ui_semibold, 13.5F, context.theme.ink);
    link_in_line(left, name, figure::Font::ui_semibold, 13.5F, baseline(13.5F));
    const bool beside =
        taken + value_gap + context.measure(formula, figure::Font::mono, text_size) <= width();
    if (beside)
        put(right, formula, width(), figure::Font::mono, text_size, context.theme.muted,
            figure::Align::right);
    y += row_height;
    if (beside)
        return;
    y -= 4;
    put(left, formula, width(), figure::Font::mono, text_size, context.theme.muted);
    y += row_height;
}

void Sheet::paragraph(const std::string& text, figure::Color color) {
    constexpr float line = 20.0F;
    y = words(left, y + 16, width(), text, figure::Font::ui, 13, line, color) - 16 + 4;
}

void Sheet::row(const std::string& words, const std::string& result, bool strong) {
    const float taken =
        put(right, result, width() * 0.6F, strong ? figure::Font::mono_semibold : figure::Font::mono,
            text_size, strong ? context.theme.ink : context.theme.text, figure::Align::right);
    put(left, words, width() - taken - value_gap, figure::Font::ui, text_size, context.theme.text);
    y += row_height;
}

void Sheet::place(const std::string& name, const std::string& value, const std::string& words) {
    put(left, name, name_column - 8, figure::Font::ui, text_size, context.theme.muted);
    const float at = left + name_column;
    const float taken = put(at, value, right - at, figure::Font::mono_semibold, text_size, context.theme.ink);
    if (!words.empty() && right - at - taken > 3 * value_gap)
        put(at + taken + value_gap, words, right - at - taken - value_gap, figure::Font::ui, text_size,
            context.theme.text);
    y += row_height;
}

void Sheet::arithmetic(const std::string& expression, const std::string& result) {
    const float taken = put(right, result, width() * 0.5F, figure::Font::mono_semibold, text_size,
                            context.theme.ink, figure::Align::right);
    put(left, expression, width() - taken - value_gap, figure::Font::mono, text_size, context.theme.text);
    y += row_height;
}

void Sheet::row_spot(std::string label, Action action, std::string tip) {
    if (context.controls)
        picture.add_hotspot({left - 6, y, width() + 12, row_height}, std::move(label), std::move(action),
                            std::move(tip));
}

void Sheet::rule(float length) {
    picture.scene.add(figure::LineItem{{right - length, y + 1}, {right, y + 1}, context.theme.line2, 1});
    y += 2;
}

float Sheet::put(float x, const std::string& text, float most, figure::Font font, float size,
                 figure::Color color, figure::Align align) {
    const std::string shown = fitted(context, text, font, size, most);
    const float taken = draw_text(picture, context, x, baseline(size), shown, font, size, color, align);
    if (shown != text)
        picture.tips.push_back({{align == figure::Align::right ? x - taken : x, y, taken, row_height}, text});
    return taken;
}

float Sheet::words(float x, float first_baseline, float most, const std::string& text, figure::Font font,
                   float size, float line, figure::Color color) {
    float at = first_baseline;
    for (const std::string& part : wrapped(text, most, context.measure, font, size)) {
        draw_text(picture, context, x, at, part, font, size, color);
        link_in_line(x, part, font, size, at);
        at += line;
    }
    return at;
}

/// Links the terms of a drawn line. A term split by a line break is not linked.
void Sheet::link_in_line(float x, const std::string& text, figure::Font font, float size, float at) {
    if (!links_terms_)
        return;
    std::string before;
    for (const lesson::Span& span : manual::with_terms({{.text = text}}, linked_terms_)) {
        const float from = x + context.measure(before, font, size);
        before += span.text;
        if (!span.link.empty())
            mark_link(picture, context, span.link, from, x + context.measure(before, font, size), at, size);
    }
}

Picture Sheet::finish() {
    picture.scene.width = context.width;
    picture.scene.height = y + pad;
    return std::move(picture);
}

} // namespace headscope::app
