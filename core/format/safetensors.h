#pragma once

#include "core/attention/mask.h"
#include "core/base/file.h"
#include "core/format/tensor_entry.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {
class RandomAccessFile;
}

namespace headscope::format {

struct NumberType;

// The format: 8 bytes N (little-endian), N bytes of JSON with the dtype, shape and byte range of each tensor,
// then the bytes of the tensors without gaps (https://github.com/huggingface/safetensors, section "Format").

/// The header entry of one tensor, which has up to 8 axes.
struct SafetensorsEntry : TensorEntry {
    std::size_t begin = 0; ///< byte range after the header
    std::size_t end = 0;
};

/// A safetensors file. Opening checks the whole header: every byte range is inside the file and matches its
/// shape, without overlap or gap. Immutable; any thread may read it. Copies share the bytes.
class Safetensors {
public:
    /// `source` is the name used in messages. Throws Error(input) with the source, the tensor and the
    /// problem.
    static Safetensors from_bytes(std::string bytes, std::string source);
    /// "-" is standard input. Throws like from_bytes, and Error(input) if the file cannot be read.
    static Safetensors open(const std::string& path);
    /// Reads only the header of a regular file. Each tensor is read from the disk on demand; reading throws
    /// Error(input) if the file has been truncated since.
    static Safetensors open_lazily(const std::string& path);

    const std::string& source() const { return source_; }
    /// Sorted by name.
    const std::vector<SafetensorsEntry>& entries() const { return entries_; }
    bool has(std::string_view name) const { return find(name) != nullptr; }
    /// Null if the file has no such tensor.
    const SafetensorsEntry* find(std::string_view name) const;
    const std::map<std::string, std::string>& metadata() const { return metadata_; }

    /// The size of the whole file.
    std::uint64_t size_bytes() const;
    /// SHA-256 of all bytes before the tensors: names, types, shapes and offsets. Throws Error(input) if the
    /// file has been truncated since it was opened.
    std::string header_sha256() const;

    // Each function throws Error(input) if the tensor is missing, has another dtype or a rank above 4.
    /// F32, F16, BF16 or F64 numbers as float32. Throws if a finite F64 number is outside float32's range.
    TensorPtr tensor(std::string_view name) const;
    /// Reads `to.size()` numbers of such a tensor, of any rank, from number `first` on. A float64 outside
    /// float32's range becomes an infinity. Throws Error(internal) for numbers outside the tensor.
    void read_numbers(std::string_view name, std::uint64_t first, std::span<float> to) const;
    /// The bytes of a tensor of any type, as they are stored.
    std::string stored_bytes(std::string_view name) const;
    /// BOOL or U8; throws if a byte is neither 0 nor 1.
    BoolTensorPtr bools(std::string_view name) const;
    /// I64, U32, I32, U16, I16, U8, I8 or BOOL.
    std::vector<std::int64_t> integers(std::string_view name) const;

private:
    Safetensors() = default;
    const SafetensorsEntry& require_entry(std::string_view name) const;
    /// The tensor's bytes in memory, or read from the disk into `room`.
    std::string_view bytes_of(const SafetensorsEntry& entry, std::string& room) const;
    /// Copies bytes of the tensor, starting at its byte `first`.
    void copy_bytes(const SafetensorsEntry& entry, std::span<char> to, std::size_t first = 0) const;
    void parse(std::string_view header, std::size_t data_bytes);
    [[noreturn]] void refuse_dtype(const SafetensorsEntry& entry, const std::string& wanted) const;

    std::string source_;
    std::shared_ptr<const std::string> bytes_;     ///< the whole file, or null
    std::shared_ptr<const RandomAccessFile> file_; ///< the file on disk, or null
    std::size_t data_ = 0;                         ///< offset of the first tensor in the file
    std::vector<SafetensorsEntry> entries_;
    std::map<std::string, std::string> metadata_;
};

/// Collects tensors and writes them as a file. Equal content gives equal bytes: tensors are sorted by width,
/// widest first, then by name. The tensors begin at a multiple of 8.
class SafetensorsWriter {
public:
    // Each throws Error(internal) if the name is already used.
    void add(const std::string& name, TensorPtr tensor);
    void add(const std::string& name, BoolTensorPtr tensor);
    void add_integers(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);
    /// Adds numbers that `make` passes to its sink while the file is written: shape.count() of them, in
    /// order.
    using NumberSink = std::function<void(std::span<const float> numbers)>;
    void add_generated(const std::string& name, const Shape& shape,
                       std::function<void(const NumberSink&)> make);
    void set_metadata(const std::string& key, std::string text) { metadata_[key] = std::move(text); }

    std::string bytes() const;
    /// Writes the same bytes part by part. Throws what the sink and the functions of add_generated throw.
    void write_to(const ByteSink& sink) const;
    /// Writes the tensors as the arrays of a .npz file instead, uncompressed and sorted by name. Metadata
    /// become arrays of texts: a JSON list of texts with one axis, a list of such lists with two, anything
    /// else without axes.
    void write_npz_to(const ByteSink& sink) const;
    /// Calls one of both: write_npz_to if the path ends in .npz.
    void write_as(const std::string& path, const ByteSink& sink) const;

private:
    struct Part {
        const NumberType* type;
        Shape shape;
        std::span<const std::byte> bytes;              ///< of numbers in memory
        std::shared_ptr<const void> owner;             ///< keeps `bytes` alive
        std::function<void(const NumberSink&)> make{}; ///< of the others
    };
    void add_part(const std::string& name, Part part);

    std::map<std::string, Part> parts_;
    std::map<std::string, std::string> metadata_;
};

} // namespace headscope::format
