#include "app/draw/panels/token_chips.h"

#include "app/commands/model_action.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

/// Chips with text, side by side, in lines as wide as the sheet.
class ChipRow {
public:
    static constexpr float pad = 5, height = 22;

    explicit ChipRow(Sheet& of) : sheet(of), x(of.left) {}

    struct Chip {
        std::string text; ///< the text, shortened to fit
        figure::Rect area;
    };
    /// The position of the next chip.
    Chip next(const std::string& words) {
        std::string text = fitted(sheet.context, words, figure::Font::ui, size, sheet.width() - 2 * pad);
        const float width = sheet.context.measure(text, figure::Font::ui, size) + 2 * pad;
        if (x + width > sheet.right && x > sheet.left) {
            x = sheet.left;
            sheet.y += height + gap;
        }
        const figure::Rect area{x, sheet.y, width, height};
        x += width + gap;
        return {std::move(text), area};
    }

    void write(const Chip& chip, figure::Font font, figure::Color colour) {
        draw_text(sheet.picture, sheet.context, chip.area.x + pad,
                  figure::baseline_for(chip.area.y + height / 2, size), chip.text, font, size, colour);
    }

private:
    static constexpr float size = 12.5F, gap = 3;
    Sheet& sheet;
    float x;
};

} // namespace

void write_tokens(Sheet& sheet, const std::vector<std::string>& tokens, std::int64_t written,
                  std::optional<std::int64_t> position) {
    const Theme& theme = sheet.context.theme;
    constexpr std::int64_t most = 160;
    const auto T = static_cast<std::int64_t>(tokens.size());
    // Shows only the part of a long text around the chosen token.
    const std::int64_t first =
        std::clamp<std::int64_t>(position.value_or(0) - most / 2, 0, std::max<std::int64_t>(T - most, 0));
    const std::int64_t last = std::min(T, first + most);
    ChipRow row(sheet);
    for (std::int64_t i = first; i < last; ++i) {
        const std::string& token = tokens[static_cast<std::size_t>(i)];
        const ChipRow::Chip chip = row.next(token);
        const figure::Rect& area = chip.area;
        const bool on = i == position;
        sheet.picture.scene.add(figure::RectItem{.area = area,
                                                 .fill = on ? theme.ink : theme.raise,
                                                 .stroke = on ? theme.ink : theme.line,
                                                 .radius = 4});
        row.write(chip, on ? figure::Font::ui_medium : figure::Font::ui, on ? theme.canvas : theme.ink);
        if (i >= written)
            sheet.picture.scene.add(figure::LineItem{{area.x + ChipRow::pad, area.bottom() - 3.5F},
                                                     {area.right() - ChipRow::pad, area.bottom() - 3.5F},
                                                     on ? theme.canvas : theme.muted,
                                                     1});
        const std::string tip = i >= written ? tr("token_chips.token_written_model",
                                                  "Token {}: {}, written by the model", i, token)
                                             : tr("token_chips.token", "Token {}: {}", i, token);
        if (position)
            sheet.picture.add_hotspot(area, "token " + std::to_string(i), PredictAt{i}, tip);
        else
            sheet.picture.tips.push_back({area, tip});
    }
    sheet.y += ChipRow::height + 10;
    if (last - first < T)
        sheet.paragraph(
            tr("common.tokens", "Tokens {} to {} of {}.", grouped(first), grouped(last - 1), grouped(T)),
            theme.muted);
}

void write_branch_tokens(Sheet& sheet, const std::vector<std::string>& tokens, const std::string& after,
                         const Action& action, const std::string& label) {
    const Theme& theme = sheet.context.theme;
    constexpr std::size_t most = 24;
    ChipRow row(sheet);
    const auto put = [&](const std::string& token, std::optional<std::size_t> place) {
        const ChipRow::Chip chip = row.next(token);
        const figure::Rect& area = chip.area;
        if (place)
            sheet.picture.scene.add(
                figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.line2, .radius = 4});
        row.write(chip, figure::Font::ui, theme.muted);
        if (place)
            sheet.picture.add_hotspot(area, label + ", token " + std::to_string(*place), action,
                                      tr("token_chips.goes_back_text_screen",
                                         "Returns to this text. The current text stays as another branch"));
    };
    put(after + " …", {});
    for (std::size_t i = 0; i < std::min(tokens.size(), most); ++i)
        put(tokens[i], i);
    if (tokens.size() > most)
        put(tr("token_chips.more", "and {} more", tokens.size() - most), {});
    sheet.y += ChipRow::height + 8;
}

} // namespace headscope::app
