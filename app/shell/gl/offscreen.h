#pragma once

#include "app/shell/ui.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// Red, green, blue, alpha (255), row-major, top row first.
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
};

struct OffscreenOptions {
    int frames = 3; ///< frames drawn before the picture is taken, 1/60 s apart; more when glyphs are missing
    std::optional<figure::Point> mouse = {}; ///< where the mouse rests, in logical pixels
};

/// A window of a Ui with no display (EGL on Mesa's surfaceless platform). The same Ui in the same state gives
/// the same bytes. Uses an ImGui context of its own, which is
/// current while it draws. For one thread, beside others that take their turn with ImGui.
class OffscreenWindow {
public:
    /// `width` x `height` logical pixels, drawn with `scale` times as many pixels a side (at most 16,384,
    /// else Error(input)). `ui` has to outlive the window. Throws Error(machine) when EGL or OpenGL 3.3 is
    /// missing.
    OffscreenWindow(Ui& ui, int width, int height, float scale);
    ~OffscreenWindow();
    OffscreenWindow(const OffscreenWindow&) = delete;
    OffscreenWindow& operator=(const OffscreenWindow&) = delete;

    /// Draws one frame; the next is `seconds` later. mouse: as OffscreenOptions has it.
    void draw(float seconds, const std::optional<figure::Point>& mouse = {});
    /// Whether the frame lacks characters that the next one will have.
    bool incomplete() const;
    /// The frame that was drawn last.
    Image picture() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// The last of some frames of an OffscreenWindow. Throws likewise.
Image render_offscreen(Ui& ui, int width, int height, float scale, const OffscreenOptions& options = {});

/// The bytes of a PNG file. Throws Error(internal) when they can't be made.
std::string png_bytes(const Image& image);

} // namespace headscope::app
