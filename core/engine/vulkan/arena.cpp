#include "core/engine/vulkan/arena.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace headscope::vulkan {

namespace {

std::string size_text(std::uint64_t bytes) {
    std::ostringstream text;
    const double value = static_cast<double>(bytes);
    text << std::fixed << std::setprecision(1);
    if (value >= 1e9)
        text << value / 1e9 << " GB";
    else
        text << value / 1e6 << " MB";
    return text.str();
}

[[noreturn]] void fail_at_once(const std::string& name, std::uint64_t needs, std::uint64_t gives) {
    throw Error(ErrorKind::machine,
                tr("arena.problem_needs_memory_gives",
                   "the problem needs {} of memory on {}, which gives at most {} at a time; let the CPU do "
                   "it (--device cpu), ask for fewer stages, or take fewer tokens",
                   size_text(needs), name, size_text(gives)));
}

[[noreturn]] void fail_free(const std::string& name, std::uint64_t needs, std::uint64_t has) {
    throw Error(ErrorKind::machine, tr("arena.problem_needs_memory_free",
                                       "the problem needs {} of memory on {}, which has {} free; let the CPU "
                                       "do it (--device cpu), ask for fewer stages, or take fewer tokens",
                                       size_text(needs), name, size_text(has)));
}

} // namespace

/// The number of bytes to allocate; a slot that must grow frees its old buffer first.
std::uint64_t Arena::missing(std::span<const SlotRequest> wants) const {
    std::uint64_t sum = 0;
    for (const SlotRequest& want : wants)
        if (const std::uint64_t has = slot_state(want.slot).buffer.bytes(); has < want.bytes)
            sum += want.bytes - has;
    return sum;
}

void Arena::reserve(std::span<const SlotRequest> wants) {
    for (const SlotRequest& want : wants)
        if (want.bytes > gpu_.info().allocation_bytes)
            fail_at_once(gpu_.info().name, want.bytes, gpu_.info().allocation_bytes);
    if (missing(wants) > gpu_.free_bytes()) {
        release(); // buffers of earlier problems may fill the memory
        if (const std::uint64_t needs = missing(wants), has = gpu_.free_bytes(); needs > has)
            fail_free(gpu_.info().name, needs, has);
    }
    for (SlotState& slot : slots_)
        slot.used = 0;
    for (const SlotRequest& want : wants)
        grow(want);
}

void Arena::add(const SlotRequest& want) {
    if (const std::uint64_t needs = missing({&want, 1}), has = gpu_.free_bytes(); needs > has)
        fail_free(gpu_.info().name, needs, has);
    grow(want);
}

void Arena::grow(const SlotRequest& want) {
    SlotState& slot = slot_state(want.slot);
    if (slot.buffer.bytes() < want.bytes) {
        slot = {};
        slot.buffer = gpu_.make_buffer(want.bytes);
    }
    slot.used = want.bytes;
}

void Arena::upload(Slot slot, const TensorPtr& tensor) {
    if (slot_state(slot).tensor.lock() == tensor)
        return;
    upload(slot, std::as_bytes(tensor->values()));
    slot_state(slot).tensor = tensor;
}

void Arena::upload(Slot slot, std::span<const std::byte> bytes) {
    slot_state(slot).tensor.reset();
    gpu_.upload(slot_state(slot).buffer, bytes);
}

void Arena::fill(Slot slot, std::uint32_t word) {
    gpu_.fill(slot_state(slot).buffer, word);
}

bool Arena::fits(std::uint64_t bytes) const {
    return bytes + gpu_.info().alignment <= gpu_.info().binding_bytes;
}

GpuBinding Arena::window(Slot slot, std::uint64_t first, std::uint64_t count, std::uint32_t width,
                         std::uint32_t& shift) const {
    const SlotState& from = slot_state(slot);
    if (from.used <= gpu_.info().binding_bytes) {
        shift = static_cast<std::uint32_t>(first);
        return {&from.buffer, 0, from.used};
    }
    const std::uint64_t begin = first * width / gpu_.info().alignment * gpu_.info().alignment;
    // A mask has one byte per cell; the window ends at a whole 32-bit word.
    const std::uint64_t end = std::min(from.used, ((first + count) * width + 3) / 4 * 4);
    shift = static_cast<std::uint32_t>((first * width - begin) / width);
    return {&from.buffer, begin, end - begin};
}

} // namespace headscope::vulkan
