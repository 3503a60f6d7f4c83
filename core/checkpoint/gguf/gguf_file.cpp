#include "core/checkpoint/gguf/gguf_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/base/sha256.h"
#include "core/checkpoint/gguf/gguf_header.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace headscope::checkpoint {

void GgufFile::parse(std::string source, VocabularyLists lists) {
    const auto read = [this](std::uint64_t begin, std::span<char> to) { copy_bytes(begin, to); };
    GgufHeader header = read_gguf_header(read, size_bytes(), source, lists);
    source_ = std::move(source);
    metadata_ = std::move(header.metadata);
    entries_ = std::move(header.entries);
    data_ = header.data;
}

GgufFile GgufFile::from_bytes(std::string bytes, std::string source) {
    GgufFile file;
    file.bytes_ = std::make_shared<const std::string>(std::move(bytes));
    file.parse(std::move(source), VocabularyLists::kept);
    return file;
}

GgufFile GgufFile::open_lazily(const std::string& path, VocabularyLists lists) {
    GgufFile file;
    file.file_ = std::make_shared<const RandomAccessFile>(path);
    file.parse(path, lists);
    return file;
}

void GgufFile::copy_bytes(std::uint64_t begin, std::span<char> to) const {
    if (file_ != nullptr)
        file_->read(begin, to);
    else
        std::memcpy(to.data(), bytes_->data() + begin, to.size());
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
        copy_bytes(at, piece);
        type.decode(piece, left.first(blocks * type.numbers));
        left = left.subspan(blocks * type.numbers);
    }
    return tensor;
}

std::uint64_t GgufFile::size_bytes() const {
    return bytes_ != nullptr ? bytes_->size() : file_->size();
}

std::string GgufFile::header_sha256() const {
    std::string header(static_cast<std::size_t>(std::min(data_, size_bytes())), '\0');
    copy_bytes(0, header);
    return sha256(header);
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
