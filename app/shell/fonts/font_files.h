#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// One rendered character: a gray picture and its position relative to the pen on the baseline, in pixels.
struct GlyphBitmap {
    int width = 0, height = 0;
    int left = 0, top = 0; ///< from the pen to the left edge, from the baseline up to the top edge
    int pitch = 0;         ///< bytes from row to row
    float advance = 0;     ///< movement of the pen, unrounded
    const std::uint8_t* pixels = nullptr;
};

/// A font file in memory.
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
    /// Renders a character, hinted vertically only. Empty if the font does not have it; valid until the next
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

/// Returns the closest match of fontconfig for a family and weight (400, 500, 600). Throws Error(machine) if
/// the system has no font.
FontChoice match_font(const std::string& family, int weight, bool monospace);

/// Returns, for each code point, the first outline font in fontconfig's order that has it; code points that
/// are in no font are omitted. Each file occurs once, with all its code points.
struct Fallback {
    FontChoice file;
    std::vector<char32_t> code_points;
};
std::vector<Fallback> find_fallbacks(const std::vector<char32_t>& code_points);

} // namespace headscope::app
