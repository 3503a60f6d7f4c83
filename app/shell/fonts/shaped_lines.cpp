#include "app/shell/fonts/shaped_lines.h"

#include "core/text/shaping.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headscope::app {

const figure::ShapedText* ShapedLines::find(std::string_view text, figure::Font role, float pixels,
                                            const FontBook& fonts) {
    // Most texts are printable ASCII, which our own fonts can show without shaping.
    const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    if (plain || (!text::needs_shaping(text) && !fonts.lacks_some_of(text)))
        return nullptr;
    const auto [found, is_new] = lines_.try_emplace({std::string(text), role, pixels});
    Line& line = found->second;
    line.asked = frames_.now();
    if (is_new) {
        line.shaped = figure::shape_text(text, role, pixels);
        // Keys of grids are hashes; these keys count up from a fixed start value.
        line.shaped.image.key = 0x5348415045440000ULL + ++made_;
        line.shaped.colored.key = 0x5348415045440000ULL + ++made_;
    }
    return &line.shaped;
}

void ShapedLines::end_frame() {
    frames_.end_frame();
    std::erase_if(lines_, [&](const auto& item) { return frames_.is_expired(item.second.asked); });
}

std::string ShapedLines::missing_font() const {
    const auto lacking = std::ranges::find_if(
        lines_, [](const auto& item) { return item.second.shaped.missing_character != 0; });
    if (lacking == lines_.end())
        return {};
    const char32_t c = lacking->second.shaped.missing_character;
    struct Range {
        char32_t first, last;
        const char* package;
    };
    static constexpr std::array ranges{
        Range{0x1100, 0x11FF, "fonts-noto-cjk"},  Range{0x2E80, 0x9FFF, "fonts-noto-cjk"},
        Range{0xA960, 0xA97F, "fonts-noto-cjk"},  Range{0xAC00, 0xD7FF, "fonts-noto-cjk"},
        Range{0xF900, 0xFAFF, "fonts-noto-cjk"},  Range{0xFE30, 0xFE4F, "fonts-noto-cjk"},
        Range{0xFF00, 0xFFEF, "fonts-noto-cjk"},  Range{0x1F000, 0x1FAFF, "fonts-noto-color-emoji"},
        Range{0x20000, 0x3FFFF, "fonts-noto-cjk"}};
    const auto found =
        std::ranges::find_if(ranges, [c](const Range& one) { return c >= one.first && c <= one.last; });
    return found == ranges.end() ? "fonts-noto-core" : found->package;
}

} // namespace headscope::app
