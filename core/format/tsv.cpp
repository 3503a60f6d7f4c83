#include "core/format/tsv.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/format/number_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::format {

namespace {

constexpr std::string_view blanks = " \r";

float parse_cell(std::string_view cell, std::int64_t row, std::int64_t col) {
    constexpr std::string_view minus = "−";
    std::string digits(trimmed(cell, blanks));
    if (digits.starts_with(minus))
        digits.replace(0, minus.size(), "-");
    if (digits.starts_with('+'))
        digits.erase(0, 1);
    if (const auto value = number_of<float>(digits); value && std::isfinite(*value))
        return *value;
    constexpr std::size_t shown = 20;
    fail_input(tr("tsv.row_column_pasted_holds",
                  "row {}, column {} of the pasted text is “{}”, which is not a finite float32; paste only "
                  "numbers, such as 0.25",
                  row, col, digits.substr(0, shown)));
}

/// Splits a line into cells at tabs. Without tabs, cells end at runs of spaces, commas and semicolons.
std::vector<std::string_view> cells_of(std::string_view line, bool tabs) {
    std::vector<std::string_view> cells;
    const std::string_view separators = tabs ? "\t" : " ,;";
    while (true) {
        const auto end = line.find_first_of(separators);
        cells.push_back(line.substr(0, end));
        if (end == std::string_view::npos)
            return cells;
        line.remove_prefix(end + 1);
        if (!tabs)
            line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    }
}

} // namespace

std::string tsv(const Tensor& tensor, const MatrixCells& cells) {
    std::string out;
    const auto row_axis = static_cast<std::size_t>(cells.row_axis),
               col_axis = static_cast<std::size_t>(cells.col_axis);
    for (std::int64_t row = 0; row < cells.rows; ++row) {
        for (std::int64_t col = 0; col < cells.cols; ++col) {
            Index at = cells.origin;
            at[row_axis] += row;
            at[col_axis] += col;
            if (col > 0)
                out += '\t';
            append_number(out, tensor.data()[tensor.shape().offset(at)]);
        }
        out += '\n';
    }
    return out;
}

MatrixCells matrix_around(const Tensor& tensor, const Index& cell) {
    const Shape& shape = tensor.shape();
    const int rank = shape.rank();
    MatrixCells cells{cell, std::max(rank - 2, 0), rank - 1, rank > 1 ? shape[rank - 2] : 1, shape[rank - 1]};
    for (int axis = std::max(rank - 2, 0); axis < rank; ++axis)
        cells.origin[static_cast<std::size_t>(axis)] = 0;
    return cells;
}

std::string tsv(const Tensor& tensor) {
    const Shape& shape = tensor.shape();
    std::string out;
    Index at{};
    while (true) {
        out += tsv(tensor, matrix_around(tensor, at));
        // Advances to the next matrix: the indices of the axes before the last two count up like digits.
        int axis = shape.rank() - 3;
        while (axis >= 0 && ++at[static_cast<std::size_t>(axis)] == shape[axis])
            at[static_cast<std::size_t>(axis--)] = 0;
        if (axis < 0)
            return out;
        out += '\n';
    }
}

Table parse_tsv(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.remove_suffix(1);
    if (text.empty())
        fail_input(
            tr("tsv.no_text_paste_copy", "there is no text to paste; copy cells of a spreadsheet first"));
    const bool tabs = text.find('\t') != std::string_view::npos;
    Table table;
    for (bool last = false; !last;) {
        const auto end = text.find('\n');
        last = end == std::string_view::npos;
        const auto cells = cells_of(tabs ? text.substr(0, end) : trimmed(text.substr(0, end), blanks), tabs);
        ++table.rows;
        const auto count = static_cast<std::int64_t>(cells.size());
        if (table.rows == 1)
            table.cols = count;
        if (count != table.cols)
            fail_input(
                tr("tsv.row_pasted_columns_first",
                   "row {} of the pasted text has {} columns and the first row has {}; paste a rectangle",
                   table.rows, count, table.cols));
        for (std::int64_t col = 0; col < count; ++col)
            table.values.push_back(parse_cell(cells[static_cast<std::size_t>(col)], table.rows, col + 1));
        if (!last)
            text.remove_prefix(end + 1);
    }
    return table;
}

} // namespace headscope::format
