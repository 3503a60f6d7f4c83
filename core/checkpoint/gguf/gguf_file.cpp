#include "core/checkpoint/gguf/gguf_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/base/sha256.h"
#include "core/checkpoint/gguf/gguf_header.h"
#include "core/checkpoint/gguf/gguf_parts.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace headscope::checkpoint {

GgufFile GgufFile::parsed(Bytes bytes, std::string source, VocabularyLists lists) {
    const auto read = [&](std::uint64_t begin, std::span<char> to) { bytes.copy(begin, to); };
    GgufHeader header = read_gguf_header(read, bytes.size(), source, lists);
    bytes.data = header.data;
    GgufFile file;
    file.source_ = std::move(source);
    file.metadata_ = std::move(header.metadata);
    file.entries_ = std::move(header.entries);
    file.parts_.push_back(std::move(bytes));
    return file;
}

GgufFile GgufFile::from_bytes(std::string bytes, std::string source) {
    return parsed({.bytes = std::make_shared<const std::string>(std::move(bytes)), .file = {}},
                  std::move(source), VocabularyLists::kept);
}

GgufFile GgufFile::open_one(const std::string& path, VocabularyLists lists) {
    return parsed({.bytes = {}, .file = std::make_shared<const RandomAccessFile>(path)}, path, lists);
}

GgufFile GgufFile::open_lazily(const std::string& path, VocabularyLists lists) {
    GgufFile file = open_one(path, lists);
    return file.part().count > 1 ? open_gguf_parts(std::move(file), path, lists) : file;
}

GgufFile GgufFile::joined_parts(std::vector<GgufFile> parts) {
    const std::optional<std::int64_t> tensors = parts.front().part().tensors;
    GgufFile whole;
    for (GgufFile& part : parts) {
        for (GgufEntry& entry : part.entries_) {
            entry.part = whole.parts_.size();
            whole.entries_.push_back(std::move(entry));
        }
        whole.parts_.push_back(std::move(part.parts_.front()));
    }
    whole.source_ = std::move(parts.front().source_);
    whole.metadata_ = std::move(parts.front().metadata_);
    std::ranges::sort(whole.entries_, {}, &GgufEntry::name);
    const auto twice = std::ranges::adjacent_find(whole.entries_, {}, &GgufEntry::name);
    if (twice != whole.entries_.end())
        fail_input(tr("gguf_file.tensor_in_two_parts",
                      "two parts of {} have the tensor {}; get all parts again", whole.source_, twice->name));
    if (tensors && *tensors != std::ssize(whole.entries_))
        fail_input(tr("gguf_file.parts_tensors",
                      "the parts of {} have {} tensors; the first part says {}, so get all parts again",
                      whole.source_, whole.entries_.size(), *tensors));
    return whole;
}

GgufPart GgufFile::part() const {
    constexpr const char *number_key = "split.no", *count_key = "split.count";
    constexpr std::int64_t most = 65'535; // both have 16 bits
    const ConfigReader keys = metadata();
    const GgufPart part{.number = keys.integer(number_key, 0).value_or(0),
                        .count = keys.integer(count_key, 0).value_or(1),
                        .tensors = keys.integer("split.tensors.count", 0)};
    if (part.count > most)
        keys.refuse(count_key, tr("common.most", "at most {}", most));
    if (part.count > 1 && part.number >= part.count)
        keys.refuse(number_key, tr("gguf_file.below_count", "below split.count, {}", part.count));
    return part;
}

std::uint64_t GgufFile::Bytes::size() const {
    return bytes != nullptr ? bytes->size() : file->size();
}

void GgufFile::Bytes::copy(std::uint64_t begin, std::span<char> to) const {
    if (file != nullptr)
        file->read(begin, to);
    else
        std::memcpy(to.data(), bytes->data() + begin, to.size());
}

const GgufEntry* GgufFile::find(std::string_view name) const {
    const auto row = std::ranges::lower_bound(entries_, name, {}, &GgufEntry::name);
    return row != entries_.end() && row->name == name ? &*row : nullptr;
}

TensorPtr GgufFile::tensor(std::string_view name) const {
    const GgufEntry* const entry = find(name);
    if (entry == nullptr)
        fail_input(
            tr("gguf_file.no_tensor_get_file", "{} has no tensor {}; get the file again", source(), name));
    auto tensor = std::make_shared<Tensor>(format::shape_of(*entry, source()));
    const GgufType& type = *entry->type;
    // Only some blocks of the file are in memory beside the tensor.
    constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
    const std::size_t most_blocks = piece_bytes / type.bytes;
    std::string piece;
    std::span<float> left = tensor->values();
    for (std::uint64_t at = entry->begin; !left.empty(); at += piece.size()) {
        const std::size_t blocks = std::min(most_blocks, left.size() / type.numbers);
        piece.resize(blocks * type.bytes);
        parts_[entry->part].copy(at, piece);
        type.decode(piece, left.first(blocks * type.numbers));
        left = left.subspan(blocks * type.numbers);
    }
    return tensor;
}

std::uint64_t GgufFile::size_bytes() const {
    std::uint64_t size = 0;
    for (const Bytes& part : parts_)
        size += part.size();
    return size;
}

std::string GgufFile::header_sha256() const {
    std::string headers;
    for (const Bytes& part : parts_) {
        const std::size_t before = headers.size();
        headers.resize(before + static_cast<std::size_t>(std::min(part.data, part.size())));
        part.copy(0, std::span(headers).subspan(before));
    }
    return sha256(headers);
}

bool is_gguf(const std::string& path) {
    // What is read from a pipe is gone for whoever opens it next.
    if (std::error_code none; !std::filesystem::is_regular_file(path, none))
        return false;
    try {
        const RandomAccessFile file(path);
        std::string start(GgufFile::magic.size(), '\0');
        if (file.size() < start.size())
            return false;
        file.read(0, start);
        return start == GgufFile::magic;
    } catch (const Error&) {
        return false;
    }
}

} // namespace headscope::checkpoint
