#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace headscope::app {

/// An empty file that says that the program that made it lives: locked (flock) until the object goes, which
/// removes it. The system frees the lock of a program that was killed; its file then stays unlocked.
class FileLock {
public:
    /// Nothing when the name is taken. Throws Error(input) naming the path when the file cannot be made.
    static std::optional<FileLock> create(const std::filesystem::path& path);
    FileLock(FileLock&& other) noexcept
        : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

private:
    FileLock(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

    std::filesystem::path path_;
    int descriptor_;
};

/// Whether a living program, this one among them, holds the lock. Where that cannot be told: yes.
bool is_locked(const std::filesystem::path& path);

/// Removes the file unless a living program holds it.
void remove_unlocked(const std::filesystem::path& path);

} // namespace headscope::app
