#include "app/shell/fonts/fonts.h"

#include "app/shell/fonts/font_bake.h"
#include "app/shell/fonts/font_files.h"
#include "app/shell/fonts/sized_fonts.h"
#include "core/base/error.h"
#include "core/text/one_line.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <map>
#include <vector>

namespace headscope::app {
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

// The sizes of body text, controls and cells, and those that Dear ImGui itself uses: baked with all
// characters. Glyphs of other sizes are added when they are drawn.
const std::array<std::vector<float>, 5> sizes = {{{12, 12.5F, 13, 13.5F, 14.5F, 15},
                                                  {12.5F, 13, 13.5F},
                                                  {12.5F, 13, 14.5F},
                                                  {12, 12.5F, 13, 14, 15},
                                                  {12.5F, 13, 15}}};
constexpr float usual_spare = 0.25F, most_spare = 8; // rows for those glyphs, as a fraction of the other rows

// Characters of the program's own texts besides ASCII and Latin-1.
constexpr const char* symbols = "–—‘’“”•…‹›‖−×·÷√∛∞∂∇∈∉∑∏∝∘⊙⊕⊗≈≠≡≤≥≪≫±∓∥⟨⟩‑"
                                "ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ₀₁₂₃₄₅₆₇₈₉₋₊ₐₑₕᵢⱼₖₗₘₙₒₚₛₜᵥₓ"
                                "ΔΣΩΦΨΘΛΠαβγδεθλμπρσςτφχψω"
                                "←↑→↓↔↕⇄⇅↦↩↪⟲⟳↵⇥⌫␣⌘"
                                "▲△▶▷▸▼▽▾◀◁◂●○◌◆◇■□▢▣▪▫☰"
                                "⚠✓✔✕✗✘★☆⏎\xEF\xBF\xBD";

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

} // namespace

struct FontBook::Impl {
    struct Baked {
        float size = 0; // logical pixels
        ImFont* font = nullptr;
    };

    ImFontAtlas atlas;
    std::array<std::unique_ptr<FontFile>, faces.size()> own;
    std::unique_ptr<FontFile> behind; // DejaVu Sans, the first fallback
    std::map<std::pair<std::string, int>, std::unique_ptr<FontFile>> others;
    std::map<char32_t, FontFile*> other_for; // for characters that neither our own fonts nor DejaVu Sans have
    std::bitset<plane> wanted, nowhere, baked_set;
    std::array<std::vector<Baked>, faces.size()> baked;
    SizedFonts sized;
    float scale = 0, spare = usual_spare;
    int frames = 0; // since the last bake
    bool fresh = false, crowded = false;

    Impl() {
        for (std::size_t i = 0; i < faces.size(); ++i)
            own[i] = open(match_font(faces[i].family, faces[i].weight, faces[i].monospace));
        behind = open(match_font("DejaVu Sans", 400, false));
        for (std::size_t c = 0x20; c < 0x100; ++c)
            if (c < 0x7F || c >= 0xA0)
                wanted.set(c);
        each_code_point(symbols, [&](char32_t c) { wanted.set(c); });
    }

    static std::unique_ptr<FontFile> open(const FontChoice& choice) {
        return std::make_unique<FontFile>(choice.path, choice.index);
    }

    bool in_own_fonts(char32_t c) const {
        return behind->has(c) || std::ranges::all_of(own, [&](const auto& file) { return file->has(c); });
    }

    // Finds a font for each requested character that is neither in our own fonts nor known to be in no font.
    void look_up() {
        std::vector<char32_t> unknown;
        for (char32_t c = 0; c < plane; ++c)
            if (wanted[c] && !baked_set[c] && !in_own_fonts(c))
                unknown.push_back(c);
        if (unknown.empty())
            return;
        for (const char32_t c : unknown)
            nowhere.set(c);
        for (const Fallback& found : find_fallbacks(unknown)) {
            auto& file = others[{found.file.path, found.file.index}];
            if (!file)
                file = open(found.file);
            for (const char32_t c : found.code_points) {
                if (!file->has(c))
                    continue;
                other_for[c] = file.get();
                nowhere.reset(c);
            }
        }
    }

    /// Draws the placeholder of a control character in a field as its visible symbol.
    void show_stand_ins() {
        for (const std::vector<Baked>& of_face : baked)
            for (const Baked& one : of_face)
                for (char32_t control = 0; control < 0x20; ++control)
                    if (const auto sign = static_cast<ImWchar>(text::control_sign(control));
                        one.font->FindGlyphNoFallback(sign) != nullptr)
                        one.font->AddRemapChar(static_cast<ImWchar>(text::field_placeholder(control)), sign);
    }

    FontFile* file_for(std::size_t role, char32_t c) const {
        if (own[role]->has(c))
            return own[role].get();
        if (behind->has(c))
            return behind.get();
        const auto other = other_for.find(c);
        return other == other_for.end() ? nullptr : other->second;
    }

    void bake() {
        std::vector<FontRequest> wishes;
        for (std::size_t role = 0; role < faces.size(); ++role) {
            FontRequest wish;
            for (char32_t c = 0; c < plane; ++c)
                if (wanted[c])
                    if (FontFile* file = file_for(role, c))
                        wish.glyphs.push_back({c, file});
            for (const float size : sizes[role]) {
                wish.pixels = size * scale;
                wishes.push_back(wish);
            }
        }
        sized.start(atlas, bake_fonts(atlas, wishes, spare));
        auto made = wishes.cbegin();
        for (std::size_t role = 0; role < faces.size(); ++role) {
            baked[role].clear();
            for (const float size : sizes[role])
                baked[role].push_back({size, (made++)->made});
        }
        show_stand_ins();
        baked_set = wanted;
        fresh = true;
        crowded = false;
        frames = 0;
    }
};

FontBook::FontBook() : impl_(std::make_unique<Impl>()) {}
FontBook::~FontBook() = default;

bool FontBook::refresh(float scale) {
    constexpr int one_screen = 3; // frames
    ++impl_->frames;
    if (!stale() && scale == impl_->scale)
        return false;
    if (scale != impl_->scale)
        impl_->spare = usual_spare;
    else if (impl_->crowded && impl_->frames <= one_screen)
        impl_->spare *= 2;
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
    return !impl_->fresh || impl_->crowded;
}

bool FontBook::has(char32_t code_point) const {
    return code_point < plane && code_point != replacement && impl_->baked_set[code_point] &&
           !impl_->nowhere[code_point];
}

bool FontBook::lacks_some_of(std::string_view text) const {
    bool lacks = false;
    each_code_point(
        text, [&](char32_t c) { lacks = lacks || (c < plane && c != replacement && impl_->nowhere[c]); });
    return lacks;
}

ImFont* FontBook::font(figure::Font role, float size) const {
    const auto& fonts = impl_->baked[static_cast<std::size_t>(role)];
    // Most sizes are baked.
    if (const auto exact = std::ranges::find(fonts, size, &Impl::Baked::size); exact != fonts.end())
        return exact->font;
    return std::ranges::min_element(fonts, {},
                                    [&](const Impl::Baked& one) { return std::abs(one.size - size); })
        ->font;
}

ImFont* FontBook::font_for(std::string_view text, figure::Font role, float size) {
    ImFont* const nearest = font(role, size);
    const float pixels = size * impl_->scale;
    if (std::abs(nearest->FontSize - pixels) < 0.01F)
        return nearest;
    const auto file_of = [&](char32_t c) { return impl_->file_for(static_cast<std::size_t>(role), c); };
    ImFont* const exact = impl_->sized.find(text, role, pixels, file_of, replacement);
    if (exact == nullptr)
        impl_->crowded = impl_->spare < most_spare;
    return exact == nullptr ? nearest : exact;
}

std::pair<int, int> FontBook::take_changed_rows() {
    return impl_->sized.take_changed_rows();
}

ImFontAtlas& FontBook::atlas() const {
    return impl_->atlas;
}

} // namespace headscope::app
