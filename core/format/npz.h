#pragma once

#include "core/format/npy_header.h"
#include "core/format/tensor_entry.h"
#include "core/format/zip/zip_member.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::format {

/// One array of a .npz file. Its dtype is NumPy's: "<f4".
struct NpzEntry : TensorEntry {
    ZipMember member;
    NpyDescription array;
};

/// A .npz file: a ZIP archive of .npy files, as numpy.savez and numpy.savez_compressed write it
/// (https://numpy.org/doc/stable/reference/generated/numpy.savez.html). Opening reads only the directory and
/// the headers of the arrays. Immutable; any thread may read it. Copies share the state.
class NpzFile {
public:
    /// Throws Error(input) with the path and the problem if the file is not such an archive, is truncated,
    /// contains an encrypted array or one with a damaged header, or has more than 65,536 arrays.
    static NpzFile open(const std::string& path);

    const std::string& source() const { return source_; }
    /// Sorted by name, which has no ".npy".
    const std::vector<NpzEntry>& entries() const { return entries_; }

    // Each throws Error(input) if the array has another type or is damaged.
    /// Checks the type, the order, the size, and all bytes of the array against the checksum in the archive.
    /// A further call is quick.
    void require_floats(const NpzEntry& entry) const;
    /// Reads `to.size()` numbers of an array of floats, from number `first` on. A float64 outside float32's
    /// range becomes an infinity.
    void read_numbers(const NpzEntry& entry, std::uint64_t first, std::span<float> to) const;
    /// All numbers of an array of integers or bools in row-major order.
    std::vector<std::int64_t> integers(const NpzEntry& entry) const;
    /// All texts of an array of str or bytes in row-major order, at most 4,194,304; nothing for other arrays.
    std::vector<std::string> texts(const NpzEntry& entry) const;

private:
    std::string name_of(const NpzEntry& entry) const;
    /// All bytes after the header, checked; at most 64 MiB. Refuses an array in Fortran order.
    std::string all_bytes(const NpzEntry& entry, std::uint64_t width) const;

    std::string source_;
    std::vector<NpzEntry> entries_;
};

/// Returns true if the path is a ZIP archive with arrays in it, unlike those of torch.save.
bool is_npz_file(const std::string& path);

} // namespace headscope::format
