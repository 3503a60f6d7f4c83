#pragma once

#include "app/draw/matrix/matrix.h"

#include <string>

namespace headscope::app {

/// A matrix product drawn as one: the left factor left of the result, the right factor above it, all cells of
/// one size, so that a row and a column meet in their cell.
struct ProductSpec {
    MatrixSpec left, right, result; ///< positions and cell sizes are decided by draw_product
    std::string left_name = {}, right_name = {}, result_name = {};
    std::string left_shape = {}, right_shape = {},
                result_shape = {};    ///< small, at the right end of each name
    float widest_cell = 84;           ///< cells are at most this wide
    bool left_keys = false;           ///< the left factor's rows are key tokens
    bool left_token_columns = false;  ///< its columns are key tokens, as in weights
    bool right_token_rows = false;    ///< the right factor's rows are key tokens
    std::int64_t right_row_heads = 0; ///< the right factor's rows belong to heads, this many rows each; 0: no
    std::int64_t right_first_head = 0; ///< the head of its first rows
    /// Width of one head in columns, for the bars above each matrix; 0: none. -1: one bar of head `bar_head`.
    std::int64_t left_head_cols = 0, right_head_cols = 0, result_head_cols = 0;
    bool kv = false; ///< those columns belong to key/value heads
    std::int64_t bar_head = 0;
    TensorId bias = TensorId::gain; ///< b_Q, b_K, b_V or b_O when there is one; gain: none
};

struct ProductLayout {
    figure::Rect area; ///< everything that was drawn
    MatrixGrid left, right, result;
    bool overview = false; ///< a small map of the whole right factor stands left of it
};

/// Fits the product into (x, y, width, height) with cells of at most spec.widest_cell x 56; below 3 x 3 it
/// grows past the room.
ProductLayout draw_product(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                           const figure::Rect& room);

/// Height that a product takes with rows of cell_h.
float product_height(const DrawContext& context, const ProductSpec& spec, float cell_h);

/// "The same output, as a sum": contributions[0] + contributions[1] + ... (+ b_O) = output. Draws into the
/// room and returns the height used.
float draw_sum_of_heads(Picture& picture, const DrawContext& context, const figure::Rect& room);
/// The height that the sum takes in this width with rows of row_height, without its note.
float sum_of_heads_height(const DrawContext& context, float width, float row_height);

/// Ownership of columns: which head's column `col` is.
std::function<std::int64_t(std::int64_t, std::int64_t)> columns_owned(std::int64_t head_width,
                                                                      std::int64_t shared);

} // namespace headscope::app
