#pragma once

#include "app/draw/matrix/matrix.h"

#include <string>

namespace headscope::app {

/// A matrix product with the left factor to the left of the result and the right factor above it. All cells
/// have one size, so that a row and a column meet in their result cell.
struct ProductSpec {
    MatrixSpec left, right, result; ///< positions and cell sizes are set by draw_product
    std::string left_name = {}, right_name = {}, result_name = {};
    std::string left_shape = {}, right_shape = {},
                result_shape = {};     ///< printed small at the right end of each name
    float widest_cell = 84;            ///< cells are at most this wide
    bool left_keys = false;            ///< the left factor's rows are key tokens
    bool left_token_columns = false;   ///< the left factor's columns are key tokens, as in weights
    bool right_token_rows = false;     ///< the right factor's rows are key tokens
    std::int64_t right_row_heads = 0;  ///< rows of the right factor per head; 0: they do not belong to heads
    std::int64_t right_first_head = 0; ///< the head of the first row
    /// Columns per head, for the bars above each matrix; 0: no bars. -1: one bar of head `bar_head`.
    std::int64_t left_head_cols = 0, right_head_cols = 0, result_head_cols = 0;
    bool heads_are_kv = false; ///< these columns belong to key/value heads
    std::int64_t bar_head = 0;
    bool is_part = false;           ///< a part of a larger product, drawn whole in cells that fit
    TensorId bias = TensorId::gain; ///< b_Q, b_K, b_V or b_O if there is one; TensorId::gain: none
};

struct ProductLayout {
    figure::Rect area; ///< the whole drawn area
    MatrixGrid left, right, result;
    bool has_overview = false; ///< there is an overview of the right factor at its left
};

/// Fits the product into `room` with cells of at most spec.widest_cell x 56 and at least 3 x 3; with the
/// smallest cells it may exceed the room.
ProductLayout draw_product(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                           const figure::Rect& room);

/// The height of a product with rows of height cell_h.
float product_height(const DrawContext& context, const ProductSpec& spec, float cell_h);

/// Draws "The same output, as a sum": contributions[0] + contributions[1] + ... (+ b_O) = output. Returns the
/// height used.
float draw_sum_of_heads(Picture& picture, const DrawContext& context, const figure::Rect& room);
/// The height of the sum for this width with rows of row_height, without its note.
float sum_of_heads_height(const DrawContext& context, float width, float row_height);

/// Returns a function of (row, col): the head that owns column `col`.
std::function<std::int64_t(std::int64_t, std::int64_t)> column_owner(std::int64_t head_width,
                                                                     std::int64_t shared);

} // namespace headscope::app
