#pragma once

#include "app/draw/kit/controls.h"

#include <set>
#include <string>

namespace headscope::app {

/// The text; if it is too wide, its beginning and end with "…" in between.
std::string fitted(const DrawContext& context, const std::string& text, figure::Font font, float size,
                   float width);
/// The text; if it is too wide, as many of its first words as fit, followed by "…". Empty if not even one
/// word fits.
std::string fitted_words(const DrawContext& context, const std::string& text, figure::Font font, float size,
                         float width);

/// A side panel that is filled from the top: sections with hairlines, rows of text and numbers. Nothing is
/// wider than the panel: a text that does not fit is shortened in the middle and shown in full by its
/// tooltip.
class Sheet {
public:
    explicit Sheet(const DrawContext& context);

    static constexpr float pad = 24.0F;
    static constexpr float row_height = 26.0F;
    static constexpr float text_size = 12.5F;

    const DrawContext& context;
    Picture picture;
    float left, right; ///< edges of the content
    float y = 0;       ///< top of the next row

    /// Links the first occurrence of each glossary term from now on, in section names and paragraphs.
    void link_terms() { links_terms_ = context.controls; }

    float width() const { return right - left; }
    /// The baseline of a row with its top at `y`.
    float baseline(float size = text_size) const { return figure::baseline_for(y + row_height / 2, size); }

    /// The top of an inspector: its subject, and below that a number or name in large type with its meaning
    /// next to it.
    void headline(const std::string& subject, const std::string& value, const std::string& meaning,
                  float meaning_size = text_size);
    /// A hairline, the name at the left, and a formula at the right, or below if the row is too narrow.
    void section(const std::string& name, const std::string& formula = {});
    /// A wrapped text over the full width.
    void paragraph(const std::string& text, figure::Color color);
    /// A row with words at the left and a result aligned at the right.
    void row(const std::string& words, const std::string& result, bool strong = false);
    /// A row with a name in a narrow column, then a number or address, then words.
    void place(const std::string& name, const std::string& value, const std::string& words = {});
    /// A line of arithmetic with its result in bold, aligned at the right.
    void arithmetic(const std::string& expression, const std::string& result);
    /// Makes the row with its top at `y` clickable, if the context has controls.
    void row_spot(std::string label, Action action, std::string tip);
    /// The short rule above a total, under the last `length` pixels of the row.
    void rule(float length);
    /// One line of text, at most `most` pixels wide. A shortened text has a tooltip with the full text.
    /// Returns the width.
    float put(float x, const std::string& text, float most, figure::Font font, float size,
              figure::Color color, figure::Align align = figure::Align::left);

    /// The picture, with its size set.
    Picture finish();

private:
    /// One or more lines of text with links, starting at a baseline. Returns the baseline of the next line.
    float words(float x, float first_baseline, float most, const std::string& text, figure::Font font,
                float size, float line, figure::Color color);
    void link_in_line(float x, const std::string& text, figure::Font font, float size, float at);

    bool links_terms_ = false;
    std::set<std::string> linked_terms_;
};

} // namespace headscope::app
