#pragma once

#include "core/attention/mask.h"
#include "core/tensor/tensor.h"

#include <cstdint>
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

// The format: 8 bytes N (little-endian), N bytes of JSON that give each tensor its dtype, shape and byte
// range, then the bytes of the tensors without gaps (https://github.com/huggingface/safetensors, section
// "Format").

/// One tensor of a file, as its header tells it.
struct SafetensorsEntry {
    std::string name;
    std::string dtype;                 ///< "F32", "BF16", ...
    std::vector<std::int64_t> extents; ///< outermost first, up to 8
    std::size_t begin = 0;             ///< byte range after the header
    std::size_t end = 0;

    /// "(2, 3)"
    std::string shape_text() const;
};

/// A file that was checked as a whole when it was opened: every byte range lies inside the file and fits its
/// shape, without overlap or gap. Immutable; any thread may read it. Copies share the bytes.
class Safetensors {
public:
    /// `source` names the bytes in messages. Throws Error(input) naming the source, the tensor and the fault.
    static Safetensors from_bytes(std::string bytes, std::string source);
    /// "-" is standard input. Throws like from_bytes, and when the file cannot be read.
    static Safetensors open(const std::string& path);
    /// Reads the header alone; each tensor is read from the disk when it is asked for, which then also throws
    /// Error(input) when the file was cut short since. `path` is a regular file.
    static Safetensors open_lazily(const std::string& path);

    const std::string& source() const { return source_; }
    /// Ordered by name.
    const std::vector<SafetensorsEntry>& entries() const { return entries_; }
    bool has(std::string_view name) const { return find(name) != nullptr; }
    /// Null when there is no such tensor.
    const SafetensorsEntry* find(std::string_view name) const;
    const std::map<std::string, std::string>& metadata() const { return metadata_; }

    /// Of the whole file.
    std::uint64_t size_bytes() const;
    /// SHA-256 of everything before the tensors: their names, types, shapes and places. Throws when the file
    /// was cut short since it was opened.
    std::string header_sha256() const;

    // Each throws Error(input) when the tensor is missing, has another dtype or a rank above 4.
    /// F32, F16, BF16 and F64 as float32. Throws when a finite F64 number lies outside float32's range.
    TensorPtr tensor(std::string_view name) const;
    /// A run of such a tensor's numbers, of any rank, from number `first` on; a float64 beyond float32's
    /// range becomes an infinity. Throws Error(internal) for a run outside the tensor.
    void read_numbers(std::string_view name, std::uint64_t first, std::span<float> to) const;
    /// BOOL or U8; throws when a byte is neither 0 nor 1.
    BoolTensorPtr bools(std::string_view name) const;
    /// I64, U32, I32, U16, I16, U8, I8 or BOOL.
    std::vector<std::int64_t> integers(std::string_view name) const;

private:
    Safetensors() = default;
    const SafetensorsEntry& need(std::string_view name) const;
    Shape shape_of(const SafetensorsEntry& entry) const;
    /// The bytes in memory, or those of the disk read into `room`.
    std::string_view bytes_of(const SafetensorsEntry& entry, std::string& room) const;
    /// From byte `first` of the tensor on.
    void copy_bytes(const SafetensorsEntry& entry, std::span<char> to, std::size_t first = 0) const;
    void parse(std::string_view header, std::size_t data_bytes);
    [[noreturn]] void refuse_dtype(const SafetensorsEntry& entry, const std::string& wanted) const;

    std::string source_;
    std::shared_ptr<const std::string> bytes_;     ///< the whole file, or null
    std::shared_ptr<const RandomAccessFile> file_; ///< the file on disk, or null
    std::size_t data_ = 0;                         ///< where the tensors begin in either
    std::vector<SafetensorsEntry> entries_;
    std::map<std::string, std::string> metadata_;
};

/// Collects tensors and turns them into the bytes of a file. The same content gives the same bytes: widest
/// type first, then by name; the tensors begin at a multiple of 8.
class SafetensorsWriter {
public:
    // Each throws Error(internal) when the name was used before.
    void add(const std::string& name, TensorPtr tensor);
    void add(const std::string& name, BoolTensorPtr tensor);
    void add_integers(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);
    void set_metadata(const std::string& key, std::string text) { metadata_[key] = std::move(text); }

    std::string bytes() const;

private:
    struct Part {
        const NumberType* type;
        Shape shape;
        std::span<const std::byte> bytes;
        std::shared_ptr<const void> owner; ///< keeps `bytes` alive
    };
    void add_part(const std::string& name, Part part);

    std::map<std::string, Part> parts_;
    std::map<std::string, std::string> metadata_;
};

} // namespace headscope::format
