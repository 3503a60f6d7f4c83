#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// One choice of a segmented switch.
struct Segment {
    std::string label; ///< text on screen; also the hotspot's label
    Action action;
    bool on = false;
    std::string tip = {};
    bool struck = false; ///< names a head that is switched off
};

/// The width of a segmented switch, which is 28 high.
float segmented_width(const DrawContext& context, const std::vector<Segment>& segments);
void draw_segmented(Picture& picture, const DrawContext& context, float x, float y,
                    const std::vector<Segment>& segments);

/// Tabs along a strip as high as the context, `gap` apart, with `words` at the right edge where they fit. A
/// tab's hotspot is called by `prefix` and its label.
void draw_strip_tabs(Picture& picture, const DrawContext& context, const std::vector<Segment>& tabs,
                     float gap = 32, const std::string& prefix = {}, const std::string& words = {});

/// A push button, 34 high. A primary button is filled with ink.
void draw_button(Picture& picture, const DrawContext& context, const figure::Rect& area,
                 const std::string& label, const Action& action, bool primary, const std::string& tip = {});

/// A small button of plain text, as wide as the text plus padding. Returns that width.
float draw_text_button(Picture& picture, const DrawContext& context, float x, float y,
                       const std::string& label, bool on, const Action& action, const std::string& tip = {});

/// The multiple of `grain` next to a value. A decimal grain gives the decimal number that one would type.
float on_grain(float value, float grain);

/// The track of a slider with its knob and a tick at `rest`; dragging it works on `track`, 4 high, and what
/// is just above and below.
void draw_track(Picture& picture, const DrawContext& context, const figure::Rect& track, Slider slider,
                figure::Color colour);

/// A chevron that points with its tip, and is `reach` wide to either side of it.
enum class Pointing : std::uint8_t { down, left, right };
void draw_chevron(figure::Scene& scene, figure::Point tip, Pointing where, figure::Color colour,
                  float reach = 4, float thick = 1.5F);

/// Adds one line of text. Returns its width.
float draw_text(Picture& picture, const DrawContext& context, float x, float baseline,
                const std::string& text, figure::Font font, float size, figure::Color color,
                figure::Align align = figure::Align::left);
/// The line through a text of that width at the same place: the name of a head that is switched off.
void strike_out(Picture& picture, float x, float baseline, float width, float size, figure::Color color,
                figure::Align align = figure::Align::left);

/// The lines of a text, broken at blanks alone; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, float width, const figure::TextMeasure& measure,
                                 figure::Font font, float size);

/// Breaks text into lines of at most `width`. Returns the baseline of the next line.
float draw_paragraph(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                     const std::string& text, figure::Font font, float size, float line_height,
                     figure::Color color);

/// A horizontal hairline.
void draw_hairline(Picture& picture, const DrawContext& context, float x, float y, float width);

/// An arrow 2 pixels thick, with its head at (x + length, y) and a caption above.
void draw_arrow(Picture& picture, const DrawContext& context, float x, float y, float length,
                const std::string& caption = {});

inline constexpr float smallest_title = 15.0F; ///< larger than the text below it
/// The heading of a page: title (22, or as much smaller as it needs) and formula (13), at the top left of the
/// canvas. The title gives way to controls of that width at its right; what is cut is told on hover.
void draw_page_head(Picture& picture, const DrawContext& context, const std::string& title,
                    const std::string& formula, float controls = 0);

inline constexpr float canvas_pad = 32.0F;

/// An empty picture as large as its room.
Picture empty_page(const DrawContext& context);

/// Why there is nothing else on a page, from that baseline on. `fault`: something is wrong, rather than not
/// there yet.
void draw_message(Picture& picture, const DrawContext& context, const std::string& text, bool fault = false,
                  float baseline = 130);
/// A page of a title and a message alone.
Picture message_page(const DrawContext& context, const std::string& title, const std::string& text,
                     bool fault = false);

} // namespace headscope::app
