#pragma once

#include "core/engine/vulkan/gpu.h"
#include "core/tensor/tensor.h"
#include "core/trace/tensor_id.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headscope::vulkan {

/// Names of the buffers of a run: one for each tensor, with the tensor's number, and some additional ones.
/// Queries, keys and values are stored head by head, (B, heads, T, width), with each width padded with zeros
/// to a multiple of 4.
enum class Slot : std::uint8_t {
    nothing = tensor_count, ///< bound where a kernel reads no buffer
    allowed,
    add,
    statistics,
    faults,
    rectangle,
    runs,  ///< of a long map
    pixels ///< of a long map
};
inline constexpr std::size_t slot_count = tensor_count + 8;
constexpr Slot slot_of(TensorId tensor) {
    return static_cast<Slot>(tensor);
}

/// One buffer for each slot, cached from run to run and reallocated when a run needs a larger one.
class Arena {
public:
    explicit Arena(Gpu& gpu) : gpu_(gpu) {}

    struct SlotRequest {
        Slot slot;
        std::uint64_t bytes;
    };
    /// Makes the wanted slots at least as large as wanted. Throws Error(machine), before it allocates
    /// anything, if the device has too little memory; the message gives the required and the available
    /// amount.
    void reserve(std::span<const SlotRequest> wants);
    /// Adds one slot to those that reserve() allocated.
    void add(const SlotRequest& want);

    /// Frees every buffer. Uploaded and computed data are lost.
    void release() { slots_ = {}; }

    /// Uploads the tensor, unless the slot already contains it.
    void upload(Slot slot, const TensorPtr& tensor);
    void upload(Slot slot, std::span<const std::byte> bytes);
    void fill(Slot slot, std::uint32_t word);
    const GpuBuffer& buffer(Slot slot) const { return slot_state(slot).buffer; }

    /// Binds the part of a slot that holds `count` elements of `width` bytes from `first` on. `shift` is set
    /// to the index of element `first` in the binding.
    GpuBinding window(Slot slot, std::uint64_t first, std::uint64_t count, std::uint32_t width,
                      std::uint32_t& shift) const;
    /// Returns true if one binding can hold `bytes` bytes at any offset.
    bool fits(std::uint64_t bytes) const;

private:
    struct SlotState {
        GpuBuffer buffer;
        std::uint64_t used = 0; ///< size for the present problem, in bytes
        std::weak_ptr<const Tensor> tensor;
    };
    SlotState& slot_state(Slot slot) { return slots_[static_cast<std::size_t>(slot)]; }
    const SlotState& slot_state(Slot slot) const { return slots_[static_cast<std::size_t>(slot)]; }
    void grow(const SlotRequest& want);
    std::uint64_t missing(std::span<const SlotRequest> wants) const;

    Gpu& gpu_;
    std::array<SlotState, slot_count> slots_;
};

} // namespace headscope::vulkan
