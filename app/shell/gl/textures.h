#pragma once

#include "app/draw/kit/frame_count.h"
#include "core/figure/scene.h"

#include <imgui.h>

#include <cstdint>
#include <unordered_map>

namespace headscope::app {

/// The GL textures of the grids on screen, by key. Needs its GL context current in every call, also when
/// destroyed.
class TextureCache {
public:
    TextureCache() = default;
    ~TextureCache();
    TextureCache(const TextureCache&) = delete;
    TextureCache& operator=(const TextureCache&) = delete;

    /// The texture that holds the pixels, made when its key is new. A key of 0 stands for no key: the pixels
    /// themselves are then compared by hash. 0 for an empty grid or one that is larger than GL allows.
    ImTextureID find(const figure::GridItem& grid);

    /// Frees what was not asked for of late.
    void end_frame();

private:
    struct Entry {
        unsigned name = 0;
        std::int64_t asked = 0; ///< the last frame that did
    };
    std::unordered_map<std::uint64_t, Entry> entries_;
    FrameCount frames_;
};

} // namespace headscope::app
