#pragma once

#include "app/shell/ui.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// Red, green, blue, alpha, row-major, top row first.
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
};

struct OffscreenOptions {
    int frames = 3; ///< frames drawn before the picture is taken, 1/60 s apart; more when glyphs are missing
    std::optional<figure::Point> mouse; ///< where the mouse rests, in logical pixels
};

/// Draws the Ui with no display (EGL on Mesa's surfaceless platform) in a window of `width` x `height`
/// logical pixels and returns the last frame, `scale` times as many pixels a side (at most 16,384, else
/// Error(input)). The same Ui in the same state gives the same bytes. Uses an ImGui context of its own; the
/// current one is current again afterwards. Throws Error(machine) when EGL or OpenGL 3.3 is missing.
Image render_offscreen(Ui& ui, int width, int height, float scale, const OffscreenOptions& options = {});

/// The bytes of a PNG file. Throws Error(internal) when they can't be made.
std::string png_bytes(const Image& image);

} // namespace headscope::app
