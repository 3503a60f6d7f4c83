#pragma once

#include "app/draw/kit/frame_counter.h"
#include "app/shell/fonts/fonts.h"
#include "core/figure/shaped_text.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace headscope::app {

/// Pictures of the lines on screen that need text shaping or a font that is not baked. Used by one thread at
/// a time.
class ShapedLines {
public:
    /// Returns null for a text that the baked fonts can show, or may be able to show after the next bake.
    /// `pixels`: the em size. Valid until end_frame().
    const figure::ShapedText* find(std::string_view text, figure::Font role, float pixels,
                                   const FontBook& fonts);
    /// Evicts lines that were not requested recently.
    void end_frame();
    /// Returns the Debian package with a font for a character of a line that is in no font of the system;
    /// empty: none is missing.
    std::string missing_font() const;

private:
    struct Line {
        figure::ShapedText shaped;
        std::int64_t asked = 0; ///< the last frame that requested it
    };
    std::map<std::tuple<std::string, figure::Font, float>, Line, std::less<>> lines_;
    FrameCounter frames_;
    std::uint64_t made_ = 0;
};

} // namespace headscope::app
