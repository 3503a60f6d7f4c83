#include "core/format/safetensors.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/base/sha256.h"
#include "core/format/byte_source.h"
#include "core/format/number_types.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace headscope::format {

namespace {

using nlohmann::json;

constexpr std::size_t prefix = 8;
constexpr std::size_t largest_header = 100'000'000;
constexpr std::size_t most_axes = 8;

/// Rejects files that are often mistaken for safetensors, by their first bytes.
void refuse_other_formats(std::string_view bytes, const std::string& source) {
    // A valid header length can begin with the same bytes; in that case the opening brace of the JSON
    // follows.
    if (bytes.size() > prefix && bytes[prefix] == '{')
        return;
    const bool pickled = bytes.starts_with("PK\x03\x04") || bytes.starts_with("\x80\x02") ||
                         bytes.starts_with("\x80\x03") || bytes.starts_with("\x80\x04");
    if (pickled)
        fail_input(tr("safetensors.pytorch_pickle_pt_bin",
                      "{} is a PyTorch pickle (.pt, .bin), not safetensors; rename it if it is the "
                      "pytorch_model.bin of a checkpoint, or convert it in Python: "
                      "safetensors.torch.save_file(torch.load(path, weights_only=True), "
                      "\"out.safetensors\")",
                      source));
    if (bytes.starts_with("\x93NUMPY"))
        fail_input(tr("safetensors.numpy_file_not_safetensors",
                      "{} is a NumPy file, not safetensors; convert it in Python: "
                      "safetensors.numpy.save_file({{\"X\": numpy.load(path)}}, \"out.safetensors\")",
                      source));
    refuse_git_lfs_pointer(bytes, source);
}

/// The size of the header in bytes. `start`: the first bytes of a file of `size` bytes.
std::size_t header_size(std::string_view start, std::size_t size, const std::string& source) {
    refuse_other_formats(start, source);
    if (size < prefix)
        fail_input(tr_n("safetensors.byte_too_few_safetensors",
                        "{} has {} byte, too few for a safetensors file; get it again",
                        "{} has {} bytes, too few for a safetensors file; get it again",
                        static_cast<std::int64_t>(size), source, size));
    const std::uint64_t header_bytes = little_endian(start.substr(0, prefix));
    if (header_bytes > std::min(largest_header, size - prefix))
        fail_input(tr("safetensors.no_safetensors_file_cut",
                      "{} is not a safetensors file, or was cut short: it announces a header of {} bytes and "
                      "has {} after the first 8; name another file or get it again",
                      source, header_bytes, size - prefix));
    return static_cast<std::size_t>(header_bytes);
}

std::uint64_t whole_number(const json& value, const std::string& where) {
    if (!value.is_number_unsigned())
        fail_input(tr("safetensors.expected_whole_number_0",
                      "{}: expected a whole number of 0 or more, found {}", where,
                      value.dump().substr(0, 40)));
    return value.get<std::uint64_t>();
}

/// Product of the extents and the width; nullopt on overflow. The other extents must not overflow even if one
/// extent is 0, because later code multiplies sizes in any order.
std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& extents, std::size_t width) {
    auto bytes = static_cast<std::int64_t>(width);
    for (const std::int64_t extent : extents)
        if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes))
            return std::nullopt;
    const bool empty = std::ranges::find(extents, 0) != extents.end();
    return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

const json& need_field(const json& value, const char* field, const std::string& where) {
    const auto found = value.find(field);
    if (found == value.end())
        fail_input(tr("safetensors.no_header_write_file",
                      "{} has no \"{}\" in the header; write the file again", where, field));
    return *found;
}

SafetensorsEntry read_entry(const std::string& name, const json& value, std::size_t data_bytes,
                            const std::string& source) {
    const std::string where = tr("common.tensor", "{}: tensor {}", source, name);
    if (!value.is_object())
        fail_input(tr("safetensors.not_described_object_header",
                      "{} is not described by an object in the header; write the file again", where));
    SafetensorsEntry entry;
    entry.name = name;
    const json& dtype = need_field(value, "dtype", where);
    const NumberType* const type = find_safetensors_type(dtype.is_string() ? dtype.get<std::string>() : "");
    if (type == nullptr)
        fail_input(tr("safetensors.unknown_type_store_f32", "{} has the unknown type {}; store it as F32",
                      where, dtype.dump().substr(0, 40)));
    entry.dtype = type->safetensors;

    const json& shape = need_field(value, "shape", where);
    if (!shape.is_array() || shape.size() > most_axes)
        fail_input(tr("safetensors.shape_should_list_most",
                      "{}: its shape should be a list of at most 8 whole numbers", where));
    for (const json& extent : shape) {
        const std::uint64_t number = whole_number(extent, tr("safetensors.shape", "{}: its shape", where));
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail_input(tr("safetensors.extent_shape_too_large", "{}: the extent {} of its shape is too large",
                          where, extent.dump()));
        entry.extents.push_back(static_cast<std::int64_t>(number));
    }

    const json& offsets = need_field(value, "data_offsets", where);
    if (!offsets.is_array() || offsets.size() != 2)
        fail_input(tr("safetensors.data_offsets_should_list",
                      "{}: its data_offsets should be a list of two whole numbers", where));
    const std::uint64_t begin =
        whole_number(offsets[0], tr("safetensors.data_offsets", "{}: its data_offsets", where));
    const std::uint64_t end =
        whole_number(offsets[1], tr("safetensors.data_offsets", "{}: its data_offsets", where));
    if (begin > end || end > data_bytes)
        fail_input(
            tr("safetensors.lies_bytes_bytes_data",
               "{} is at bytes {} to {} of {} bytes of data; the file is cut short or damaged, get it again",
               where, offsets[0].dump(), offsets[1].dump(), data_bytes));
    if (byte_count(entry.extents, type->width) != end - begin)
        fail_input(tr_n("safetensors.type_shape_not_fit",
                        "{} of type {} and shape {} does not fit its {} byte; write the file again",
                        "{} of type {} and shape {} does not fit its {} bytes; write the file again",
                        static_cast<std::int64_t>(end - begin), where, entry.dtype, entry.shape_text(),
                        end - begin));
    entry.begin = static_cast<std::size_t>(begin);
    entry.end = static_cast<std::size_t>(end);
    return entry;
}

/// Checks that every byte of the data belongs to exactly one tensor.
void check_layout(const std::vector<SafetensorsEntry>& entries, std::size_t data_bytes,
                  const std::string& source) {
    std::vector<const SafetensorsEntry*> in_file;
    in_file.reserve(entries.size());
    for (const SafetensorsEntry& entry : entries)
        in_file.push_back(&entry);
    std::ranges::sort(in_file, {}, [](const auto* entry) { return std::pair(entry->begin, entry->end); });
    std::size_t at = 0;
    for (const SafetensorsEntry* entry : in_file) {
        if (entry->begin < at)
            fail_input(tr("safetensors.tensor_overlaps_another_one",
                          "{}: tensor {} overlaps another one; write the file again", source, entry->name));
        if (entry->begin > at)
            fail_input(tr_n("safetensors.byte_before_tensor_belongs",
                            "{}: the {} byte before tensor {} belongs to no tensor; write the file again",
                            "{}: the {} bytes before tensor {} belong to no tensor; write the file again",
                            static_cast<std::int64_t>(entry->begin - at), source, entry->begin - at,
                            entry->name));
        at = entry->end;
    }
    if (at != data_bytes)
        fail_input(tr_n("safetensors.last_byte_belongs_no",
                        "{}: the last {} byte belongs to no tensor; the file is damaged, get it again",
                        "{}: the last {} bytes belong to no tensor; the file is damaged, get it again",
                        static_cast<std::int64_t>(data_bytes - at), source, data_bytes - at));
}

std::map<std::string, std::string> read_metadata(const json& value, const std::string& source) {
    std::map<std::string, std::string> metadata;
    if (!value.is_object())
        fail_input(tr("safetensors.metadata_should_object", "{}: __metadata__ should be an object of strings",
                      source));
    for (const auto& [key, text] : value.items()) {
        if (!text.is_string())
            fail_input(tr("safetensors.metadata_entry_should_string",
                          "{}: the metadata entry {} should be a string", source, key));
        metadata[key] = text.get<std::string>();
    }
    return metadata;
}

} // namespace

void Safetensors::parse(std::string_view header, std::size_t data_bytes) {
    if (!header.starts_with('{'))
        fail_input(tr("safetensors.no_safetensors_file_header",
                      "{} is not a safetensors file: its header does not begin with {{; name another file",
                      source_));
    const json parsed = parse_json(header, tr("common.header", "the header of {}", source_));
    for (const auto& [name, value] : parsed.items())
        if (name == "__metadata__")
            metadata_ = read_metadata(value, source_);
        else
            entries_.push_back(read_entry(name, value, data_bytes, source_));
    std::ranges::sort(entries_, {}, &SafetensorsEntry::name);
    check_layout(entries_, data_bytes, source_);
}

Safetensors Safetensors::from_bytes(std::string bytes, std::string source) {
    Safetensors file;
    file.source_ = std::move(source);
    const std::size_t header_bytes = header_size(bytes, bytes.size(), file.source_);
    file.data_ = prefix + header_bytes;
    file.parse(std::string_view(bytes).substr(prefix, header_bytes), bytes.size() - file.data_);
    file.bytes_ = std::make_shared<const std::string>(std::move(bytes));
    return file;
}

Safetensors Safetensors::open(const std::string& path) {
    // Tensors of a large file are read directly into their destination, without a second copy.
    constexpr std::uintmax_t large = 8 * mebibyte;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(path, unknown) && std::filesystem::file_size(path, unknown) > large)
        return open_lazily(path);
    // While a pipe is read its bytes are in memory twice, and tensors are created from them.
    const std::uint64_t most = std::max(available_memory() / 4, mebibyte);
    return from_bytes(read_file_into_memory(path, most),
                      path == "-" ? tr("common.standard_input", "standard input") : path);
}

Safetensors Safetensors::open_lazily(const std::string& path) {
    Safetensors file;
    file.source_ = path;
    file.file_ = std::make_shared<const RandomAccessFile>(path);
    const auto size = static_cast<std::size_t>(file.file_->size());
    constexpr std::size_t longest_signature = 32;
    std::string start(std::min(size, longest_signature), '\0');
    file.file_->read(0, start);
    std::string header(header_size(start, size, path), '\0');
    file.file_->read(prefix, header);
    file.data_ = prefix + header.size();
    file.parse(header, size - file.data_);
    return file;
}

std::uint64_t Safetensors::size_bytes() const {
    return bytes_ != nullptr ? bytes_->size() : file_->size();
}

std::string Safetensors::header_sha256() const {
    if (bytes_ != nullptr)
        return sha256(std::string_view(*bytes_).substr(0, data_));
    std::string header(data_, '\0');
    file_->read(0, header);
    return sha256(header);
}

const SafetensorsEntry* Safetensors::find(std::string_view name) const {
    const auto row = std::ranges::lower_bound(entries_, name, {}, &SafetensorsEntry::name);
    return row != entries_.end() && row->name == name ? &*row : nullptr;
}

const SafetensorsEntry& Safetensors::require_entry(std::string_view name) const {
    if (const SafetensorsEntry* entry = find(name); entry != nullptr)
        return *entry;
    constexpr std::size_t most_named = 20;
    std::string names =
        joined(std::span(entries_).first(std::min(entries_.size(), most_named)), &SafetensorsEntry::name);
    if (entries_.size() > most_named)
        names += ", ...";
    fail_input(
        names.empty()
            ? tr("safetensors.no_tensor_no_tensors", "{} has no tensor {}; it has no tensors", source_, name)
            : tr("safetensors.no_tensor", "{} has no tensor {}; it has {}", source_, name, names));
}

} // namespace headscope::format
