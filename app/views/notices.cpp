#include "app/draw/kit/controls.h"
#include "app/draw/kit/free_space.h"
#include "app/views/dialog.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace headscope::app {

namespace {

/// The position of a notice on an empty canvas.
enum class Corner : std::uint8_t { head, foot, foot_middle };

struct Notice {
    const char* id;
    std::string text;
    Corner corner;
    float widest;
    /// Draws at most that wide, as high as the lines need.
    std::function<Picture(const std::string& text, float width)> draw;
    bool takes_mouse = false;
};

figure::Rect wanted_place(Corner corner, const figure::Rect& canvas, const figure::Scene& scene) {
    const float x = corner == Corner::foot_middle ? canvas.x + (canvas.w - scene.width) / 2 : canvas.x + 20,
                y = corner == Corner::head ? canvas.y + 12 : canvas.bottom() - scene.height - 14;
    return {x, y, scene.width, scene.height};
}

/// Draws the cross that closes a notice of that width.
void draw_cross(Picture& picture, const DrawContext& context, float width, bool error) {
    const figure::Point centre{width - 22, 22};
    for (const float side : {-1.0F, 1.0F})
        picture.scene.add(figure::LineItem{{centre.x - 5 * side, centre.y - 5},
                                           {centre.x + 5 * side, centre.y + 5},
                                           context.theme.muted,
                                           1.5F});
    picture.add_hotspot({centre.x - 14, centre.y - 14, 28, 28}, error ? "dismiss error" : "dismiss notice",
                        DismissNotice{error}, tr("notices.close_esc", "Close (Esc)"));
}

Picture draw_notice(const DrawContext& context, const std::string& message, float width) {
    const Theme& theme = context.theme;
    Picture text, picture;
    const float end =
        draw_paragraph(text, context, 18, 27, width - 62, message, figure::Font::ui, 13.5F, 20, theme.text);
    picture.scene.width = width;
    picture.scene.height = end;
    picture.scene.add(figure::RectItem{
        .area = {0, 0, width, end}, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    picture.append(std::move(text), 0, 0);
    draw_cross(picture, context, width, false);
    return picture;
}

Picture draw_error(const DrawContext& context, const std::string& error, float width) {
    const Theme& theme = context.theme;
    Picture text, picture;
    const float end =
        draw_paragraph(text, context, 46, 27, width - 90, error, figure::Font::ui, 13.5F, 20, theme.ink);
    picture.scene.width = width;
    picture.scene.height = end;
    picture.scene.add(figure::RectItem{
        .area = {0, 0, width, end}, .fill = theme.bad_back, .stroke = theme.bad, .radius = 6});
    add_text(picture.scene, {18, 28}, "⚠", figure::Font::ui_semibold, 15, theme.bad);
    picture.append(std::move(text), 0, 0);
    draw_cross(picture, context, width, true);
    return picture;
}

/// Draws a check mark and the result of a file operation.
Picture draw_done(const DrawContext& context, const ViewTools& tools, const std::string& done, float width) {
    const Theme& theme = context.theme;
    constexpr figure::Font font = figure::Font::ui_medium;
    constexpr float size = 13, line = 18, beside = 54;
    Picture picture;
    const std::vector<std::string> lines = wrapped_lines(done, font, size, width - beside, tools);
    float longest = 0;
    for (const std::string& words : lines)
        longest = std::max(longest, context.measure(words, font, size));
    picture.scene.width = longest + beside;
    picture.scene.height = 22 + line * static_cast<float>(lines.size());
    picture.scene.add(figure::RectItem{
        .area = {0, 0, picture.scene.width, picture.scene.height}, .fill = theme.ink, .radius = 8});
    picture.scene.add(figure::LineItem{{16, 20}, {20, 24.5F}, theme.canvas, 2});
    picture.scene.add(figure::LineItem{{20, 24.5F}, {28, 14.5F}, theme.canvas, 2});
    float y = 20;
    for (const std::string& words : lines) {
        draw_text(picture, context, 38, figure::baseline_for(y, size), words, font, size, theme.canvas);
        y += line;
    }
    return picture;
}

/// Places a notice where it covers little of the canvas; uses a narrower one if only that finds free space.
void view_notice(const Notice& notice, const figure::Rect& canvas, FreeSpace& free_space,
                 const ViewTools& tools) {
    constexpr float narrower = 0.7F, narrowest = 280;
    struct Placed {
        Picture picture;
        figure::Rect area;
        float covered;
    };
    const auto placed = [&](float width) {
        Picture picture = notice.draw(notice.text, width);
        const figure::Rect area = free_space.place(wanted_place(notice.corner, canvas, picture.scene));
        return Placed{std::move(picture), area, free_space.covered_weight(area)};
    };
    const float widest = std::min(canvas.w - 40, notice.widest);
    Placed best = placed(widest);
    for (float width = widest * narrower; best.covered > 0 && width >= narrowest; width *= narrower)
        if (Placed one = placed(width); one.covered == 0)
            best = std::move(one);
    const figure::Rect& area = best.area;
    free_space.protect(area);
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    ImGui::SetCursorScreenPos({origin.x + area.x * scale, origin.y + area.y * scale});
    ImGui::BeginChild(notice.id, {std::ceil(area.w * scale), std::ceil(area.h * scale)}, false,
                      notice.takes_mouse ? ImGuiWindowFlags_NoScrollbar : ImGuiWindowFlags_NoInputs);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    tools.surface.need_glyphs(notice.text);
    show_picture(best.picture, at.x, at.y, tools, nullptr);
    ImGui::EndChild();
}

} // namespace

void view_canvas_notices(const AppState& state, const figure::Rect& whole, const Picture& drawn,
                         const ViewTools& tools) {
    const std::string done = text::plain_text(state.files.notice);
    if (state.error.empty() && state.notice.empty() && done.empty())
        return;
    const figure::Rect canvas = canvas_below_bars(state, whole);
    const DrawContext context{state.shown,   state.drawn_view(), tools.theme,
                              tools.measure, canvas.w,           canvas.h};
    FreeSpace free_space(drawn, tools.measure, canvas);
    for (const MatrixGrid& grid : drawn.grids)
        if (const auto& cell = state.view.selected; cell && grid.tensor == cell->tensor)
            if (const auto at = grid.find(cell->at))
                free_space.protect(grid.cell(at->first, at->second));
    const auto drawn_as = [&](Picture (*draw)(const DrawContext&, const std::string&, float)) {
        return [&context, draw](const std::string& text, float width) { return draw(context, text, width); };
    };
    // Show an invalid input where the user looks, over the last valid picture.
    if (!state.error.empty())
        return view_notice({"notice", state.error, Corner::head, 560, drawn_as(draw_error), true}, canvas,
                           free_space, tools);
    if (!state.notice.empty())
        view_notice({"told", state.notice, Corner::foot, 720, drawn_as(draw_notice), true}, canvas,
                    free_space, tools);
    if (!done.empty())
        view_notice(
            {"done", done, Corner::foot_middle, 694,
             [&](const std::string& text, float width) { return draw_done(context, tools, text, width); }},
            canvas, free_space, tools);
}

} // namespace headscope::app
