#include "app/commands/actions.h"
#include "app/views/action_context.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float key_row_high = 25, column_wide = 540, card_pad = 28, card_head = 64, keys_gap = 16;

/// A row of keys, or the title of a group of keys.
struct ListedRow {
    const KeyLine* line = nullptr;
    Message group = {};
};

std::vector<ListedRow> grouped_rows(const std::vector<KeyLine>& lines) {
    std::vector<ListedRow> rows;
    for (const KeyLine& line : lines) {
        if (rows.empty() || rows.back().line->group != line.group)
            rows.push_back({nullptr, line.group});
        rows.push_back({&line, {}});
    }
    return rows;
}

/// Divides the rows among columns. Each column starts with the title of a group.
std::vector<std::vector<ListedRow>> in_columns(const std::vector<ListedRow>& rows, std::size_t columns) {
    const std::size_t high = rows.size() / columns;
    const auto is_name = [](const ListedRow& row) { return row.line == nullptr; };
    std::vector<std::vector<ListedRow>> out(1);
    for (auto group = rows.begin(); group != rows.end();) {
        const auto end = std::find_if(group + 1, rows.end(), is_name);
        // A group stays in the column if more than half of it fits.
        if (out.size() < columns && !out.back().empty() &&
            out.back().size() + static_cast<std::size_t>(end - group) / 2 >= high)
            out.emplace_back();
        out.back().insert(out.back().end(), group, end);
        group = end;
    }
    return out;
}

float wide_of_keys(const KeyLine& line, const ViewTools& tools) {
    return tools.measure(line.keys, figure::Font::ui_semibold, 13) + keys_gap;
}

/// The width of the column of keys, for all rows except those with the longest keys.
float keys_room(const std::vector<KeyLine>& lines, const ViewTools& tools) {
    constexpr float least = 165, most = 190;
    float widest = least;
    for (const KeyLine& line : lines)
        if (const float wide = wide_of_keys(line, tools); wide <= most)
            widest = std::max(widest, wide);
    return widest;
}

void draw_key_row(figure::Scene& scene, const ListedRow& row, float x, float y, float end, float keys_wide,
                  const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const float baseline = figure::baseline_for(y + key_row_high / 2, 13);
    if (row.line == nullptr) {
        add_text(scene, {x, figure::baseline_for(y + key_row_high / 2 + 3, 12.5F)}, tr(row.group),
                 figure::Font::ui_semibold, 12.5F, theme.muted);
        return;
    }
    scene.add(figure::LineItem{{x, y}, {end, y}, theme.line, 1});
    add_text(scene, {x, baseline}, row.line->keys, figure::Font::ui_semibold, 13, theme.ink);
    // A long description shrinks instead of overlapping the next column.
    const std::string& what = row.line->what;
    keys_wide = std::max(keys_wide, wide_of_keys(*row.line, tools));
    const float room = end + 20 - x - keys_wide, wide = tools.measure(what, figure::Font::ui, 13);
    add_text(scene, {x + keys_wide, baseline}, what, figure::Font::ui, wide > room ? 13 * room / wide : 13.0F,
             theme.text);
}

} // namespace

void view_help(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const Theme& theme = tools.theme;
    std::vector<KeyLine> lines = key_lines(action_context(state));
    if (state.presentation.on) // the keys of a presentation come first
        std::stable_partition(lines.begin(), lines.end(),
                              [](const KeyLine& line) { return line.group.english == "Presentation"; });
    const auto columns = in_columns(grouped_rows(lines), area.w >= 2 * column_wide + 16 ? 2 : 1);
    const float keys_wide = keys_room(lines, tools);
    const std::size_t rows = std::ranges::max(columns, {}, &std::vector<ListedRow>::size).size();
    const float width = std::min(column_wide * static_cast<float>(columns.size()), area.w - 16);
    const float height = card_head + key_row_high * static_cast<float>(rows) + 16;
    const figure::Rect card{(area.w - width) / 2, std::max((area.h - height) / 2, 8.0F), width, height};
    ImGui::SetNextWindowPos(origin);
    ImGui::SetNextWindowSize({area.w * scale, area.h * scale});
    ImGui::SetNextWindowFocus();
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImVec4(0, 0, 0, 0.35F));
    // The card scrolls in a window that is too low for it.
    const bool scrolls = card.bottom() + 8 > area.h;
    const ImGuiWindowFlags bar = scrolls ? ImGuiWindowFlags_None : ImGuiWindowFlags_NoScrollbar;
    ImGui::Begin("keyboard", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse | bar |
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    Picture picture;
    picture.scene.add(
        figure::RectItem{.area = card, .fill = theme.raise, .stroke = theme.line2, .radius = 8});
    add_text(picture.scene, {card.x + card_pad, card.y + 42}, tr("help.keyboard", "Keyboard"),
             figure::Font::ui_semibold, 20, theme.ink);
    add_text(picture.scene, {card.right() - card_pad, card.y + 42}, "Headscope " HEADSCOPE_VERSION,
             figure::Font::ui, 12.5F, theme.muted, figure::Align::right);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const float x = card.x + card_pad + column_wide * static_cast<float>(c);
        float y = card.y + card_head;
        for (const ListedRow& row : columns[c]) {
            draw_key_row(picture.scene, row, x, y,
                         std::min(x + column_wide - card_pad, card.right() - card_pad), keys_wide, tools);
            y += key_row_high;
        }
    }
    const ImVec2 start = ImGui::GetCursorScreenPos();
    show_picture(picture, start.x, start.y, tools, nullptr);
    ImGui::SetCursorScreenPos(start);
    if (scrolls)
        ImGui::Dummy({0, (card.bottom() + 8) * scale});
    const float bar_from = area.w * scale - (scrolls ? ImGui::GetStyle().ScrollbarSize : 0);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && ImGui::GetMousePos().x - origin.x < bar_from)
        tools.send(ShowHelp{false});
    ImGui::End();
    ImGui::PopStyleColor();
}

} // namespace headscope::app
