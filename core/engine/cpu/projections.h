#pragma once

#include "core/base/progress.h"
#include "core/engine/cpu/products.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <span>

namespace headscope::cpu {

struct CpuMachine;

/// The machine's cached panels of W, packed now if they are new; null if W is not cached. See
/// PackedParameters.
const float* cached_panels(const TensorPtr& W, CpuMachine& machine, const Progress& cancel);

/// Computes products on all threads, divided into parts of about equal work. Calls `fail`, which throws, with
/// a part that has numbers outside float32's range. Throws Error(cancelled).
void multiply_all(std::span<const WideProduct> products, CpuMachine& machine, const Progress& cancel,
                  const std::function<void(const ProductPart&)>& fail);

/// The mean over heads, (B, Tq, Tk), of A (B, H, Tq, Tk), summed in the order of the heads.
void average_heads(const Tensor& A, Tensor& mean, CpuMachine& machine, const Progress& cancel);

} // namespace headscope::cpu
