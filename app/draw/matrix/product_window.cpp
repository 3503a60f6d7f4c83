#include "app/draw/matrix/product_window.h"

#include "app/draw/kit/controls.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using Range = ProductWindow::Range;

/// The page of at most `most` that holds `at`. Pages are of a size that divides the whole where there is one
/// not much smaller, so that they end where heads end.
Range page_of(std::int64_t at, std::int64_t all, std::int64_t most) {
    most = std::clamp<std::int64_t>(most, 1, all);
    std::int64_t count = most;
    constexpr std::int64_t few = 3; // of so few, none is given away
    for (std::int64_t size = most; most > few && size > most / 2; --size)
        if (all % size == 0) {
            count = size;
            break;
        }
    const std::int64_t first = std::clamp<std::int64_t>(at, 0, all - 1) / count * count;
    return {first, std::min(count, all - first), all};
}

std::int64_t place(const CellAddress& cell, const MatrixSpec& spec, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return cell.at[i] - spec.origin[i];
}

MatrixSpec part_of(const MatrixSpec& spec, const Range& rows, const Range& cols) {
    MatrixSpec part = spec;
    part.origin[static_cast<std::size_t>(spec.row_axis)] += rows.first;
    part.origin[static_cast<std::size_t>(spec.col_axis)] += cols.first;
    part.rows = rows.count;
    part.cols = cols.count;
    if (spec.rows_done >= 0)
        part.rows_done = std::clamp<std::int64_t>(spec.rows_done - rows.first, 0, rows.count);
    const auto moved = [r = rows.first, c = cols.first](const auto& function) {
        return [=](std::int64_t row, std::int64_t col) { return function(row + r, col + c); };
    };
    if (spec.owner)
        part.owner = moved(spec.owner);
    if (spec.value)
        part.value = moved(spec.value);
    if (spec.forbidden)
        part.forbidden = moved(spec.forbidden);
    if (spec.share)
        part.share = [share = spec.share, r = rows.first, c = cols.first](std::int64_t row, std::int64_t col,
                                                                          std::int64_t head) {
            return share(row + r, col + c, head);
        };
    return part;
}

constexpr float pager_line = 30.0F;

/// What one pager takes at most.
float pager_width(const DrawContext& context, const std::string& what, const std::string& numbers) {
    return 2 * context.measure("◀ " + what, figure::Font::ui_medium, 12.5F) +
           context.measure(numbers, figure::Font::mono, 12.5F) + 68;
}

/// What is leafed through, and what its two buttons do.
struct PagerWords {
    std::string what, before, next;
};
PagerWords row_words() {
    return {tr("rows"), tr("The rows before"), tr("The next rows")};
}
PagerWords column_words() {
    return {tr("columns"), tr("The columns before"), tr("The next columns")};
}
/// Of the right factor.
PagerWords inner_words(const ProductSpec& spec) {
    const std::string_view name = tensor_info(spec.right.tensor).name;
    return {tr("{} rows", name), tr("The {} rows before", name), tr("The next {} rows", name)};
}

} // namespace

ProductWindow product_window(const DrawContext& context, const ProductSpec& spec, std::int64_t wide,
                             std::int64_t high) {
    std::int64_t row = std::max<std::int64_t>(context.view.row, 0), inner = 0, col = 0;
    std::optional<CellAddress> cell = context.view.selected;
    if (!cell && !context.view.points.empty()) // what a lesson speaks of
        cell = CellAddress{context.view.points.front().tensor, context.view.points.front().first};
    if (!cell) { // the part that holds the number the inspector speaks of by itself
        ViewState still = context.view;
        still.hover.reset();
        cell = spoken_of(context.shown, still);
    }
    if (cell) {
        if (cell->tensor == spec.left.tensor) {
            row = place(*cell, spec.left, spec.left.row_axis);
            inner = place(*cell, spec.left, spec.left.col_axis);
        } else if (cell->tensor == spec.right.tensor) {
            inner = place(*cell, spec.right, spec.right.row_axis);
            col = place(*cell, spec.right, spec.right.col_axis);
        } else if (cell->tensor == spec.result.tensor) {
            row = place(*cell, spec.result, spec.result.row_axis);
            col = place(*cell, spec.result, spec.result.col_axis);
        } else if (cell->tensor == spec.bias) {
            col = cell->at[0];
        }
    }
    return {page_of(row, spec.result.rows, high / 2),
            page_of(inner, spec.left.cols, std::min(wide, high) / 2),
            page_of(col, spec.result.cols, wide / 2)};
}

ProductSpec windowed(const ProductSpec& spec, const ProductWindow& window) {
    ProductSpec part = spec;
    part.left = part_of(spec.left, window.rows, window.inner);
    part.right = part_of(spec.right, window.inner, window.cols);
    part.result = part_of(spec.result, window.rows, window.cols);
    return part;
}

float pager_height(const DrawContext& context, const ProductSpec& spec, float width) {
    float all = 0;
    const auto add = [&](const std::string& what, std::int64_t count) {
        all += pager_width(context, what, tr("{} to {} of {}", count, count, count));
    };
    add(row_words().what, spec.result.rows);
    add(inner_words(spec).what, spec.left.cols);
    add(column_words().what, spec.result.cols);
    return all <= width ? pager_line : 3 * pager_line;
}

void draw_pager(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                const ProductWindow& window, float x, float y) {
    const auto address = [](const MatrixSpec& matrix, std::int64_t row, std::int64_t col) {
        Index at = matrix.origin;
        at[static_cast<std::size_t>(matrix.row_axis)] += row;
        at[static_cast<std::size_t>(matrix.col_axis)] += col;
        return CellAddress{matrix.tensor, at};
    };
    const bool lines = pager_height(context, spec, context.width - canvas_pad - x) > pager_line;
    const float left = x;
    const auto pager = [&](const PagerWords& words, const Range& range, const auto& cell_at) {
        if (range.count == range.all)
            return;
        const auto turn = [&](std::int64_t to) {
            return ViewChange(Select{cell_at(std::clamp<std::int64_t>(to, 0, range.all - 1))});
        };
        x += draw_text_button(picture, context, x, y, "◀ " + words.what, false,
                              turn(range.first - range.count), words.before) +
             8;
        x += draw_text(picture, context, x, figure::baseline_for(y + 12, 12.5F),
                       tr("{} to {} of {}", range.first, range.first + range.count - 1, range.all),
                       figure::Font::mono, 12.5F, context.theme.muted) +
             8;
        x += draw_text_button(picture, context, x, y, words.what + " ▶", false,
                              turn(range.first + range.count), words.next) +
             20;
        if (lines) {
            x = left;
            y += pager_line;
        }
    };
    pager(row_words(), window.rows,
          [&](std::int64_t to) { return address(spec.result, to, window.cols.first); });
    pager(inner_words(spec), window.inner,
          [&](std::int64_t to) { return address(spec.right, to, window.cols.first); });
    pager(column_words(), window.cols,
          [&](std::int64_t to) { return address(spec.right, window.inner.first, to); });
}

} // namespace headscope::app
