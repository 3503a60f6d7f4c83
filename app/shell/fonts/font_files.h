#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// One drawn character: a grey picture and where it stands relative to the pen on the baseline, in pixels.
struct GlyphBitmap {
    int width = 0, height = 0;
    int left = 0, top = 0; ///< from the pen to the left edge, from the baseline up to the top edge
    int pitch = 0;         ///< bytes from row to row
    float advance = 0;     ///< how far the pen moves on, unrounded
    const std::uint8_t* pixels = nullptr;
};

/// A font file in memory and which characters it has.
class FontFile {
public:
    /// Reads a face. `index` counts faces (and named instances) of the file as FreeType does.
    FontFile(const std::string& path, int index);
    ~FontFile();
    FontFile(const FontFile&) = delete;
    FontFile& operator=(const FontFile&) = delete;

    bool has(char32_t code_point) const;
    /// Sets the em size that render() draws at, in pixels.
    void set_size(float pixels);
    /// Draws a character, hinted vertically only. Empty for one that the font lacks; valid until the next
    /// call.
    GlyphBitmap render(char32_t code_point);

private:
    std::vector<char> bytes_;
    void* face_ = nullptr;
};

struct FontChoice {
    std::string path;
    int index = 0;
};

/// The file that fontconfig holds nearest to a family and weight (400, 500, 600). Throws Error(machine) when
/// the system has no font.
FontChoice match_font(const std::string& family, int weight, bool monospace);

/// For each code point the first outline font, in fontconfig's order, that has it; those that no font has are
/// left out. A file stands once, with all its code points.
struct Fallback {
    FontChoice file;
    std::vector<char32_t> code_points;
};
std::vector<Fallback> find_fallbacks(const std::vector<char32_t>& code_points);

} // namespace headscope::app
