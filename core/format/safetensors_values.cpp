#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/format/number_types.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::format {

namespace {

const NumberType& type_of_entry(const SafetensorsEntry& entry) {
    return *find_safetensors_type(entry.dtype);
}

} // namespace

void Safetensors::copy_bytes(const SafetensorsEntry& entry, std::span<char> to, std::size_t first) const {
    if (file_ != nullptr)
        file_->read(data_ + entry.begin + first, to);
    else
        std::ranges::copy(std::string_view(*bytes_).substr(data_ + entry.begin + first, to.size()),
                          to.begin());
}

std::string_view Safetensors::bytes_of(const SafetensorsEntry& entry, std::string& room) const {
    if (bytes_ != nullptr)
        return std::string_view(*bytes_).substr(data_ + entry.begin, entry.end - entry.begin);
    room.resize(entry.end - entry.begin);
    copy_bytes(entry, room);
    return room;
}

void Safetensors::refuse_dtype(const SafetensorsEntry& entry, const std::string& wanted) const {
    fail_input(tr("safetensors_values.tensor_store", "{}: tensor {} is {}; store it as {}", source_,
                  entry.name, entry.dtype, wanted));
}

TensorPtr Safetensors::tensor(std::string_view name) const {
    const SafetensorsEntry& entry = require_entry(name);
    auto out = std::make_shared<Tensor>(shape_of(entry, source_));
    const NumberType& type = type_of_entry(entry);
    if (type.read_floats == nullptr)
        refuse_dtype(entry, float_type_names());
    if (&type == &type_of<float>()) {
        copy_bytes(entry, {reinterpret_cast<char*>(out->data()), entry.end - entry.begin});
        return out;
    }
    std::string room;
    const std::string_view bytes = bytes_of(entry, room);
    type.read_floats(bytes, out->values());
    for (std::size_t i = 0; type.read_wide != nullptr && i < out->values().size(); ++i)
        if (const double number = type.read_wide(bytes.data() + i * type.width);
            std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max())
            fail_input(
                tr("safetensors_values.number_tensor_float32",
                   "{}: number {} of tensor {} is {}, which float32 cannot hold; scale the tensor down",
                   source_, i, entry.name, fmt::format("{}", number)));
    return out;
}

void Safetensors::read_numbers(std::string_view name, std::uint64_t first, std::span<float> to) const {
    const SafetensorsEntry& entry = require_entry(name);
    const NumberType& type = type_of_entry(entry);
    if (type.read_floats == nullptr)
        refuse_dtype(entry, float_type_names());
    const std::size_t width = type.width, begin = static_cast<std::size_t>(first) * width;
    if (first > (entry.end - entry.begin) / width ||
        to.size_bytes() / sizeof(float) * width > entry.end - entry.begin - begin)
        throw Error(ErrorKind::internal, source_ + ": read beyond tensor " + entry.name);
    read_in_pieces(
        type, to, [&](std::uint64_t from, std::span<char> bytes) { copy_bytes(entry, bytes, begin + from); });
}

std::string Safetensors::stored_bytes(std::string_view name) const {
    const SafetensorsEntry& entry = require_entry(name);
    std::string bytes(entry.end - entry.begin, '\0');
    copy_bytes(entry, bytes);
    return bytes;
}

BoolTensorPtr Safetensors::bools(std::string_view name) const {
    const SafetensorsEntry& entry = require_entry(name);
    if (entry.dtype != "BOOL" && entry.dtype != "U8")
        refuse_dtype(entry, "BOOL");
    auto out = std::make_shared<BoolTensor>();
    out->shape = shape_of(entry, source_);
    std::string room;
    const std::string_view bytes = bytes_of(entry, room);
    out->values.assign(bytes.begin(), bytes.end());
    if (const auto odd = std::ranges::find_if(out->values, [](std::uint8_t byte) { return byte > 1; });
        odd != out->values.end())
        fail_input(tr("safetensors_values.number_tensor_should",
                      "{}: number {} of tensor {} is {}; it should be 0 or 1", source_,
                      odd - out->values.begin(), entry.name, *odd));
    return out;
}

std::vector<std::int64_t> Safetensors::integers(std::string_view name) const {
    const SafetensorsEntry& entry = require_entry(name);
    const NumberType& type = type_of_entry(entry);
    if (type.read_integers == nullptr)
        refuse_dtype(entry, "I64");
    std::string room;
    std::vector<std::int64_t> out;
    type.read_integers(bytes_of(entry, room), out);
    return out;
}

} // namespace headscope::format
