#include "app/commands/actions.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

struct Switch {
    std::string label, key, tip;
    bool on;
    AttentionChange change;
};

/// A check box with its name and its key.
void draw_switch(Sheet& sheet, const Switch& one) {
    const Theme& theme = sheet.context.theme;
    constexpr float box = 15, height = 28;
    const float middle = sheet.y + height / 2;
    const figure::Rect area{sheet.left, middle - box / 2, box, box};
    sheet.picture.scene.add(figure::RectItem{.area = area,
                                             .fill = one.on ? theme.ink : theme.raise,
                                             .stroke = one.on ? theme.ink : theme.muted,
                                             .radius = 3});
    if (one.on) {
        const figure::Point corner{area.x + 6.5F, area.y + 11};
        sheet.picture.scene.add(figure::LineItem{{area.x + 3.5F, area.y + 7.5F}, corner, theme.canvas, 2});
        sheet.picture.scene.add(figure::LineItem{corner, {area.x + 12, area.y + 4}, theme.canvas, 2});
    }
    const float top = sheet.y;
    sheet.y += 1;
    const float key = sheet.put(sheet.right, one.key, sheet.width() / 2, figure::Font::mono, 12, theme.muted,
                                figure::Align::right);
    sheet.put(sheet.left + 26, one.label, sheet.width() - 26 - key - 12,
              one.on ? figure::Font::ui_semibold : figure::Font::ui, 13, theme.ink);
    sheet.picture.add_hotspot({sheet.left - 12, top, sheet.width() + 24, height}, one.label, one.change,
                              one.key.empty() ? one.tip : one.tip + " (" + one.key + ")");
    sheet.y = top + height;
}

} // namespace

void draw_reading_switches(Sheet& sheet) {
    const AttentionView& view = sheet.context.view.attention;
    const bool on_map = screen_of(sheet.context.shown, sheet.context.view) == Screen::map;
    const auto key_of = [on_map](std::string_view id) {
        return on_map && is_map_key(action(id).keys.front()) ? std::string() : key_hint(id);
    };
    sheet.section(tr("reading_switches.how_read", "Filters and means"),
                  tr("reading_switches.key_keyboard", "key"));
    for (const analysis::ReadingInfo& reading : analysis::readings())
        if (view.possible.*reading.option)
            draw_switch(sheet, {tr(reading.title), key_of(reading.id), tr(reading.does),
                                view.reading.*reading.option,
                                SetReadingOptions{analysis::turned(view.reading, reading.option)}});
    if (!on_map) // the map has its own switch for it
        draw_switch(sheet,
                    {tr("reading_switches.log_colour_scale", "Log color scale"), key_hint("log colours"),
                     tr("reading_switches.colours_logarithm_10",
                        "Colors by the logarithm, from a 10,000th of the largest up. Small weights become "
                        "visible, but large ones are harder to tell apart"),
                     view.log_colours, SetLogColours{!view.log_colours}});
    if (sheet.context.shown.document->is_checkpoint()) {
        sheet.y += 6;
        sheet.paragraph(tr("reading_switches.looking_model_computes",
                           "This changes only what is shown: the model uses its own weights, and the other "
                           "stages and the predictions stay the same."),
                        sheet.context.theme.muted);
    }
    sheet.y += 4;
}

} // namespace headscope::app
