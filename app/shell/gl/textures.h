#pragma once

#include "app/draw/kit/frame_counter.h"
#include "core/figure/scene.h"

#include <imgui.h>

#include <cstdint>
#include <unordered_map>

namespace headscope::app {

/// The GL textures of the grids on screen, by key. Its GL context must be current in every call, including
/// the destructor.
class TextureCache {
public:
    TextureCache() = default;
    ~TextureCache();
    TextureCache(const TextureCache&) = delete;
    TextureCache& operator=(const TextureCache&) = delete;

    /// Returns the texture with the pixels; creates it for a new key. Key 0 means no key: the pixels are then
    /// compared by hash. Returns 0 for an empty grid or one that exceeds the limits of GL.
    ImTextureID find(const figure::GridItem& grid);

    /// Frees textures that were not requested recently.
    void end_frame();

private:
    struct Entry {
        unsigned name = 0;
        std::int64_t asked = 0; ///< the last frame that requested it
    };
    std::unordered_map<std::uint64_t, Entry> entries_;
    FrameCounter frames_;
};

} // namespace headscope::app
