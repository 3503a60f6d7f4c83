#include "core/base/error.h"
#include "core/base/json.h"
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

void SafetensorsWriter::add_generated(const std::string& name, const Shape& shape,
                                      std::function<void(const NumberSink&)> make) {
    add_part(name, {&type_of<float>(), shape, {}, nullptr, std::move(make)});
}

std::string SafetensorsWriter::bytes() const {
    std::string out;
    write_to([&](std::string_view part) { out += part; });
    return out;
}

void SafetensorsWriter::write_to(const ByteSink& sink) const {
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
        const std::size_t size = static_cast<std::size_t>(part.shape.count()) * part.type->width;
        header[row->first] = {{"dtype", part.type->safetensors},
                              {"shape", std::vector<std::int64_t>(part.shape.begin(), part.shape.end())},
                              {"data_offsets", {at, at + size}}};
        at += size;
    }
    // Does not use dump_json, because the safetensors library rejects a header with lone surrogates.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    std::string text = header.dump(-1, ' ', false, replace);
    constexpr std::size_t alignment = 8;
    text.append((alignment - text.size() % alignment) % alignment, ' ');

    std::string begin;
    for (unsigned byte = 0; byte < alignment; ++byte)
        begin.push_back(static_cast<char>(static_cast<std::uint64_t>(text.size()) >> 8U * byte & 0xFFU));
    sink(begin);
    sink(text);
    const auto put = [&](std::span<const std::byte> bytes) {
        sink({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    };
    for (const Row* row : order) {
        const Part& part = row->second;
        if (!part.make) {
            put(part.bytes);
            continue;
        }
        std::int64_t left = part.shape.count();
        part.make([&](std::span<const float> numbers) {
            left -= std::ssize(numbers);
            put(std::as_bytes(numbers));
        });
        if (left != 0)
            throw Error(ErrorKind::internal,
                        "the tensor " + row->first +
                            " was made with another count of numbers than its shape has");
    }
}

} // namespace headscope::format
