#include "app/shell/fonts.h"

#include "app/shell/font_files.h"
#include "core/base/error.h"

#include <imgui_freetype.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

namespace headscope {
namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr std::size_t plane = 0x10000; // ImWchar has 16 bits

struct Face {
    const char* family;
    int weight;
    bool monospace;
};
constexpr std::array<Face, 5> faces = {{{"Inter", 400, false},
                                        {"Inter", 500, false},
                                        {"Inter", 600, false},
                                        {"JetBrains Mono", 400, true},
                                        {"JetBrains Mono", 600, true}}};

// The sizes of assets/theme/tokens.json that each role is used at; others are scaled from the nearest.
const std::array<std::vector<float>, 5> sizes = {{{12, 12.5F, 13, 13.5F, 14.5F},
                                                  {12.5F, 13, 13.5F},
                                                  {12.5F, 13, 14.5F, 15, 17, 20, 22},
                                                  {12, 12.5F, 13, 14, 15},
                                                  {12.5F, 13, 15, 34}}};

// Beyond ASCII and Latin-1: what the program's own texts are written with.
constexpr const char* symbols = "–—‘’“”•…‹›‖−×·÷√∛∞∂∇∈∉∑∏∝∘⊙⊕⊗≈≠≡≤≥≪≫±∓∥⟨⟩‑"
                                "ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ₀₁₂₃₄₅₆₇₈₉₋₊ₐₑₕᵢⱼₖₗₘₙₒₚₛₜᵥₓ"
                                "ΔΣΩΦΨΘΛΠαβγδεθλμπρσςτφχψω"
                                "←↑→↓↔↕⇄⇅↦↩↪⟲⟳↵⇥⌫␣⌘"
                                "▲△▶▷▸▼▽▾◀◁◂●○◌◆◇■□▢▣▪▫☰"
                                "⚠✓✔✕✗✘★☆⏎ŁłŒœŠšŽžĞğİıŞşĀāĒēĪīŌōŪū\xEF\xBF\xBD";

template<class Visit>
void each_code_point(std::string_view text, Visit visit) {
    const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    auto left = static_cast<utf8proc_ssize_t>(text.size());
    while (left > 0) {
        utf8proc_int32_t code_point = -1;
        const utf8proc_ssize_t used = std::max<utf8proc_ssize_t>(1, utf8proc_iterate(at, left, &code_point));
        if (code_point >= 0)
            visit(static_cast<char32_t>(code_point));
        at += used;
        left -= used;
    }
}

// ImGui wants pairs of first and last, ended by 0.
ImVector<ImWchar> ranges_of(const std::bitset<plane>& set) {
    ImVector<ImWchar> ranges;
    for (std::size_t c = 1; c < plane; ++c) {
        if (!set[c])
            continue;
        ranges.push_back(static_cast<ImWchar>(c));
        while (c + 1 < plane && set[c + 1])
            ++c;
        ranges.push_back(static_cast<ImWchar>(c));
    }
    ranges.push_back(0);
    return ranges;
}

} // namespace

struct FontBook::Impl {
    struct Source {
        std::unique_ptr<FontFile> file;
        ImVector<ImWchar> ranges;
    };
    struct Baked {
        float size = 0; // logical
        ImFont* font = nullptr;
    };

    ImFontAtlas atlas;
    std::array<Source, faces.size()> own;
    Source behind;                // DejaVu Sans
    std::vector<Source> fallback; // each with only its own characters
    std::map<std::string, std::bitset<plane>> fallback_set;
    std::bitset<plane> wanted, nowhere, baked_set;
    std::array<std::vector<Baked>, faces.size()> baked;
    float scale = 0;
    bool fresh = false;

    Impl() {
        for (std::size_t i = 0; i < faces.size(); ++i)
            own[i].file = open(match_font(faces[i].family, faces[i].weight, faces[i].monospace));
        behind.file = open(match_font("DejaVu Sans", 400, false));
        for (std::size_t c = 0x20; c < 0x100; ++c)
            if (c < 0x7F || c >= 0xA0)
                wanted.set(c);
        each_code_point(symbols, [&](char32_t c) { wanted.set(c); });
    }

    static std::unique_ptr<FontFile> open(const FontChoice& choice) {
        return std::make_unique<FontFile>(choice.path, choice.index);
    }

    bool in_own_faces(char32_t c) const {
        return behind.file->has(c) ||
               std::ranges::all_of(own, [&](const Source& source) { return source.file->has(c); });
    }

    // Finds a font for each wanted character that is neither in our own fonts nor known to be nowhere.
    void look_up() {
        std::vector<char32_t> unknown;
        for (std::size_t c = 0; c < plane; ++c)
            if (wanted[c] && !baked_set[c] && !nowhere[c] && !in_own_faces(static_cast<char32_t>(c)))
                unknown.push_back(static_cast<char32_t>(c));
        if (unknown.empty())
            return;
        for (const char32_t c : unknown)
            nowhere.set(c);
        for (const Fallback& found : find_fallbacks(unknown)) {
            const std::string name = found.file.path + ':' + std::to_string(found.file.index);
            auto& set = fallback_set[name];
            if (set.none())
                fallback.push_back({open(found.file), {}});
            for (const char32_t c : found.code_points) {
                set.set(c);
                nowhere.reset(c);
            }
        }
        for (Source& source : fallback)
            source.ranges =
                ranges_of(fallback_set[source.file->path() + ':' + std::to_string(source.file->index())]);
    }

    ImFont* add(Source& source, float pixels, bool merge) {
        ImFontConfig config;
        config.FontDataOwnedByAtlas = false;
        config.FontNo = source.file->index();
        config.MergeMode = merge;
        config.OversampleH = 1;
        return atlas.AddFontFromMemoryTTF(source.file->bytes().data(),
                                          static_cast<int>(source.file->bytes().size()),
                                          pixels * source.file->line_height(), &config, source.ranges.Data);
    }

    // Gives every glyph its place in a line one em high with the baseline where capitals stand in the middle.
    static void set_line(ImFont& font, float pixels) {
        const float baseline = std::round(baseline_for(pixels / 2, pixels));
        const float shift = baseline - std::round(font.Ascent);
        for (ImFontGlyph& glyph : font.Glyphs) {
            glyph.Y0 += shift;
            glyph.Y1 += shift;
        }
        font.FontSize = pixels;
        font.Ascent = baseline;
        font.Descent = baseline - pixels;
    }

    void bake() {
        atlas.Clear();
        atlas.Flags = ImFontAtlasFlags_NoMouseCursors;
        atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
        atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
        atlas.TexDesiredWidth = 2048;
        const ImVector<ImWchar> ranges = ranges_of(wanted);
        behind.ranges = ranges;
        for (std::size_t role = 0; role < faces.size(); ++role) {
            own[role].ranges = ranges;
            baked[role].clear();
            for (const float size : sizes[role]) {
                baked[role].push_back({size, add(own[role], size * scale, false)});
                add(behind, size * scale, true);
                for (Source& source : fallback)
                    add(source, size * scale, true);
            }
        }
        if (!atlas.Build())
            throw Error(ErrorKind::machine, "the fonts of this system can't be drawn by FreeType");
        for (const auto& role : baked)
            for (const Baked& one : role)
                set_line(*one.font, one.size * scale);
        baked_set = wanted;
        fresh = true;
    }
};

FontBook::FontBook() : impl_(std::make_unique<Impl>()) {}
FontBook::~FontBook() = default;

bool FontBook::refresh(float scale) {
    if (!stale() && scale == impl_->scale)
        return false;
    impl_->scale = scale;
    impl_->look_up();
    impl_->bake();
    return true;
}

void FontBook::need(std::string_view text) {
    if (std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; }))
        return;
    each_code_point(text, [&](char32_t c) {
        if (c >= 0xA0 && c < plane && !impl_->wanted[c]) {
            impl_->wanted.set(c);
            impl_->fresh = false;
        }
    });
}

bool FontBook::stale() const {
    return !impl_->fresh;
}

bool FontBook::has(char32_t code_point) const {
    return code_point < plane && code_point != replacement && impl_->baked_set[code_point] &&
           !impl_->nowhere[code_point];
}

ImFont* FontBook::font(Font role, float size) const {
    const auto& fonts = impl_->baked[static_cast<std::size_t>(role)];
    return std::ranges::min_element(fonts, {},
                                    [&](const Impl::Baked& one) { return std::abs(one.size - size); })
        ->font;
}

ImFontAtlas& FontBook::atlas() const {
    return impl_->atlas;
}

} // namespace headscope
