#include "core/format/arrays/named_arrays.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/format/arrays/circuitsvis_arrays.h"
#include "core/format/npy_header.h"
#include "core/format/npz.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::format {

namespace {

/// One array without a name.
class NpyArrays final : public NamedArrays {
public:
    explicit NpyArrays(const std::string& path) : file_(path), header_(read_npy_header(file_)) {
        entry_.dtype = header_.type->numpy;
        entry_.extents = header_.extents;
    }
    const std::string& source() const override { return file_.path(); }
    std::vector<const TensorEntry*> entries() const override { return {&entry_}; }
    const NumberType* number_type(const TensorEntry& /*entry*/) const override { return header_.type; }
    void read_numbers(const TensorEntry& /*entry*/, std::uint64_t first, std::span<float> to) const override {
        const std::uint64_t at = header_.data + first * header_.type->width;
        if (header_.type == &type_of<float>())
            return file_.read(at, {reinterpret_cast<char*>(to.data()), to.size_bytes()});
        read_in_pieces(*header_.type, to,
                       [&](std::uint64_t from, std::span<char> bytes) { file_.read(at + from, bytes); });
    }
    std::vector<std::int64_t> integers(const TensorEntry& /*entry*/) const override { return {}; }

private:
    RandomAccessFile file_;
    NpyHeader header_;
    TensorEntry entry_;
};

class SafetensorsArrays final : public NamedArrays {
public:
    explicit SafetensorsArrays(Safetensors file) : file_(std::move(file)) {}
    const std::string& source() const override { return file_.source(); }
    std::vector<const TensorEntry*> entries() const override {
        std::vector<const TensorEntry*> all;
        for (const SafetensorsEntry& entry : file_.entries())
            all.push_back(&entry);
        return all;
    }
    const NumberType* number_type(const TensorEntry& entry) const override {
        return find_safetensors_type(entry.dtype);
    }
    void read_numbers(const TensorEntry& entry, std::uint64_t first, std::span<float> to) const override {
        file_.read_numbers(entry.name, first, to);
    }
    std::vector<std::int64_t> integers(const TensorEntry& entry) const override {
        return file_.integers(entry.name);
    }
    std::optional<std::string> note(std::string_view key) const override {
        const auto entry = file_.metadata().find(std::string(key));
        return entry == file_.metadata().end() ? std::nullopt : std::optional(entry->second);
    }
    std::string note_name(std::string_view key) const override {
        return key == "kv_tokens" ? tr("attention_file.metadata_entry_kv_tokens",
                                       "{}: the metadata entry kv_tokens", source())
               : key == "tokens"
                   ? tr("attention_file.metadata_entry_tokens", "{}: the metadata entry tokens", source())
                   : tr("named_arrays.metadata_entry", "{}: the metadata entry {}", source(), key);
    }

private:
    Safetensors file_;
};

class NpzArrays final : public NamedArrays {
public:
    explicit NpzArrays(NpzFile file) : file_(std::move(file)) {}
    const std::string& source() const override { return file_.source(); }
    std::vector<const TensorEntry*> entries() const override {
        std::vector<const TensorEntry*> all;
        for (const NpzEntry& entry : file_.entries())
            all.push_back(&entry);
        return all;
    }
    const NumberType* number_type(const TensorEntry& entry) const override {
        return find_numpy_type(entry.dtype);
    }
    void require_floats(const TensorEntry& entry) const override {
        file_.require_floats(static_cast<const NpzEntry&>(entry));
    }
    void read_numbers(const TensorEntry& entry, std::uint64_t first, std::span<float> to) const override {
        file_.read_numbers(static_cast<const NpzEntry&>(entry), first, to);
    }
    std::vector<std::int64_t> integers(const TensorEntry& entry) const override {
        return file_.integers(static_cast<const NpzEntry&>(entry));
    }
    /// An array of texts as a list; of two axes, as a list of lists; without axes, the text itself.
    std::optional<std::string> note(std::string_view key) const override {
        const auto* const entry = static_cast<const NpzEntry*>(find(key));
        if (entry == nullptr)
            return std::nullopt;
        const std::vector<std::string> texts = file_.texts(*entry);
        if (texts.empty())
            return std::nullopt;
        if (entry->extents.empty())
            return texts.front();
        if (entry->extents.size() == 1)
            return dump_json(nlohmann::json(texts));
        const auto width = static_cast<std::size_t>(entry->extents.back());
        nlohmann::json lists = nlohmann::json::array();
        for (std::size_t at = 0; at < texts.size(); at += width) {
            const auto row = texts.begin() + static_cast<std::ptrdiff_t>(at);
            lists.push_back(std::vector<std::string>(row, row + static_cast<std::ptrdiff_t>(width)));
        }
        return dump_json(lists);
    }
    std::string note_name(std::string_view key) const override {
        return tr("npz.array", "{}: the array {}", source(), key);
    }

private:
    NpzFile file_;
};

/// JSON begins with a bracket and has no zero bytes, unlike the length at the beginning of safetensors.
bool begins_as_json(std::string_view start) {
    const std::size_t first = start.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && (start[first] == '{' || start[first] == '[') &&
           start.find('\0') == std::string_view::npos;
}

} // namespace

NamedArraysPtr open_named_arrays(const std::string& path) {
    std::string start;
    {
        const RandomAccessFile file(path);
        constexpr std::uint64_t looked_at = 16;
        start.resize(static_cast<std::size_t>(std::min(file.size(), looked_at)));
        file.read(0, start);
    }
    const std::string ending = std::filesystem::path(path).extension().string();
    if (start.starts_with(npy_magic))
        return std::make_shared<NpyArrays>(path);
    if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06"))
        return std::make_shared<NpzArrays>(NpzFile::open(path));
    if (begins_as_json(start))
        return read_circuitsvis(path);
    if (ending == ".npy")
        return std::make_shared<NpyArrays>(path);
    if (ending == ".npz")
        return std::make_shared<NpzArrays>(NpzFile::open(path));
    if (ending == ".json")
        return read_circuitsvis(path);
    return std::make_shared<SafetensorsArrays>(Safetensors::open_lazily(path));
}

} // namespace headscope::format
