#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/torch/torch_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headscope::format {

namespace {

/// The most numbers that are read at once into memory in addition to the tensor.
constexpr std::int64_t window_numbers = std::int64_t{1} << 18U;

struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 0; ///< in the file, in numbers
    std::int64_t step = 0;   ///< in the tensor that is read
};

/// The axes in the order of the file: largest stride first. Axes of one extent are left out, and two that
/// follow each other in file and tensor alike become one.
std::vector<Axis> axes_in_file(const TorchEntry& entry) {
    std::vector<Axis> axes;
    std::int64_t step = 1;
    for (std::size_t i = entry.extents.size(); i-- > 0;) {
        if (entry.extents[i] > 1)
            axes.push_back({entry.extents[i], entry.strides[i], step});
        step *= entry.extents[i];
    }
    std::ranges::stable_sort(axes, std::ranges::greater(), &Axis::stride);
    std::vector<Axis> merged;
    for (const Axis& axis : axes)
        if (!merged.empty() && merged.back().stride == axis.stride * axis.extent &&
            merged.back().step == axis.step * axis.extent)
            merged.back() = {merged.back().extent * axis.extent, axis.stride, axis.step};
        else
            merged.push_back(axis);
    if (merged.empty())
        merged.emplace_back();
    return merged;
}

/// Counts through all positions of some axes.
template<class Use>
void for_each_position(std::span<const Axis> axes, std::int64_t stride_sum, std::int64_t step_sum,
                       const Use& use) {
    if (axes.empty())
        return use(stride_sum, step_sum);
    for (std::int64_t i = 0; i < axes.front().extent; ++i)
        for_each_position(axes.subspan(1), stride_sum + i * axes.front().stride,
                          step_sum + i * axes.front().step, use);
}

} // namespace

const TorchEntry& TorchFile::require_floats(std::string_view name) const {
    const TorchEntry* const entry = find(name);
    if (entry == nullptr)
        fail_input(
            tr("torch_file.no_tensor", "{} has no tensor {}; get the file again", source_, shown_name(name)));
    if (entry->type->read_floats == nullptr)
        fail_input(tr("safetensors_values.tensor_store", "{}: tensor {} is {}; store it as {}", source_,
                      shown_name(name), entry->dtype, float_type_names()));
    return *entry;
}

TensorPtr TorchFile::tensor(std::string_view name) const {
    const TorchEntry& entry = require_floats(name);
    auto out = std::make_shared<Tensor>(shape_of(entry, source_));
    const NumberType& type = *entry.type;
    if (out->values().empty())
        return out;
    if (entry.contiguous && &type == &type_of<float>()) {
        bytes_.read(entry.begin, {reinterpret_cast<char*>(out->data()), out->values().size_bytes()});
        return out;
    }
    const auto put = [&](std::span<const char> bytes, std::span<const float> numbers, std::int64_t from,
                         std::int64_t to) {
        const auto at = static_cast<std::size_t>(from);
        out->data()[to] = numbers[at];
        if (type.read_wide == nullptr || !std::isinf(numbers[at]))
            return;
        if (const double number = type.read_wide(bytes.data() + at * type.width); std::isfinite(number))
            fail_input(
                tr("safetensors_values.number_tensor_float32",
                   "{}: number {} of tensor {} is {}, which float32 cannot hold; scale the tensor down",
                   source_, to, shown_name(name), fmt::format("{}", number)));
    };
    const std::vector<Axis> axes = axes_in_file(entry);
    // The inner axes are read together as long as most bytes between their numbers belong to the tensor.
    constexpr std::int64_t most_wasted = 8;
    std::size_t inner = axes.size();
    std::int64_t span = 1, count = 1;
    for (; inner > 1; --inner) {
        const Axis& axis = axes[inner - 1];
        const std::int64_t wider = span + (axis.extent - 1) * axis.stride;
        if (wider > window_numbers || wider / (count * axis.extent) > most_wasted)
            break;
        span = wider;
        count *= axis.extent;
    }
    const Axis& divided = axes[inner - 1];
    const std::span<const Axis> all(axes), outside = all.first(inner - 1), inside = all.subspan(inner);
    const bool dense = divided.stride / std::max<std::int64_t>(count, 1) <= most_wasted;
    const std::int64_t most_rows =
        divided.stride == 0 ? divided.extent
        : dense             ? std::max<std::int64_t>(1, (window_numbers - span) / divided.stride + 1)
                            : 1;
    std::vector<char> bytes;
    std::vector<float> numbers;
    for_each_position(outside, 0, 0, [&](std::int64_t first, std::int64_t to) {
        for (std::int64_t row = 0; row < divided.extent; row += most_rows) {
            Axis part = divided;
            part.extent = std::min(most_rows, divided.extent - row);
            numbers.resize(static_cast<std::size_t>((part.extent - 1) * part.stride + span));
            bytes.resize(numbers.size() * type.width);
            bytes_.read(entry.begin + static_cast<std::uint64_t>(first + row * divided.stride) * type.width,
                        bytes);
            type.read_floats(bytes, numbers);
            for_each_position(
                std::span(&part, 1), 0, to + row * divided.step, [&](std::int64_t from, std::int64_t into) {
                    for_each_position(inside, from, into,
                                      [&](std::int64_t a, std::int64_t b) { put(bytes, numbers, a, b); });
                });
        }
    });
    return out;
}

void TorchFile::read_numbers(std::string_view name, std::uint64_t first, std::span<float> to) const {
    const TorchEntry& entry = require_floats(name);
    std::uint64_t count = 1;
    for (const std::int64_t extent : entry.extents)
        count *= static_cast<std::uint64_t>(extent);
    if (!entry.contiguous || first > count || to.size() > count - first)
        throw Error(ErrorKind::internal, source_ + ": read other numbers than those of " + entry.name);
    const std::uint64_t begin = entry.begin + first * entry.type->width;
    read_in_pieces(*entry.type, to,
                   [&](std::uint64_t from, std::span<char> bytes) { bytes_.read(begin + from, bytes); });
}

} // namespace headscope::format
