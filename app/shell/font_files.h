#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope {

/// A font file in memory and which characters it has.
class FontFile {
public:
    /// Reads a face. `index` counts faces (and named instances) of the file as FreeType does.
    FontFile(const std::string& path, int index);
    ~FontFile();
    FontFile(const FontFile&) = delete;
    FontFile& operator=(const FontFile&) = delete;

    bool has(char32_t code_point) const;
    /// Ascender to descender in em: what ImGui's builder takes as the size is this times the em size.
    float line_height() const { return line_height_; }
    /// Unhinted advance in em; 0 for a character that it lacks.
    float advance(char32_t code_point) const;
    std::vector<char>& bytes() { return bytes_; }
    int index() const { return index_; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int index_;
    std::vector<char> bytes_;
    void* face_ = nullptr;
    float line_height_ = 1;
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

} // namespace headscope
