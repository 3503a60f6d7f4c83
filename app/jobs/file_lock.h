#pragma once

#include <filesystem>
#include <optional>
#include <string>
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

/// The name of a file that one program writes while it lives, and the lock beside it that says so. Another
/// program may take the file over once the lock is free.
class KeptFile {
public:
    /// A name that no program had before: `prefix`, the process, the time, `suffix`. Makes the folder, for
    /// its owner alone, and the lock; the file itself is for the caller to write. Throws Error(input) naming
    /// the folder or the lock.
    static KeptFile create(const std::filesystem::path& folder, const std::string& prefix,
                           const std::string& suffix);
    const std::filesystem::path& path() const { return path_; }

private:
    KeptFile(std::filesystem::path path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    FileLock lock_;
};

/// The lock beside a kept file: its last extension is replaced by ".lock".
std::filesystem::path lock_of(const std::filesystem::path& file);

} // namespace headscope::app
