#include "app/draw/kit/controls.h"

#include "app/draw/kit/sheet.h"
#include "app/draw/kit/strip_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float segment_pad = 11.0F;
constexpr float segment_height = 28.0F;
constexpr float control_text = 13.0F;

/// The largest size up to 22 at which a title fits, but not below smallest_title.
float title_size(const DrawContext& context, const std::string& title, float room) {
    float size = 22;
    while (size > smallest_title && context.measure(title, figure::Font::ui_semibold, size) > room)
        size -= 1;
    return size;
}

} // namespace

float segmented_width(const DrawContext& context, const std::vector<Segment>& segments) {
    float width = 4.0F;
    for (const Segment& segment : segments)
        width += context.measure(segment.label, figure::Font::ui_semibold, control_text) + 2 * segment_pad;
    return width;
}

void draw_segmented(Picture& picture, const DrawContext& context, float x, float y,
                    const std::vector<Segment>& segments) {
    if (!context.controls)
        return;
    const Theme& theme = context.theme;
    picture.scene.add(figure::RectItem{.area = {x, y, segmented_width(context, segments), segment_height},
                                       .fill = theme.panel,
                                       .stroke = theme.line2,
                                       .radius = 6});
    float at = x + 2;
    for (const Segment& segment : segments) {
        const float width =
            context.measure(segment.label, figure::Font::ui_semibold, control_text) + 2 * segment_pad;
        const figure::Rect area{at, y + 2, width, segment_height - 4};
        if (segment.on)
            picture.scene.add(figure::RectItem{.area = area, .fill = theme.ink, .radius = 4});
        const float middle = at + width / 2,
                    baseline = figure::baseline_for(y + segment_height / 2, control_text);
        const figure::Color colour = segment.on ? theme.canvas : theme.muted;
        const float taken = draw_text(picture, context, middle, baseline, segment.label,
                                      segment.on ? figure::Font::ui_semibold : figure::Font::ui_medium,
                                      control_text, colour, figure::Align::center);
        if (segment.struck_through)
            strike_out(picture, middle, baseline, taken, control_text, colour, figure::Align::center);
        picture.add_hotspot(area, segment.label, segment.action, segment.tip);
        at += width;
    }
}

void draw_strip_tabs(Picture& picture, const DrawContext& context, const std::vector<Segment>& tabs,
                     float gap, const std::string& prefix, const std::string& words) {
    const Theme& theme = context.theme;
    constexpr float size = 13, words_size = 12.5F, pad = 28, narrow_pad = 12, between = 20;
    const float height = context.height;
    std::vector<float> widths;
    for (const Segment& tab : tabs)
        widths.push_back(context.measure(tab.label, figure::Font::ui_semibold, size));
    const float length =
        std::reduce(widths.begin(), widths.end()) + gap * static_cast<float>(tabs.size() - 1);
    const float edge = length + 2 * pad > context.width ? narrow_pad : pad;
    const auto on = static_cast<std::size_t>(std::ranges::find(tabs, true, &Segment::on) - tabs.begin());
    const std::size_t current = on < tabs.size() ? on : 0;
    const StripLayout places = lay_out_strip(widths, gap, edge, context.width, current);
    if (places.more_before || places.more_after)
        picture.scene.add(figure::ClipItem{{0, 0, context.width, height}});
    for (std::size_t n = 0; n < tabs.size(); ++n) {
        const Segment& tab = tabs[n];
        const float x = places.left[n];
        draw_text(picture, context, x, figure::baseline_for(height / 2 - 1, size), tab.label,
                  tab.on ? figure::Font::ui_semibold : figure::Font::ui_medium, size,
                  tab.on ? theme.ink : theme.muted);
        if (tab.on)
            picture.scene.add(figure::RectItem{.area = {x, height - 2, widths[n], 2}, .fill = theme.ink});
        if (const figure::Rect spot = clickable_name_area(places, x - gap / 2, widths[n] + gap, height);
            spot.w > 0)
            picture.add_hotspot(spot, prefix + tab.label, tab.action, tab.tip);
    }
    if (places.more_before || places.more_after)
        picture.scene.add(figure::ClipItem{});
    const auto step = [&](const std::string& label, std::size_t to) {
        const Segment& tab = tabs[std::min(to, tabs.size() - 1)];
        return Hotspot{{}, prefix + label, tab.action, tab.tip.empty() ? tab.label : tab.tip};
    };
    draw_strip_buttons(picture, theme, places, context.width, height,
                       step("tab before", current == 0 ? 0 : current - 1), step("next tab", current + 1));
    const float x = places.left.back() + widths.back() + gap;
    if (!words.empty() && x + context.measure(words, figure::Font::ui, words_size) + between < context.width)
        draw_text(picture, context, context.width - pad, figure::baseline_for(height / 2 - 1, words_size),
                  words, figure::Font::ui, words_size, theme.muted, figure::Align::right);
}

void draw_button(Picture& picture, const DrawContext& context, const figure::Rect& area,
                 const std::string& label, const Action& action, bool primary, const std::string& tip) {
    if (!context.controls)
        return;
    const Theme& theme = context.theme;
    picture.scene.add(figure::RectItem{.area = area,
                                       .fill = primary ? theme.ink : theme.raise,
                                       .stroke = primary ? theme.ink : theme.line2,
                                       .radius = 6});
    draw_text(picture, context, area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, control_text),
              label, figure::Font::ui_semibold, control_text, primary ? theme.canvas : theme.ink,
              figure::Align::center);
    picture.add_hotspot(area, label, action, tip);
}

float draw_text_button(Picture& picture, const DrawContext& context, float x, float y,
                       const std::string& label, bool on, const Action& action, const std::string& tip) {
    const Theme& theme = context.theme;
    const float width = context.measure(label, figure::Font::ui_medium, 12.5F) + 16;
    if (!context.controls)
        return width;
    const figure::Rect area{x, y, width, 24};
    picture.scene.add(figure::RectItem{.area = area,
                                       .fill = on ? theme.highlight : theme.raise,
                                       .stroke = on ? theme.ink : theme.line2,
                                       .radius = 4});
    if (on) // as for an open tab
        picture.scene.add(figure::RectItem{.area = {x + 4, y + 21, width - 8, 2}, .fill = theme.ink});
    draw_text(picture, context, x + width / 2, figure::baseline_for(y + 12, 12.5F), label,
              figure::Font::ui_medium, 12.5F, on ? theme.ink : theme.text, figure::Align::center);
    picture.add_hotspot(area, label, action, tip);
    return width;
}

void draw_track(Picture& picture, const DrawContext& context, const figure::Rect& track, Slider slider,
                figure::Color colour) {
    const Theme& theme = context.theme;
    figure::Scene& scene = picture.scene;
    const auto place = [&](float value) {
        return track.x + track.w * std::clamp((value - slider.low) / (slider.high - slider.low), 0.0F, 1.0F);
    };
    scene.add(figure::RectItem{.area = track, .fill = theme.line2, .radius = 2});
    scene.add(figure::RectItem{
        .area = {track.x, track.y, place(slider.value) - track.x, track.h}, .fill = colour, .radius = 2});
    scene.add(figure::RectItem{.area = {place(slider.default_value) - 0.5F, track.y - 4, 1, 12},
                               .fill = theme.muted});
    const float knob = place(slider.value);
    scene.add(figure::RectItem{.area = {knob - 8, track.y - 6, 16, 16},
                               .fill = theme.raise,
                               .stroke = theme.ink,
                               .stroke_width = 2,
                               .radius = 8});
    slider.track = {track.x, track.y - 10, track.w, 24};
    picture.sliders.push_back(std::move(slider));
}

float round_to_grain(float value, float grain) {
    // Division instead of multiplication: in float32, 80 * 0.01 is 0.79999995, but 80 / 100 is 0.8.
    return std::round(value / grain) / std::round(1 / std::min(grain, 1.0F)) * std::max(grain, 1.0F);
}

float Slider::stepped(const ControlSteps& steps) const {
    const float coarse = std::max(round_to_grain((high - low) / 20, grain), grain);
    return value + static_cast<float>(steps.sum()) * (steps.fine ? grain : coarse);
}

void draw_chevron(figure::Scene& scene, figure::Point tip, Pointing where, figure::Color colour, float reach,
                  float thick) {
    const float back = where == Pointing::right ? -reach : reach;
    const figure::Point from = where == Pointing::down ? figure::Point{tip.x - reach, tip.y - reach}
                                                       : figure::Point{tip.x + back, tip.y - reach},
                        to = where == Pointing::down ? figure::Point{tip.x + reach, tip.y - reach}
                                                     : figure::Point{tip.x + back, tip.y + reach};
    scene.add(figure::LineItem{from, tip, colour, thick});
    scene.add(figure::LineItem{tip, to, colour, thick});
}

float draw_text(Picture& picture, const DrawContext& context, float x, float baseline,
                const std::string& text, figure::Font font, float size, figure::Color color,
                figure::Align align) {
    add_text(picture.scene, {x, baseline}, text, font, size, color, align);
    return context.measure(text, font, size);
}

void strike_out(Picture& picture, float x, float baseline, float width, float size, figure::Color color,
                figure::Align align) {
    const float left = align == figure::Align::left    ? x
                       : align == figure::Align::right ? x - width
                                                       : x - width / 2;
    const float y = std::round(baseline - 0.32F * size); // crosses both lowercase and uppercase letters
    picture.scene.add(figure::LineItem{{left - 1, y}, {left + width + 1, y}, color, 1.5F});
}

std::vector<std::string> wrapped(const std::string& text, float width, const figure::TextMeasure& measure,
                                 figure::Font font, float size) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (lines.empty() || measure(lines.back() + " " + word, font, size) > width)
            lines.push_back(word);
        else
            lines.back() += " " + word;
        begin = end + 1;
    }
    return lines;
}

float draw_paragraph(Picture& picture, const DrawContext& context, float x, float baseline, float width,
                     const std::string& text, figure::Font font, float size, float line_height,
                     figure::Color color) {
    for (const std::string& line : wrapped(text, width, context.measure, font, size)) {
        draw_text(picture, context, x, baseline, line, font, size, color);
        baseline += line_height;
    }
    return baseline;
}

void draw_hairline(Picture& picture, const DrawContext& context, float x, float y, float width) {
    picture.scene.add(figure::LineItem{{x, y}, {x + width, y}, context.theme.line, 1});
}

void draw_arrow(Picture& picture, const DrawContext& context, float x, float y, float length,
                const std::string& caption) {
    const figure::Color color = context.theme.line2;
    const float tip = x + length;
    picture.scene.add(figure::LineItem{{x, y}, {tip, y}, color, 2});
    picture.scene.add(figure::LineItem{{tip - 7, y - 5}, {tip, y}, color, 2});
    picture.scene.add(figure::LineItem{{tip - 7, y + 5}, {tip, y}, color, 2});
    if (!caption.empty())
        draw_text(picture, context, x + length / 2, y - 9, caption, figure::Font::ui, 12.5F,
                  context.theme.muted, figure::Align::center);
}

void draw_view_heading(Picture& picture, const DrawContext& context, const std::string& title,
                       const std::string& formula, float controls) {
    if (!context.heading)
        return;
    constexpr float least = 40, apart = 12; // room for a few readable letters
    const float room = context.width - 2 * canvas_pad;
    const auto put = [&](const std::string& text, const std::string& fitting, float baseline,
                         figure::Font font, float size, float most, figure::Color color) {
        const std::string shown = most < least ? "" : fitting;
        draw_text(picture, context, canvas_pad, baseline, shown, font, size, color);
        if (shown != text && most >= least)
            picture.tips.push_back({{canvas_pad, baseline - size, most, 1.3F * size}, text});
    };
    const float title_room = controls > 0 ? room - controls - apart : room;
    constexpr figure::Font bold = figure::Font::ui_semibold, mono = figure::Font::mono;
    const float size = title_size(context, title, title_room);
    put(title, fitted(context, title, bold, size, title_room), 52, bold, size, title_room, context.theme.ink);
    // A slightly too wide formula shrinks; a longer one loses its last words.
    const float formula_size = context.measure(formula, mono, 13) <= room ? 13 : 12;
    put(formula, fitted_words(context, formula, mono, formula_size, room), 78, mono, formula_size, room,
        context.theme.muted);
}

Picture empty_view(const DrawContext& context) {
    Picture picture;
    picture.scene.width = context.width;
    picture.scene.height = context.height;
    return picture;
}

void draw_message(Picture& picture, const DrawContext& context, const std::string& text, bool fault,
                  float baseline) {
    draw_paragraph(picture, context, canvas_pad, baseline, context.width - 2 * canvas_pad, text,
                   figure::Font::ui, 13.5F, 20, fault ? context.theme.bad : context.theme.muted);
}

Picture message_view(const DrawContext& context, const std::string& title, const std::string& text,
                     bool fault) {
    Picture picture = empty_view(context);
    draw_view_heading(picture, context, title, "");
    draw_message(picture, context, text, fault);
    return picture;
}

} // namespace headscope::app
