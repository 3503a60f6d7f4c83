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
    bool struck_through = false; ///< struck through: the name of a head with head gain 0
};

/// The width of a segmented switch, which is 28 logical pixels high.
float segmented_width(const DrawContext& context, const std::vector<Segment>& segments);
void draw_segmented(Picture& picture, const DrawContext& context, float x, float y,
                    const std::vector<Segment>& segments);

/// Tabs along a strip as high as the context, `gap` apart, with `words` at the right edge if they fit. A
/// tab's hotspot is named `prefix` followed by the tab's label.
void draw_strip_tabs(Picture& picture, const DrawContext& context, const std::vector<Segment>& tabs,
                     float gap = 32, const std::string& prefix = {}, const std::string& words = {});

/// A push button, 34 logical pixels high. A primary button is filled with ink.
void draw_button(Picture& picture, const DrawContext& context, const figure::Rect& area,
                 const std::string& label, const Action& action, bool primary, const std::string& tip = {});

/// A small button of plain text, as wide as the text plus padding. Returns that width.
float draw_text_button(Picture& picture, const DrawContext& context, float x, float y,
                       const std::string& label, bool on, const Action& action, const std::string& tip = {});

/// The multiple of `grain` nearest to a value. A decimal grain gives the float of the decimal number that a
/// user would type.
float round_to_grain(float value, float grain);

/// The track of a slider with its knob and a tick at `rest`. `track` is 4 logical pixels high; dragging also
/// works slightly above and below it.
void draw_track(Picture& picture, const DrawContext& context, const figure::Rect& track, Slider slider,
                figure::Color colour);

/// A chevron with its point at `tip`, `reach` wide on both sides of it.
enum class Pointing : std::uint8_t { down, left, right };
void draw_chevron(figure::Scene& scene, figure::Point tip, Pointing where, figure::Color colour,
                  float reach = 4, float thick = 1.5F);

/// Adds one line of text. Returns its width.
float draw_text(Picture& picture, const DrawContext& context, float x, float baseline,
                const std::string& text, figure::Font font, float size, figure::Color color,
                figure::Align align = figure::Align::left);
/// Draws a line through a text of that width at the same position: the name of a head with head gain 0.
void strike_out(Picture& picture, float x, float baseline, float width, float size, figure::Color color,
                figure::Align align = figure::Align::left);

/// The lines of a text, broken only at spaces; a word longer than a line gets its own line.
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
/// The heading of a view at the top left of the canvas: title (size 22, or smaller to fit) and formula (size
/// 13). The title shrinks to leave `controls` pixels at its right; the tooltip shows a shortened text in
/// full.
void draw_view_heading(Picture& picture, const DrawContext& context, const std::string& title,
                       const std::string& formula, float controls = 0);

inline constexpr float canvas_pad = 32.0F;

/// An empty picture of the context's size.
Picture empty_view(const DrawContext& context);

/// Explains why a view has no other content, starting at that baseline. `fault`: an error, not a value that
/// is still pending.
void draw_message(Picture& picture, const DrawContext& context, const std::string& text, bool fault = false,
                  float baseline = 130);
/// A view with only a title and a message.
Picture message_view(const DrawContext& context, const std::string& title, const std::string& text,
                     bool fault = false);

} // namespace headscope::app
