#include "app/draw/inspector/inspector_sections.h"

#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float share_bar_height = 28.0F;

struct Piece {
    double value = 0;
    std::int64_t head = -1; ///< -1: the bias
    std::string label;
};

/// Pieces stacked away from zero, negative ones to the left, with a mark at the total.
class ShareBar {
public:
    ShareBar(Sheet& sheet, const std::vector<Piece>& pieces, double total)
        : sheet_(sheet), theme_(sheet.context.theme) {
        for (const Piece& piece : pieces)
            (piece.value < 0 ? low_ : high_) += piece.value;
        low_ = std::min(low_, total);
        high_ = std::max(high_, total);
        if (high_ - low_ <= 0)
            return;
        zero_ = sheet.left + static_cast<float>(-low_ / (high_ - low_)) * sheet.width();
        sheet.y += 4;
        float left = zero_, right = zero_;
        for (const Piece& piece : pieces) {
            const float length = pixels(std::abs(piece.value));
            if (piece.value < 0)
                left -= length;
            draw_piece(piece, piece.value < 0 ? left : right, length);
            if (piece.value > 0)
                right += length;
        }
        draw_marks(total);
        sheet.y += share_bar_height + 34;
    }

private:
    float pixels(double value) const { return static_cast<float>(value / (high_ - low_)) * sheet_.width(); }

    void draw_piece(const Piece& piece, float x, float length) {
        const figure::Color fill = piece.head < 0 ? theme_.line2 : bar_color(sheet_.context, piece.head);
        const figure::Rect area{x, sheet_.y, length, share_bar_height};
        sheet_.picture.scene.add(figure::RectItem{.area = area, .fill = fill});
        if (length > sheet_.context.measure(piece.label, figure::Font::ui_semibold, 12.5F) + 8)
            draw_text(sheet_.picture, sheet_.context, x + length / 2,
                      figure::baseline_for(sheet_.y + share_bar_height / 2, 12.5F), piece.label,
                      figure::Font::ui_semibold, 12.5F, text_on(fill), figure::Align::center);
        sheet_.picture.tips.push_back(
            {area, (piece.head < 0 ? "b_O" : tr("common.head", "Head {}", piece.head)) + " " +
                       signed_number(piece.value, 3)});
    }

    void draw_marks(double total) {
        const float bottom = sheet_.y + share_bar_height;
        const float at = zero_ + pixels(total);
        sheet_.picture.scene.add(
            figure::LineItem{{zero_, sheet_.y - 5}, {zero_, bottom + 5}, theme_.ink, 1.5F});
        sheet_.picture.scene.add(figure::PolygonItem{
            {{at - 5, bottom + 12}, {at, bottom + 4}, {at + 5, bottom + 12}}, theme_.ink});
        const std::string text = tr("inspector_shares.total", "total");
        const float wide = sheet_.context.measure(text, figure::Font::ui, 12);
        const float label = std::clamp(at, sheet_.left + wide / 2, sheet_.right - wide / 2);
        draw_text(sheet_.picture, sheet_.context, label, bottom + 26, text, figure::Font::ui, 12,
                  theme_.muted, figure::Align::center);
        const float zero_label = std::clamp(zero_, sheet_.left + 4, sheet_.right - 4);
        if (std::abs(label - zero_label) > wide / 2 + 14)
            draw_text(sheet_.picture, sheet_.context, zero_label, bottom + 26, "0", figure::Font::mono, 12,
                      theme_.muted, figure::Align::center);
    }

    Sheet& sheet_;
    const Theme& theme_;
    double low_ = 0, high_ = 0;
    float zero_ = 0;
};

} // namespace

int add_shares(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Dims& dims = shown.dims();
    sheet.section(tr("inspector_shares.each_heads_share", "Contribution per head"), "contributions");
    std::vector<Piece> pieces;
    std::vector<Term> shares;
    bool nothing_read = true;
    for (std::int64_t h = 0; h < dims.H; ++h) {
        const auto value = static_cast<double>(
            shown.value({TensorId::contributions, {cell.at[0], h, cell.at[1], cell.at[2]}}));
        pieces.push_back({value, h, std::to_string(h)});
        const bool empty = fully_masked(*shown.trace, cell.at[0], h, cell.at[1]);
        nothing_read = nothing_read && empty;
        std::string label = shown.problem().gain(h) == 0.0F
                                ? tr("inspector_shares.head_gain_0", "Head {}, ablated", h)
                            : empty ? tr("common.head_reads_nothing", "Head {}, reads nothing", h)
                                    : tr("common.head", "Head {}", h);
        shares.push_back({.label = std::move(label), .value = value, .head = h});
    }
    std::vector<Term> bias;
    if (const Tensor* b_O = shown.problem().weights.b_O.get()) {
        const auto value = static_cast<double>(b_O->at(cell.at[2]));
        pieces.push_back({value, -1, "b"});
        bias.push_back({.label = "+ b_O[" + std::to_string(cell.at[2]) + "]", .value = value});
    }
    const auto total = static_cast<double>(shown.value(cell));
    if (nothing_read)
        sheet.paragraph(bias.empty() ? tr("inspector_shares.no_head_may_read",
                                          "No head may read any key in this row: the output is 0.")
                                     : tr("inspector_shares.no_head_may_read_2",
                                          "No head may read any key in this row: only b_O is left."),
                        sheet.context.theme.text);
    ShareBar(sheet, pieces, total);
    return draw_terms(sheet, {.signs = true,
                              .groups = {{.terms = std::move(shares)}},
                              .single_terms = std::move(bias),
                              .name = "output",
                              .total = total});
}

} // namespace headscope::app
