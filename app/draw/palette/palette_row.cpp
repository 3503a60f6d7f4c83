#include "app/draw/palette/palette.h"

#include "app/draw/kit/format.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float edge = 20, kind_width = 100, title_size = 13.5F, detail_size = 12.5F, cap_size = 12;

/// The key caps: "Ctrl", "Shift", "Page up". Each modifier key has its own cap.
std::vector<std::string> caps_of(std::string keys) {
    std::vector<std::string> caps;
    for (bool held = true; held;) {
        held = false;
        for (const char* one : {"Ctrl ", "Alt ", "Shift "})
            if (keys.starts_with(one)) {
                caps.emplace_back(one, std::string_view(one).size() - 1);
                keys.erase(0, std::string_view(one).size());
                held = true;
            }
    }
    if (!keys.empty())
        caps.push_back(std::move(keys));
    return caps;
}

/// Draws the keys right-aligned at `right`. Returns their left edge.
float draw_caps(figure::Scene& scene, const std::string& keys, float right, const Theme& theme,
                const figure::TextMeasure& measure) {
    std::vector<std::string> caps = caps_of(keys);
    for (const std::string& cap : std::vector(caps.rbegin(), caps.rend())) {
        const float width = std::max(measure(cap, figure::Font::mono, cap_size) + 12, 20.0F);
        scene.add(figure::RectItem{.area = {right - width, palette_row / 2 - 10, width, 20},
                                   .fill = theme.raise,
                                   .stroke = theme.line2,
                                   .radius = 4});
        add_text(scene, {right - width / 2, figure::baseline_for(palette_row / 2, cap_size)}, cap,
                 figure::Font::mono, cap_size, theme.text, figure::Align::center);
        right -= width + 5;
    }
    return right;
}

/// Draws the part of a text that fits, with "…" in the middle; nothing if too little would remain. Returns
/// its width.
float draw_cut(figure::Scene& scene, const std::string& text, figure::Point at, float room, float size,
               figure::Color colour, const figure::TextMeasure& measure) {
    constexpr int least = 12;
    std::string cut = text;
    for (int most = columns(text); measure(cut, figure::Font::ui, size) > room;) {
        if (--most < least)
            return 0;
        cut = shortened(text, most);
    }
    const float width = measure(cut, figure::Font::ui, size);
    add_text(scene, at, std::move(cut), figure::Font::ui, size, colour);
    return width;
}

/// Draws the title from x on, as far as it fits, with the matched letters bold and underlined. Returns its
/// right edge.
float draw_title(figure::Scene& scene, const PaletteRow& row, float x, float room, figure::Color colour,
                 const figure::TextMeasure& measure) {
    const std::string& title = row.entry->title;
    const float baseline = figure::baseline_for(palette_row / 2, title_size);
    if (measure(title, figure::Font::ui_semibold, title_size) > room)
        return x + draw_cut(scene, title, {x, baseline}, room, title_size, colour, measure);
    const auto piece = [&](std::size_t begin, std::size_t end, bool marked) {
        if (begin == end)
            return;
        const std::string text = title.substr(begin, end - begin);
        const figure::Font font = marked ? figure::Font::ui_semibold : figure::Font::ui;
        const float width = measure(text, font, title_size);
        add_text(scene, {x, baseline}, text, font, title_size, colour);
        if (marked)
            scene.add(figure::LineItem{{x, baseline + 3}, {x + width, baseline + 3}, colour, 1});
        x += width;
    };
    std::size_t done = 0;
    for (const auto& [begin, end] : row.marks) {
        piece(done, begin, false);
        piece(begin, end, true);
        done = end;
    }
    piece(done, title.size(), false);
    return x;
}

} // namespace

figure::Scene draw_palette_row(const PaletteRow& row, bool highlighted, float width, const Theme& theme,
                               const figure::TextMeasure& measure) {
    const PaletteEntry& entry = *row.entry;
    const bool can = entry.disabled_reason.empty();
    figure::Scene scene;
    scene.width = width;
    scene.height = palette_row;
    if (highlighted) {
        scene.add(
            figure::RectItem{.area = {8, 0, width - 16, palette_row}, .fill = theme.highlight, .radius = 4});
        scene.add(figure::RectItem{.area = {8, 0, 3, palette_row}, .fill = theme.ink});
    }
    add_text(scene, {edge, figure::baseline_for(palette_row / 2, cap_size)}, entry.label, figure::Font::mono,
             cap_size, theme.muted);
    const float right = draw_caps(scene, entry.keys, width - edge, theme, measure);
    const float x = edge + kind_width;
    const float end = draw_title(scene, row, x, right - x, can ? theme.ink : theme.muted, measure) + 14;
    const std::string& detail = can ? entry.detail : entry.disabled_reason;
    draw_cut(scene, detail, {end, figure::baseline_for(palette_row / 2, detail_size)}, right - end,
             detail_size, theme.muted, measure);
    return scene;
}

} // namespace headscope::app
