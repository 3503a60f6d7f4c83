#pragma once

#include "app/draw/kit/frame_count.h"
#include "app/shell/fonts/fonts.h"
#include "core/figure/shaped_text.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace headscope::app {

/// The lines on screen that the baked fonts cannot show as they stand, as pictures. Used by one thread at a
/// time.
class ShapedLines {
public:
    /// Null for a text that the baked fonts show, or may show once they are baked again. `pixels`: the em.
    /// Valid until end_frame().
    const figure::ShapedText* find(std::string_view text, figure::Font role, float pixels,
                                   const FontBook& fonts);
    /// Forgets lines that were not asked for of late.
    void end_frame();
    /// The Debian package with a font for some character of a line that no font of the system has; empty:
    /// they are all in some font.
    std::string missing_font() const;

private:
    struct Line {
        figure::ShapedText shaped;
        std::int64_t asked = 0; ///< the last frame that did
    };
    std::map<std::tuple<std::string, figure::Font, float>, Line, std::less<>> lines_;
    FrameCount frames_;
    std::uint64_t made_ = 0;
};

} // namespace headscope::app
