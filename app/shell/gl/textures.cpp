#include "app/shell/gl/textures.h"

#include <epoxy/gl.h>

#include <functional>
#include <string_view>

namespace headscope::app {
namespace {

std::uint64_t key_of(const figure::GridItem& grid) {
    if (grid.key != 0)
        return grid.key;
    const std::string_view bytes(reinterpret_cast<const char*>(grid.pixels->data()),
                                 grid.pixels->size() * sizeof(figure::Color));
    return std::hash<std::string_view>{}(bytes) ^ static_cast<std::uint64_t>(grid.cols) << 32;
}

unsigned make_texture(const figure::GridItem& grid) {
    GLint before = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    const GLint filter = grid.smooth ? GL_LINEAR : GL_NEAREST;
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, grid.cols, grid.rows, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 grid.pixels->data());
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(before));
    return name;
}

} // namespace

TextureCache::~TextureCache() {
    for (const auto& [key, entry] : entries_)
        glDeleteTextures(1, &entry.name);
}

ImTextureID TextureCache::find(const figure::GridItem& grid) {
    GLint largest = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
    if (!grid.pixels || grid.cols < 1 || grid.rows < 1 || grid.cols > largest || grid.rows > largest)
        return nullptr;
    Entry& entry = entries_[key_of(grid)];
    if (entry.name == 0)
        entry.name = make_texture(grid);
    entry.asked = frames_.now();
    return reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(entry.name));
}

void TextureCache::end_frame() {
    frames_.end_frame();
    std::erase_if(entries_, [&](const auto& item) {
        if (!frames_.is_expired(item.second.asked))
            return false;
        glDeleteTextures(1, &item.second.name);
        return true;
    });
}

} // namespace headscope::app
