#include "app/draw/panels/token_chips.h"

#include "app/commands/model_action.h"
#include "app/draw/kit/format.h"

#include <algorithm>

namespace headscope::app {

void write_tokens(Sheet& sheet, const std::vector<std::string>& tokens, std::int64_t written,
                  std::optional<std::int64_t> position) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    constexpr float size = 12.5F, pad = 5, gap = 3, height = 22;
    constexpr std::int64_t most = 160;
    const auto T = static_cast<std::int64_t>(tokens.size());
    // Shows only the part of a long text around the chosen token.
    const std::int64_t first =
        std::clamp<std::int64_t>(position.value_or(0) - most / 2, 0, std::max<std::int64_t>(T - most, 0));
    const std::int64_t last = std::min(T, first + most);
    float x = sheet.left;
    for (std::int64_t i = first; i < last; ++i) {
        const std::string& token = tokens[static_cast<std::size_t>(i)];
        const std::string text = fitted(context, token, figure::Font::ui, size, sheet.width() - 2 * pad);
        const float width = context.measure(text, figure::Font::ui, size) + 2 * pad;
        if (x + width > sheet.right && x > sheet.left) {
            x = sheet.left;
            sheet.y += height + gap;
        }
        const figure::Rect area{x, sheet.y, width, height};
        const bool on = i == position;
        sheet.picture.scene.add(figure::RectItem{.area = area,
                                                 .fill = on ? theme.ink : theme.raise,
                                                 .stroke = on ? theme.ink : theme.line,
                                                 .radius = 4});
        draw_text(sheet.picture, context, x + pad, figure::baseline_for(area.y + height / 2, size), text,
                  on ? figure::Font::ui_medium : figure::Font::ui, size, on ? theme.canvas : theme.ink);
        if (i >= written)
            sheet.picture.scene.add(figure::LineItem{{x + pad, area.bottom() - 3.5F},
                                                     {x + width - pad, area.bottom() - 3.5F},
                                                     on ? theme.canvas : theme.muted,
                                                     1});
        const std::string tip =
            "Token " + std::to_string(i) + ": " + token + (i >= written ? ", written by the model" : "");
        if (position)
            sheet.picture.hotspots.push_back(
                {area, "token " + std::to_string(i), ModelAction(PredictAt{i}), tip});
        else
            sheet.picture.tips.push_back({area, tip});
        x += width + gap;
    }
    sheet.y += height + 10;
    if (last - first < T)
        sheet.paragraph("Tokens " + grouped(first) + " to " + grouped(last - 1) + " of " + grouped(T) + ".",
                        theme.muted);
}

void write_branch_tokens(Sheet& sheet, const std::vector<std::string>& tokens, const std::string& after,
                         const Action& action, const std::string& label) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    constexpr float size = 12.5F, pad = 5, gap = 3, height = 22;
    constexpr std::size_t most = 24;
    float x = sheet.left;
    const auto put = [&](const std::string& token, std::optional<std::size_t> place) {
        const std::string text = fitted(context, token, figure::Font::ui, size, sheet.width() - 2 * pad);
        const float width = context.measure(text, figure::Font::ui, size) + 2 * pad;
        if (x + width > sheet.right && x > sheet.left) {
            x = sheet.left;
            sheet.y += height + gap;
        }
        const figure::Rect area{x, sheet.y, width, height};
        if (place)
            sheet.picture.scene.add(
                figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.line2, .radius = 4});
        draw_text(sheet.picture, context, x + pad, figure::baseline_for(area.y + height / 2, size), text,
                  figure::Font::ui, size, theme.muted);
        if (place)
            sheet.picture.hotspots.push_back(
                {area, label + ", token " + std::to_string(*place), action,
                 "Goes back to this text. What is on screen stays as another branch"});
        x += width + gap;
    };
    put(after + " …", {});
    for (std::size_t i = 0; i < std::min(tokens.size(), most); ++i)
        put(tokens[i], i);
    if (tokens.size() > most)
        put("and " + std::to_string(tokens.size() - most) + " more", {});
    sheet.y += height + 8;
}

} // namespace headscope::app
