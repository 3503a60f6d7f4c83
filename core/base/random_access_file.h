#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headscope {

/// A regular file that is read piece by piece, with pread instead of a memory map: if another program
/// truncates or replaces the file meanwhile, a read fails with an Error, whereas access to a mapped page
/// would end the program with SIGBUS. Any thread may read it.
class RandomAccessFile {
public:
    /// Throws Error(input) with the path and the reason, also if the path is not a regular file.
    explicit RandomAccessFile(const std::string& path);
    RandomAccessFile(const RandomAccessFile&) = delete;
    RandomAccessFile& operator=(const RandomAccessFile&) = delete;
    ~RandomAccessFile();

    const std::string& path() const { return path_; }
    /// The size in bytes when the file was opened.
    std::uint64_t size() const { return size_; }
    /// Fills `to` with the bytes that start at `begin`. Throws Error(input) if the file ends too early.
    void read(std::uint64_t begin, std::span<char> to) const;

private:
    std::string path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

} // namespace headscope
