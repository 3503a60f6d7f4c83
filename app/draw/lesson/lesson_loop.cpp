#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/message.h"

#include <array>
#include <cstdio>

namespace headscope::app {

namespace {

constexpr float loop_size = 11.5F, loop_line = 17.0F;

void draw_code(PanelColumn& column, const std::vector<std::string>& lines) {
    const figure::Rect area{column.x, column.y, column.width,
                            loop_line * static_cast<float>(lines.size()) + 8};
    column.picture.scene.add(
        figure::RectItem{.area = area, .fill = column.context.theme.highlight, .radius = 4});
    float baseline = column.y + 4 + loop_size;
    for (const std::string& line : lines) {
        draw_text(column.picture, column.context, column.x + 6, baseline, line, figure::Font::mono, loop_size,
                  column.context.theme.ink);
        baseline += loop_line;
    }
    column.y = area.bottom() + 6;
}

} // namespace

std::string loop_difference(double difference) {
    if (difference == 0 || difference >= 0.001)
        return number(difference, difference == 0 ? 0 : 3);
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1e", difference);
    return text.data();
}

void draw_loop(PanelColumn& column, const lesson::LoopFigure& figure) {
    const Theme& theme = column.context.theme;
    const Dims& d = figure.dims;
    const analysis::ProjectionPair& q = figure.projections.front();
    column.line(
        tr("lesson_loop.loop_products", "A loop: {} products {} · {}", d.H, q.x.text(), q.slice.text()),
        theme.ink, figure::Font::ui_medium);
    draw_code(column, {"heads = [x @ W_Q[:, h*dk:(h+1)*dk]", "         for h in range(H)]",
                       "loop = torch.stack(heads, 1)"});
    column.line(tr("lesson_loop.one_product", "One product {} · {}", q.x.text(), q.matrix.text()), theme.ink,
                figure::Font::ui_medium);
    draw_code(column, {"q = x @ W_Q", "q = q.view(B, T, H, dk)", "once = q.transpose(1, 2)"});
    column.line(tr("lesson_loop.both_give", "Both give ({}, {}, {}, {}).", d.B, d.H, q.x[0], d.dk),
                theme.text);
    const float first = column.x + column.width * 0.62F;
    const auto put = [&](float right, const std::string& text, figure::Font font, figure::Color colour) {
        draw_text(column.picture, column.context, right, column.y + 13, text, font, 12.5F, colour,
                  figure::Align::right);
    };
    draw_text(column.picture, column.context, column.x, column.y + 13,
              tr("lesson_loop.largest_difference", "Largest difference"), figure::Font::ui, 12.5F,
              theme.muted);
    // Translators: column headings: in one product, and without the transpose
    put(first, tr("lesson_loop.once", "once"), figure::Font::ui, theme.muted);
    put(column.right(), tr("lesson_loop.no_transpose", "no transpose"), figure::Font::ui, theme.muted);
    column.y += 19;
    for (const analysis::ProjectionPair& pair : figure.projections) {
        draw_text(column.picture, column.context, column.x, column.y + 13,
                  tr_n("lesson_loop.head", "{}, {} head", "{}, {} heads", pair.heads,
                       tensor_info(pair.whole).symbol, grouped(pair.heads)),
                  figure::Font::ui, 12.5F, theme.text);
        put(first, loop_difference(pair.difference), figure::Font::mono_semibold, theme.ink);
        put(column.right(), loop_difference(pair.without_transpose), figure::Font::mono, theme.text);
        column.picture.tips.push_back({{column.x, column.y, column.width, 19},
                                       tr("lesson_loop.loop_against_one_product",
                                          "Compares the loop with one product, view and transpose, and with "
                                          "a view straight to (B, H, T, dk), which lacks the transpose.")});
        column.y += 19;
    }
}

} // namespace headscope::app
