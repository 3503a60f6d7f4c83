#pragma once

#include "core/checkpoint/files/config_reader.h"
#include "core/checkpoint/gguf/gguf_types.h"
#include "core/format/tensor_entry.h"
#include "core/tensor/tensor.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {
class RandomAccessFile;
}

namespace headscope::checkpoint {

/// What the header says of one tensor, of up to 4 axes.
struct GgufEntry : format::TensorEntry {
    const GgufType* type = nullptr;
    std::uint64_t begin = 0; ///< byte range in the file
    std::uint64_t end = 0;
    std::size_t part = 0; ///< of a model in several files
};

/// Which part of a model a file is, by its keys split.no, split.count and split.tensors.count.
struct GgufPart {
    std::int64_t number = 0; ///< from 0
    std::int64_t count = 1;
    std::optional<std::int64_t> tensors = {}; ///< of all parts
};

/// What is kept of a vocabulary's tokens, types, scores and merges, which only a tokenizer needs: all, or
/// empty lists once they are checked.
enum class VocabularyLists { kept, checked };

/// A GGUF file, version 2 or 3, little-endian (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), or
/// all parts of a model in several: metadata, tensors, and their numbers. Opening reads and checks all but
/// the numbers: no length is believed before it is compared with the file, every tensor has a type that is
/// read here and lies in the file without overlap. Immutable; any thread may read it. Copies share the bytes.
class GgufFile {
public:
    static constexpr std::string_view magic = "GGUF";

    /// `source` is the name used in messages. Throws Error(input) naming the source, the key or tensor, and
    /// the fault.
    static GgufFile from_bytes(std::string bytes, std::string source);
    /// Reads the header alone; each tensor is read from the disk on demand, which throws Error(input) when
    /// the file has become shorter since. Of a model in several files any part may be named: the others are
    /// found in its folder, and a missing one throws Error(input) with its name.
    static GgufFile open_lazily(const std::string& path, VocabularyLists lists);
    /// Reads the header of one file, whatever part of a model it is.
    static GgufFile open_one(const std::string& path, VocabularyLists lists);
    /// The parts of a model as one, in the order of their numbers; the first one's metadata count. Throws
    /// Error(input) for a tensor that two have and for a wrong number of tensors.
    static GgufFile joined_parts(std::vector<GgufFile> parts);

    /// Throws Error(input) for keys with impossible numbers.
    GgufPart part() const;
    std::size_t parts() const { return parts_.size(); }

    const std::string& source() const { return source_; }
    /// The key/value pairs. Every integer type is int64, or double where int64 cannot hold it. A float32
    /// number is the double of its shortest decimal digits: 1e-5, as its author wrote it. Messages quote
    /// lists, which may be a vocabulary, by their length. Refers to this file's pairs.
    ConfigReader metadata() const { return {*metadata_, source_, QuotedLists::counted}; }
    /// Sorted by name.
    const std::vector<GgufEntry>& entries() const { return entries_; }
    /// Null when the file has no such tensor.
    const GgufEntry* find(std::string_view name) const;
    /// As float32: quantised numbers are turned into those that they stand for. Throws Error(input) when
    /// there is no such tensor.
    TensorPtr tensor(std::string_view name) const;

    /// The size of the whole file, or of all parts.
    std::uint64_t size_bytes() const;
    /// SHA-256 of all bytes before the tensors, of all parts. Throws Error(input) when the file has become
    /// shorter.
    std::string header_sha256() const;

private:
    GgufFile() = default;
    /// The bytes of one file.
    struct Bytes {
        std::shared_ptr<const std::string> bytes;     ///< the whole file, or null
        std::shared_ptr<const RandomAccessFile> file; ///< the file on disk, or null
        std::uint64_t data = 0;                       ///< offset of the first tensor
        std::uint64_t size() const;
        void copy(std::uint64_t begin, std::span<char> to) const;
    };
    static GgufFile parsed(Bytes bytes, std::string source, VocabularyLists lists);

    std::vector<Bytes> parts_;
    std::string source_;
    std::shared_ptr<const nlohmann::json> metadata_;
    std::vector<GgufEntry> entries_;
};

/// Whether the path is a regular file that begins as GGUF files do.
bool is_gguf(const std::string& path);

} // namespace headscope::checkpoint
