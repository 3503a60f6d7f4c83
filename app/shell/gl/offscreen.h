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
    int frames = 3; ///< frames before the picture is taken, 1/60 s apart; more if glyphs are missing
    std::optional<figure::Point> mouse = {}; ///< position of the mouse, in logical pixels
};

/// Draws a Ui without a display (EGL on Mesa's surfaceless platform). The same Ui in the same state gives the
/// same bytes. Uses its own ImGui context, which is current while it draws. For one thread; other threads may
/// use ImGui through ImGuiLock.
class OffscreenWindow {
public:
    /// `width` x `height` logical pixels, `scale` times as many physical pixels per side (at most 16,384,
    /// else Error(input)). `ui` must outlive the window. Throws Error(machine) if EGL or OpenGL 3.3 is
    /// missing.
    OffscreenWindow(Ui& ui, int width, int height, float scale);
    ~OffscreenWindow();
    OffscreenWindow(const OffscreenWindow&) = delete;
    OffscreenWindow& operator=(const OffscreenWindow&) = delete;

    /// Draws one frame; the next one is `seconds` later. mouse: see OffscreenOptions.
    void draw(float seconds, const std::optional<figure::Point>& mouse = {});
    /// Returns true if the frame lacks characters that the next one will have.
    bool incomplete() const;
    /// Returns the last frame.
    Image picture() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Returns the last of several frames of an OffscreenWindow. Throws likewise.
Image render_offscreen(Ui& ui, int width, int height, float scale, const OffscreenOptions& options = {});

/// Returns the bytes of a PNG file. Throws Error(internal) if encoding fails.
std::string png_bytes(const Image& image);

} // namespace headscope::app
