#include "core/base/error.h"
#include "core/format/number_types.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::format {

void SafetensorsWriter::add_part(const std::string& name, Part part) {
    if (name == "__metadata__" || !parts_.try_emplace(name, std::move(part)).second)
        throw Error(ErrorKind::internal, "the tensor name " + name + " was used twice in one file");
}

void SafetensorsWriter::add(const std::string& name, TensorPtr tensor) {
    const auto bytes = std::as_bytes(tensor->values());
    const Shape shape = tensor->shape();
    add_part(name, {&type_of<float>(), shape, bytes, std::move(tensor)});
}

void SafetensorsWriter::add(const std::string& name, BoolTensorPtr tensor) {
    const auto bytes = std::as_bytes(std::span(tensor->values));
    const Shape shape = tensor->shape;
    add_part(name, {&type_of<bool>(), shape, bytes, std::move(tensor)});
}

void SafetensorsWriter::add_integers(const std::string& name, const Shape& shape,
                                     std::span<const std::int64_t> values) {
    auto owner = std::make_shared<const std::vector<std::int64_t>>(values.begin(), values.end());
    const auto bytes = std::as_bytes(std::span(*owner));
    add_part(name, {&type_of<std::int64_t>(), shape, bytes, std::move(owner)});
}

std::string SafetensorsWriter::bytes() const {
    using Row = std::pair<const std::string, Part>;
    std::vector<const Row*> order;
    for (const Row& row : parts_)
        order.push_back(&row);
    std::ranges::stable_sort(order, std::greater<>(), [](const Row* row) { return row->second.type->width; });

    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata_.empty())
        header["__metadata__"] = metadata_;
    std::size_t at = 0;
    for (const Row* row : order) {
        const Part& part = row->second;
        header[row->first] = {{"dtype", part.type->safetensors},
                              {"shape", std::vector<std::int64_t>(part.shape.begin(), part.shape.end())},
                              {"data_offsets", {at, at + part.bytes.size()}}};
        at += part.bytes.size();
    }
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    std::string text = header.dump(-1, ' ', false, replace);
    constexpr std::size_t alignment = 8;
    text.append((alignment - text.size() % alignment) % alignment, ' ');

    std::string out;
    out.reserve(alignment + text.size() + at);
    for (unsigned byte = 0; byte < alignment; ++byte)
        out.push_back(static_cast<char>(static_cast<std::uint64_t>(text.size()) >> 8U * byte & 0xFFU));
    out += text;
    for (const Row* row : order)
        out.append(reinterpret_cast<const char*>(row->second.bytes.data()), row->second.bytes.size());
    return out;
}

} // namespace headscope::format
