#pragma once

#include <imgui.h>

#include <cstddef>
#include <vector>

namespace headscope::app {

/// The draw lists of the picture on screen, byte for byte. Software GL needs 10 ms for a window; most frames
/// after an event are identical to the previous one and need not be drawn.
class PaintedLists {
public:
    /// Returns true if these lists on this color give the stored picture. Textures are compared by name: code
    /// that changes a texture in place must call forget().
    bool shows(const ImDrawData& lists, ImU32 background) const;
    void keep(const ImDrawData& lists, ImU32 background);
    void forget() { bytes_.clear(); }

private:
    std::vector<std::byte> bytes_; ///< empty: no picture
};

} // namespace headscope::app
