#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headscope {

/// A regular file that is read piece by piece, where it is needed. Read with pread rather than mapped into
/// memory: when somebody truncates or replaces the file meanwhile a read fails with an Error, where touching
/// a mapped page would end the program with SIGBUS. Any thread may read it.
class RandomAccessFile {
public:
    /// Throws Error(input) naming the path and the reason, also when it is no regular file.
    explicit RandomAccessFile(const std::string& path);
    RandomAccessFile(const RandomAccessFile&) = delete;
    RandomAccessFile& operator=(const RandomAccessFile&) = delete;
    ~RandomAccessFile();

    const std::string& path() const { return path_; }
    /// In bytes, as it was when the file was opened.
    std::uint64_t size() const { return size_; }
    /// Fills `to` from byte `begin` on. Throws Error(input) when the file ends before.
    void read(std::uint64_t begin, std::span<char> to) const;

private:
    std::string path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

} // namespace headscope
