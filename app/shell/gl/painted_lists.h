#pragma once

#include <imgui.h>

#include <cstddef>
#include <vector>

namespace headscope::app {

/// What the picture on screen was drawn from, byte for byte. Software GL takes 10 ms for a window; most
/// frames after an event show what the frame before them showed, and need not be drawn.
class PaintedLists {
public:
    /// Whether drawing these lists on this colour gives the picture that was kept. Textures count by their
    /// names: whoever changes one in place calls forget().
    bool shows(const ImDrawData& lists, ImU32 background) const;
    void keep(const ImDrawData& lists, ImU32 background);
    void forget() { bytes_.clear(); }

private:
    std::vector<std::byte> bytes_; ///< empty: no picture
};

} // namespace headscope::app
