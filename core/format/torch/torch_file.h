#pragma once

#include "core/format/byte_source.h"
#include "core/format/torch/torch_tensors.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// A file that torch.save wrote: the ZIP archive of PyTorch 1.6 and later, or the older sequence of pickles.
/// Opening reads the pickle and checks that the numbers of every tensor are in the file. It runs nothing and
/// refuses a pickle that asks for more than tensors and plain containers. Immutable; any thread may read it.
/// Copies share the bytes.
class TorchFile {
public:
    /// `source` is the name used in messages. Throws Error(input) with the source, the tensor and the
    /// problem.
    static TorchFile from_bytes(std::string bytes, std::string source);
    /// Reads only the pickle of a regular file. Each tensor is read from the disk on demand; reading throws
    /// Error(input) if the file has been truncated since.
    static TorchFile open_lazily(const std::string& path);

    const std::string& source() const { return source_; }
    /// Sorted by name.
    const std::vector<TorchEntry>& entries() const { return entries_; }
    /// Null if the file has no such tensor.
    const TorchEntry* find(std::string_view name) const;

    /// What else the file says, see torch_settings().
    const TorchSettings& settings() const { return settings_; }

    /// The size of the whole file.
    std::uint64_t size_bytes() const { return bytes_.size(); }
    /// SHA-256 of the pickle, which has names, types and shapes, and of an archive's directory, which has
    /// checksums of all numbers. Throws Error(input) if the file has been truncated since it was opened.
    std::string header_sha256() const;

    // Each throws Error(input) if the tensor is missing or has another dtype.
    /// F32, F16, BF16 or F64 numbers as float32, in the order of the axes. Throws Error(input) if a finite
    /// F64 number is outside float32's range or the tensor has more than 4 axes.
    TensorPtr tensor(std::string_view name) const;
    /// Reads `to.size()` numbers of a contiguous tensor, of any rank, from number `first` on. A float64
    /// outside float32's range becomes an infinity. Throws Error(internal) for other numbers.
    void read_numbers(std::string_view name, std::uint64_t first, std::span<float> to) const;

private:
    /// A byte range of the file.
    struct Range {
        std::uint64_t begin = 0, size = 0;
    };

    TorchFile(ByteSource bytes, std::string source);
    void read_archive();
    void read_sequence();
    const TorchEntry& require_floats(std::string_view name) const;

    ByteSource bytes_;
    std::string source_;
    std::vector<Range> header_; ///< all but the numbers
    std::vector<TorchEntry> entries_;
    TorchSettings settings_;
};

/// Returns true if the path is a regular file that begins as files of torch.save do.
bool is_torch_file(const std::string& path);
/// Returns true if a file name has one of the usual endings: .bin, .pt, .pth or .ckpt.
bool has_torch_ending(const std::string& path);

} // namespace headscope::format
