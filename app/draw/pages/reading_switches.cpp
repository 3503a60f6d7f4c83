#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"

namespace headscope::app {

namespace {

struct Switch {
    const char *label, *key, *tip;
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
    sheet.put(sheet.left + 26, one.label, sheet.width() - 26 - (one.key[1] == 0 ? 20.0F : 64.0F),
              one.on ? figure::Font::ui_semibold : figure::Font::ui, 13, theme.ink);
    sheet.put(sheet.right, one.key, 70, figure::Font::mono, 12, theme.muted, figure::Align::right);
    sheet.picture.hotspots.push_back({{sheet.left - 12, top, sheet.width() + 24, height},
                                      one.label,
                                      ViewChange(one.change),
                                      std::string(one.tip) + " (" + one.key + ")"});
    sheet.y = top + height;
}

} // namespace

void draw_reading_switches(Sheet& sheet) {
    const AttentionView& view = sheet.context.view.attention;
    const analysis::ReadingOptions& possible = view.possible;
    const auto with = [&](bool analysis::ReadingOptions::*option) {
        analysis::ReadingOptions how = view.reading;
        how.*option = !(how.*option);
        return ReadWeights{how};
    };
    sheet.section("How they are read", "key");
    if (possible.hide_first_token)
        draw_switch(sheet,
                    {"First token hidden", "F",
                     "Takes out the weights to key 0 and divides each row by what is left: how much of "
                     "it lay on the first token is no longer seen",
                     view.reading.hide_first_token, with(&analysis::ReadingOptions::hide_first_token)});
    if (possible.hide_special_tokens)
        draw_switch(sheet,
                    {"Special tokens hidden", "S",
                     "Takes out the rows and columns of [CLS], </s> and their like and divides each row "
                     "by what is left: how much of it lay on them is no longer seen",
                     view.reading.hide_special_tokens, with(&analysis::ReadingOptions::hide_special_tokens)});
    if (possible.merge_words)
        draw_switch(sheet, {"Pieces merged into words", "P",
                            "Adds up the weights to the pieces of a word and averages those from them: which "
                            "piece reads and which is read is no longer seen",
                            view.reading.merge_words, with(&analysis::ReadingOptions::merge_words)});
    if (possible.means)
        draw_switch(sheet,
                    {"Means on the board", "Shift M",
                     "Adds the average over the heads of each layer, the layers of each head, and all: "
                     "what one head does alone is not seen in them",
                     view.reading.means, with(&analysis::ReadingOptions::means)});
    draw_switch(sheet, {"Log colour scale", "Shift C",
                        "Colours by the logarithm, from a 10,000th of the largest up, so that small weights "
                        "show: how much larger the large ones are is harder to see",
                        view.log_colours, SetLogColours{!view.log_colours}});
    if (sheet.context.shown.document->is_checkpoint()) {
        sheet.y += 6;
        sheet.paragraph(
            "This is for looking: the model computes with its own weights, and the other stages and the "
            "predictions never change with it.",
            sheet.context.theme.muted);
    }
    sheet.y += 4;
}

} // namespace headscope::app
