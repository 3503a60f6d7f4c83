#include "app/draw/matrix/product_window.h"

#include "app/draw/kit/controls.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/lexicon.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

namespace headscope::app {

namespace {

using Range = ProductWindow::Range;

/// The page of at most `most` items that contains `at`. The page size divides `all` if a divisor only
/// slightly below `most` exists, so that pages end where heads end. Otherwise the last page overlaps the one
/// before it and has full size.
Range page_of(std::int64_t at, std::int64_t all, std::int64_t most) {
    most = std::clamp<std::int64_t>(most, 1, all);
    std::int64_t count = most;
    constexpr std::int64_t few = 3; // pages this small are not made smaller
    const std::int64_t least = most < fewest_columns ? most / 2 + 1 : std::max(most / 2 + 1, fewest_columns);
    for (std::int64_t size = most; most > few && size >= least; --size)
        if (all % size == 0) {
            count = size;
            break;
        }
    const std::int64_t first = std::clamp<std::int64_t>(at, 0, all - 1) / count * count;
    return {std::min(first, all - count), count, all};
}

std::int64_t place(const CellAddress& cell, const MatrixSpec& spec, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return cell.at[i] - spec.origin[i];
}

CellAddress address(const MatrixSpec& matrix, std::int64_t row, std::int64_t col) {
    Index at = matrix.origin;
    at[static_cast<std::size_t>(matrix.row_axis)] += row;
    at[static_cast<std::size_t>(matrix.col_axis)] += col;
    return {matrix.tensor, at};
}

/// The column of the left factor whose term has the largest magnitude in a number of the result. Showing it
/// avoids a part with only zero terms.
std::int64_t largest_term(const Shown& shown, const ProductSpec& spec, std::int64_t row, std::int64_t col) {
    std::int64_t best = 0;
    float most = 0;
    for (std::int64_t i = 0; i < spec.left.cols; ++i) {
        const float term = shown.value(address(spec.left, row, i)) * shown.value(address(spec.right, i, col));
        if (std::abs(term) > most) {
            most = std::abs(term);
            best = i;
        }
    }
    return best;
}

MatrixSpec part_of(const MatrixSpec& spec, const Range& rows, const Range& cols) {
    MatrixSpec part = spec;
    part.origin[static_cast<std::size_t>(spec.row_axis)] += rows.first;
    part.origin[static_cast<std::size_t>(spec.col_axis)] += cols.first;
    part.rows = rows.count;
    part.cols = cols.count;
    if (spec.rows_stepped >= 0)
        part.rows_stepped = std::clamp<std::int64_t>(spec.rows_stepped - rows.first, 0, rows.count);
    const auto moved = [r = rows.first, c = cols.first](const auto& function) {
        return [=](std::int64_t row, std::int64_t col) { return function(row + r, col + c); };
    };
    if (spec.owner)
        part.owner = moved(spec.owner);
    if (spec.value)
        part.value = moved(spec.value);
    if (spec.forbidden)
        part.forbidden = moved(spec.forbidden);
    if (spec.head_contribution)
        part.head_contribution = [share = spec.head_contribution, r = rows.first,
                                  c = cols.first](std::int64_t row, std::int64_t col, std::int64_t head) {
            return share(row + r, col + c, head);
        };
    return part;
}

constexpr float pager_line = 30.0F;

constexpr float field_width = 62, field_height = 26;

/// The labels of a pager: what it pages through, and its two buttons.
struct PagerWords {
    std::string label, what, before, next;
};
PagerWords row_words() {
    return {"go to row", tr("product_window.rows", "rows"), tr("product_window.rows_before", "Previous rows"),
            tr("product_window.next_rows", "Next rows")};
}
PagerWords column_words() {
    return {"go to column", tr("product_window.columns", "columns"),
            tr("product_window.columns_before", "Previous columns"),
            tr("product_window.next_columns", "Next columns")};
}
/// For rows of the right factor.
PagerWords inner_words(const ProductSpec& spec) {
    const std::string_view name = tensor_info(spec.right.tensor).name;
    return {"go to factor row", tr("product_window.rows_2", "{} rows", name),
            tr("product_window.rows_before_2", "Previous {} rows", name),
            tr("product_window.next_rows_2", "Next {} rows", name)};
}

/// Text after the field with the first index: the last visible index and the total.
std::string range_text(const Range& range) {
    return tr("common.to_of", "to {} of {}", range.first + range.count - 1, range.all);
}

/// The maximum width of one pager.
float pager_width(const DrawContext& context, const std::string& what, std::int64_t count) {
    return 2 * context.measure("◀ " + what, figure::Font::ui_medium, 12.5F) + field_width +
           context.measure(range_text({count, 1, count}), figure::Font::mono, 12.5F) + 84;
}

/// The token labels of rows or columns; empty if they have only numbers.
using Labels = std::function<std::string(std::int64_t)>;

Labels row_tokens(const DrawContext& context, const ProductSpec& spec) {
    if (context.shown.problem().tokens.empty())
        return {};
    return [document = context.shown.document, keys = spec.left_keys](std::int64_t i) {
        return keys ? document->problem.key_label(i) : document->problem.query_label(i);
    };
}

/// The typed row or column: its number, or the next one after the visible part whose token contains the text.
/// Throws Error(input) if there is none.
std::int64_t typed_place(const std::string& typed, const Range& range, const Labels& token) {
    const std::size_t begin = std::min(typed.find_first_not_of(' '), typed.size());
    const std::string_view asked =
        std::string_view(typed).substr(begin, typed.find_last_not_of(' ') + 1 - begin);
    std::int64_t number = -1;
    const auto [end, fault] = std::from_chars(asked.data(), asked.data() + asked.size(), number);
    if (fault == std::errc() && end == asked.data() + asked.size() && number >= 0 && number < range.all)
        return number;
    if (token && !asked.empty()) {
        const std::string wanted = text::folded_word(asked);
        for (std::int64_t step = 0; step < range.all; ++step) {
            const std::int64_t i = (range.first + range.count + step) % range.all;
            if (text::folded_word(token(i)).find(wanted) != std::string::npos)
                return i;
        }
        fail_input(tr("product_window.no_token_rows_type",
                      "\"{}\" is not in any token of the {} rows; type a token or a number from 0 to {}.",
                      asked, range.all, range.all - 1));
    }
    fail_input(tr("product_window.not_here_type_number", "\"{}\" is not here; type a number from 0 to {}.",
                  asked, range.all - 1));
}

} // namespace

ProductWindow product_window(const DrawContext& context, const ProductSpec& spec, std::int64_t wide,
                             std::int64_t high, std::int64_t most_inner) {
    std::int64_t row = std::max<std::int64_t>(context.view.row, 0), inner = 0, col = 0;
    std::optional<CellAddress> cell = context.view.selected;
    if (!cell && !context.view.points.empty()) // the cells that a lesson points at
        cell = CellAddress{context.view.points.front().tensor, context.view.points.front().first};
    if (!cell) { // the current cell without mouse and selection
        ViewState still = context.view;
        still.hover.reset();
        cell = current_cell(context.shown, still);
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
            inner = largest_term(context.shown, spec, row, col);
        } else if (cell->tensor == spec.bias) {
            col = cell->at[0];
        }
    }
    const Range inner_range = page_of(inner, spec.left.cols, most_inner);
    return {page_of(row, spec.result.rows, high - inner_range.count), inner_range,
            page_of(col, spec.result.cols, wide - inner_range.count)};
}

ProductSpec windowed(const ProductSpec& spec, const ProductWindow& window) {
    ProductSpec part = spec;
    part.is_part = true;
    part.left = part_of(spec.left, window.rows, window.inner);
    part.right = part_of(spec.right, window.inner, window.cols);
    part.result = part_of(spec.result, window.rows, window.cols);
    return part;
}

float pager_height(const DrawContext& context, const ProductSpec& spec, float width) {
    return pager_height(context, spec,
                        {{0, 0, spec.result.rows}, {0, 0, spec.left.cols}, {0, 0, spec.result.cols}}, width);
}

float pager_height(const DrawContext& context, const ProductSpec& spec, const ProductWindow& window,
                   float width) {
    float all = 0, lines = 0;
    const auto add = [&](const std::string& what, const Range& range) {
        if (range.count == range.all)
            return;
        all += pager_width(context, what, range.all);
        lines += pager_line;
    };
    add(row_words().what, window.rows);
    add(inner_words(spec).what, window.inner);
    add(column_words().what, window.cols);
    return all <= width ? std::min(lines, pager_line) : lines;
}

void draw_pager(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                const ProductWindow& window, float x, float y) {
    const float room = context.width - canvas_pad - x;
    const bool lines = pager_height(context, spec, window, room) > pager_line;
    const float left = x;
    const auto pager = [&](const PagerWords& words, const Range& range, const Labels& token,
                           const auto& cell_at) {
        if (range.count == range.all)
            return;
        // In a narrow pane the buttons are only arrows after the name.
        const bool narrow = pager_width(context, words.what, range.all) > room;
        const auto turn = [&](const std::string& arrow, const std::string& label, std::int64_t to, bool ends,
                              const std::string& tip) {
            const std::string& shown = narrow ? arrow : label;
            if (ends) {
                x += draw_text(picture, context, x + 10, figure::baseline_for(y + 13, 12.5F), shown,
                               figure::Font::ui_medium, 12.5F, context.theme.line2) +
                     20;
                return;
            }
            x += draw_text_button(picture, context, x, y, shown, false, Select{cell_at(to)}, tip);
            if (context.controls)
                picture.hotspots.back().label = label; // labels are unique in a picture
        };
        if (narrow)
            x += draw_text(picture, context, x, figure::baseline_for(y + 13, 12.5F), words.what,
                           figure::Font::ui_medium, 12.5F, context.theme.text) +
                 8;
        const std::int64_t before = std::max<std::int64_t>(range.first - 1, 0) / range.count * range.count;
        turn("◀", "◀ " + words.what, before, range.first == 0, words.before);
        x += 8;
        if (context.controls)
            picture.fields.push_back(
                {.area = {x, y, field_width, field_height},
                 .label = words.label,
                 .text = std::to_string(range.first),
                 .action = [range, token, cell_at](const std::string& typed) -> Action {
                     return Select{cell_at(typed_place(typed, range, token))};
                 },
                 .tip = token ? tr("product_window.number_row_text_token",
                                   "The number of a row, or the text of its token; Enter goes there, and "
                                   "again to the next")
                              : tr("product_window.number_0_enter_goes",
                                   "A number from 0 to {}; Enter goes there", range.all - 1)});
        x += field_width + 8;
        x += draw_text(picture, context, x, figure::baseline_for(y + 13, 12.5F), range_text(range),
                       figure::Font::mono, 12.5F, context.theme.muted) +
             8;
        turn("▶", words.what + " ▶", range.first + range.count, range.first + range.count >= range.all,
             words.next);
        x += 22;
        if (lines) {
            x = left;
            y += pager_line;
        }
    };
    pager(row_words(), window.rows, row_tokens(context, spec),
          [matrix = spec.result, col = window.cols.first](std::int64_t to) {
              return address(matrix, to, col);
          });
    pager(
        inner_words(spec), window.inner, {},
        [matrix = spec.right, col = window.cols.first](std::int64_t to) { return address(matrix, to, col); });
    pager(column_words(), window.cols, {}, [matrix = spec.right, row = window.inner.first](std::int64_t to) {
        return address(matrix, row, to);
    });
}

} // namespace headscope::app
