#include "core/engine/cpu/projections.h"

#include "core/engine/cpu/machine.h"

#include <algorithm>

namespace headscope::cpu {

const float* cached_panels(const TensorPtr& W, CpuMachine& machine, const Progress& cancel) {
    const Kernels& kernels = machine.kernels;
    const PackedParameters::Place place = machine.packed_parameters.find(kernels, W);
    if (place.fill) {
        const std::int64_t depth = W->shape()[0], cols = W->shape()[1], step = 4 * kernels.panel;
        machine.for_tasks(cancel, (cols + step - 1) / step, 16 * W->count(), [&](std::int64_t task, int) {
            const std::int64_t first = task * step;
            pack_panels(kernels, {W->data() + first, cols, depth, std::min(step, cols - first)},
                        place.panels + first * depth);
        });
    }
    return place.panels;
}

void multiply_all(std::span<const WideProduct> products, CpuMachine& machine, const Progress& cancel,
                  const std::function<void(const ProductPart&)>& fail) {
    const std::int64_t flops = flops_of(products);
    std::vector<ProductPart>& parts = machine.parts;
    divide_products(products, machine.threads_for(flops), parts);
    const std::int64_t space = pack_scratch_size(machine.kernels);
    float* const scratch = machine.scratch_for(space);
    machine.for_tasks(
        cancel, static_cast<std::int64_t>(parts.size()), flops, [&](std::int64_t index, int worker) {
            const ProductPart& part = parts[static_cast<std::size_t>(index)];
            if (!multiply_part(machine.kernels, products[part.product], part, scratch + worker * space))
                fail(part);
        });
}

void average_heads(const Tensor& A, Tensor& mean, CpuMachine& machine, const Progress& cancel) {
    const std::int64_t H = A.shape()[1], rows = A.shape()[2], Tk = A.shape()[3];
    const float share = 1.0F / static_cast<float>(H);
    machine.for_tasks(cancel, A.shape()[0] * rows, A.count(), [&](std::int64_t row, int) {
        const std::int64_t b = row / rows, i = row % rows;
        float* const out = mean.data() + mean.offset(b, i, 0);
        std::copy_n(A.data() + A.offset(b, 0, i, 0), Tk, out);
        for (std::int64_t h = 1; h < H; ++h) {
            const float* const w = A.data() + A.offset(b, h, i, 0);
            for (std::int64_t j = 0; j < Tk; ++j)
                out[j] += w[j];
        }
        for (std::int64_t j = 0; j < Tk; ++j)
            out[j] *= share;
    });
}

} // namespace headscope::cpu
