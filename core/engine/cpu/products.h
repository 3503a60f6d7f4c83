#pragma once

#include "core/engine/cpu/blocks.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::cpu {

/// C = A B + bias, of any size.
struct WideProduct {
    Block A, B;
    const float* bias = nullptr; ///< B.cols numbers, or null
    float* C = nullptr;
    std::int64_t C_stride = 0;
    const float* panels = nullptr; ///< cached panels of B (see pack_panels), or null
};

/// The part of one of several products that one thread computes: a range of columns and rows.
struct ProductPart {
    std::size_t product;
    std::int64_t first, count; ///< columns
    std::int64_t row, rows;
};

/// The work in FLOP, with the rows of effective_rows and without the additions of the bias.
std::int64_t flops_of(std::span<const WideProduct> products);

/// Divides products into parts of about equal work, several for each thread: blocks of columns, or tiles of
/// rows if there are few columns. With one thread, each part is a whole product. Overwrites `parts`.
void divide_products(std::span<const WideProduct> products, int threads, std::vector<ProductPart>& parts);

/// `scratch`: pack_scratch_size numbers, provided by the caller. Returns false if a number is not finite.
bool multiply_part(const Kernels& kernels, const WideProduct& product, const ProductPart& part,
                   float* scratch);

} // namespace headscope::cpu
