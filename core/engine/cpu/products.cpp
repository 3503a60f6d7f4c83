#include "core/engine/cpu/products.h"

#include <algorithm>

namespace headscope::cpu {

namespace {

constexpr std::int64_t many_rows = 24;          ///< from here on a product is divided into wide columns
constexpr std::int64_t wide = 128, narrow = 64; ///< columns of one part
constexpr std::int64_t fewest_parts_per_thread = 4;
constexpr std::int64_t parts_of_a_row = 2; ///< for each thread: long rows of B are read faster

/// The number of columns of one part of a product with one row.
std::int64_t row_width(std::int64_t cols, int threads) {
    const std::int64_t parts = parts_of_a_row * threads * narrow;
    return (cols + parts - 1) / parts * narrow;
}

} // namespace

std::int64_t flops_of(std::span<const WideProduct> products) {
    std::int64_t flops = 0;
    for (const WideProduct& p : products)
        flops += 2 * effective_rows(p.A.rows) * p.A.cols * p.B.cols;
    return flops;
}

void divide_products(std::span<const WideProduct> products, int threads, std::vector<ProductPart>& parts) {
    const bool share = threads > 1 && flops_of(products) > 0;
    std::int64_t cells = 0;
    for (const WideProduct& p : products)
        cells += p.A.rows * p.B.cols;
    parts.clear();
    for (std::size_t n = 0; n < products.size(); ++n) {
        const std::int64_t rows = products[n].A.rows, cols = products[n].B.cols;
        const std::int64_t width = !share              ? cols
                                   : rows >= many_rows ? wide
                                   : rows > 1          ? narrow
                                                       : row_width(cols, threads);
        const std::int64_t blocks = (cols + width - 1) / width;
        const std::int64_t wanted = share ? fewest_parts_per_thread * threads * rows * cols / cells : 1;
        const std::int64_t tiles =
            std::clamp<std::int64_t>(wanted / blocks, 1, (rows + many_rows - 1) / many_rows);
        const std::int64_t tile = (rows + tiles - 1) / tiles;
        for (std::int64_t first = 0; first < cols; first += width)
            for (std::int64_t row = 0; row < rows; row += tile)
                parts.push_back({n, first, std::min(width, cols - first), row, std::min(tile, rows - row)});
    }
}

bool multiply_part(const Kernels& kernels, const WideProduct& product, const ProductPart& part,
                   float* scratch) {
    const Block A{product.A.data + part.row * product.A.stride, product.A.stride, part.rows, product.A.cols};
    const float* const bias = product.bias == nullptr ? nullptr : product.bias + part.first;
    float* const C = product.C + part.row * product.C_stride + part.first;
    if (product.panels != nullptr && part.first % kernels.panel == 0)
        return multiply_packed(kernels, A, product.panels, part.first, part.count, bias, C, product.C_stride);
    const Block B{product.B.data + part.first, product.B.stride, product.B.rows, part.count};
    return multiply_block(kernels, A, B, bias, C, product.C_stride, scratch);
}

} // namespace headscope::cpu
