#include "core/base/error.h"
#include "core/base/json.h"
#include "core/format/npy.h"
#include "core/format/number_types.h"
#include "core/format/safetensors.h"
#include "core/format/zip/zip_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::format {

namespace {

using nlohmann::json;

/// Texts with the axes that they are written with.
struct TextArray {
    std::vector<std::string> texts;
    Shape shape;
};

bool is_list_of_texts(const json& value) {
    return value.is_array() && std::ranges::all_of(value, [](const json& one) { return one.is_string(); });
}

/// The value of a note in JSON; null for any other text.
json value_of_note(const std::string& note) {
    try {
        return parse_json_with_bytes(note, "");
    } catch (const Error&) {
        return nullptr;
    }
}

TextArray text_array(const std::string& note) {
    const json value = value_of_note(note);
    if (!value.is_array() || value.empty())
        return {{note}, {}};
    TextArray array;
    if (is_list_of_texts(value)) {
        array.texts = value.get<std::vector<std::string>>();
        array.shape = Shape{std::ssize(array.texts)};
        return array;
    }
    if (!std::ranges::all_of(value, is_list_of_texts))
        return {{note}, {}};
    std::size_t width = 0;
    for (const json& row : value)
        width = std::max(width, row.size());
    for (const json& row : value) {
        auto texts = row.get<std::vector<std::string>>();
        texts.resize(width); // the array has no rows of different lengths
        std::ranges::move(texts, std::back_inserter(array.texts));
    }
    array.shape = Shape{static_cast<std::int64_t>(value.size()), static_cast<std::int64_t>(width)};
    return array;
}

/// The code points of UTF-8; a byte that is not part of a character becomes U+FFFD.
std::vector<std::uint32_t> code_points(std::string_view text) {
    constexpr std::uint32_t replacement = 0xFFFD;
    std::vector<std::uint32_t> codes;
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = first < 0x80   ? 1
                                   : first < 0xC2 ? 0
                                   : first < 0xE0 ? 2
                                   : first < 0xF0 ? 3
                                   : first < 0xF5 ? 4
                                                  : 0;
        std::uint32_t code = length == 1 ? first : first & (0x7FU >> std::max<std::size_t>(length, 1));
        bool valid = length > 0 && text.size() - at >= length;
        for (std::size_t i = 1; valid && i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            valid = (next & 0xC0U) == 0x80;
            code = code << 6U | (next & 0x3FU);
        }
        codes.push_back(valid ? code : replacement);
        at += valid ? length : 1;
    }
    return codes;
}

/// A .npy file of texts, type <U.
std::string npy_of_texts(const TextArray& array) {
    std::vector<std::vector<std::uint32_t>> texts;
    std::size_t longest = 1;
    for (const std::string& text : array.texts) {
        texts.push_back(code_points(text));
        longest = std::max(longest, texts.back().size());
    }
    std::string out = npy_header("<U" + std::to_string(longest), array.shape);
    for (std::vector<std::uint32_t>& codes : texts) {
        codes.resize(longest);
        for (const std::uint32_t code : codes)
            for (unsigned byte = 0; byte < 4; ++byte)
                out += static_cast<char>(static_cast<unsigned char>(code >> 8U * byte & 0xFFU));
    }
    return out;
}

} // namespace

void SafetensorsWriter::write_npz_to(const ByteSink& sink) const {
    ZipWriter zip(sink);
    for (const auto& [name, part] : parts_) {
        const std::string header = npy_header(part.type->numpy, part.shape);
        const std::uint64_t bytes = static_cast<std::uint64_t>(part.shape.count()) * part.type->width;
        const auto make = [&header, &part = part](const ByteSink& to) {
            to(header);
            if (part.make)
                part.make([&](std::span<const float> numbers) {
                    const auto raw = std::as_bytes(numbers);
                    to({reinterpret_cast<const char*>(raw.data()), raw.size()});
                });
            else
                to({reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()});
        };
        zip.add(name + ".npy", header.size() + bytes, make, static_cast<bool>(part.make));
    }
    for (const auto& [key, note] : metadata_) {
        if (parts_.contains(key)) // an array has this name
            continue;
        const std::string bytes = npy_of_texts(text_array(note));
        zip.add(key + ".npy", bytes.size(), [&](const ByteSink& to) { to(bytes); });
    }
    zip.finish();
}

void SafetensorsWriter::write_as(const std::string& path, const ByteSink& sink) const {
    if (path.ends_with(".npz"))
        write_npz_to(sink);
    else
        write_to(sink);
}

} // namespace headscope::format
