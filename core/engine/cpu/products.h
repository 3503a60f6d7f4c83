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
    const float* panels = nullptr; ///< of B (see pack_panels), where they are kept
};

/// What one thread computes of one of several products: some columns of some rows.
struct ProductPart {
    std::size_t product;
    std::int64_t first, count; ///< columns
    std::int64_t row, rows;
};

/// The work in FLOP, with the rows of rows_of_work and without additions of the bias.
std::int64_t flops_of(std::span<const WideProduct> products);

/// Parts of about equal work, several for each thread: blocks of columns, in tiles of rows where there are
/// few columns. One thread gets whole products. `parts` is filled anew.
void divide_products(std::span<const WideProduct> products, int threads, std::vector<ProductPart>& parts);

/// `scratch`: pack_space numbers of the caller's. False when a number is not finite.
bool multiply_part(const Kernels& kernels, const WideProduct& product, const ProductPart& part,
                   float* scratch);

} // namespace headscope::cpu
