#include "core/engine/cpu/packed_parameters.h"

#include <algorithm>

namespace headscope::cpu {

namespace {

constexpr std::int64_t smallest = 4096; ///< numbers; packing a smaller matrix takes negligible time
constexpr std::size_t most_entries = 256;

std::size_t bytes_of(const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.count()) * sizeof(float);
}

} // namespace

PackedParameters::Place PackedParameters::find(const Kernels& kernels, const TensorPtr& W) {
    if (W->count() < smallest)
        return {};
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.address == W.get() && !entry.W.expired(); });
    if (known != entries_.end()) {
        if (known->panels != nullptr)
            return {known->panels->data(), false};
        const std::int64_t rows = W->shape()[0], cols = W->shape()[1];
        const Shape shape{rows * whole_panels(kernels, cols)};
        if (cached_bytes_ + static_cast<std::size_t>(shape.count()) * sizeof(float) > budget_)
            return {};
        known->panels = std::make_unique<Tensor>(shape);
        cached_bytes_ += bytes_of(*known->panels);
        return {known->panels->data(), true};
    }
    remove_expired();
    if (entries_.size() < most_entries)
        entries_.push_back({W, W.get(), nullptr});
    return {};
}

void PackedParameters::remove_expired() {
    std::erase_if(entries_, [this](const Entry& entry) {
        if (!entry.W.expired())
            return false;
        cached_bytes_ -= entry.panels == nullptr ? 0 : bytes_of(*entry.panels);
        return true;
    });
}

} // namespace headscope::cpu
