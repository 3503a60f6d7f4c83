#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace headscope::app {

/// An empty file that shows that the process that created it is alive: locked (flock) until the object is
/// destroyed, which also removes the file. The system releases the lock of a killed process; its file
/// remains, unlocked.
class FileLock {
public:
    /// Nothing if the name is taken. Throws Error(input) with the path if the file cannot be created.
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

/// Returns true if a living process, including this one, holds the lock, or if that cannot be determined.
bool is_locked(const std::filesystem::path& path);

/// Removes the file unless a living process holds it.
void remove_unlocked(const std::filesystem::path& path);

/// The name of a file that one process writes while it is alive, with a lock file next to it. Another process
/// may take over the file once the lock is free.
class KeptFile {
public:
    /// Creates a unique name: `prefix`, the process, the time, `suffix`. Creates the folder, accessible only
    /// to its owner, and the lock; the caller writes the file itself. Throws Error(input) with the folder or
    /// the lock.
    static KeptFile create(const std::filesystem::path& folder, const std::string& prefix,
                           const std::string& suffix);
    const std::filesystem::path& path() const { return path_; }

private:
    KeptFile(std::filesystem::path path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    FileLock lock_;
};

/// Returns the lock file of a kept file: its last extension is replaced by ".lock".
std::filesystem::path lock_of(const std::filesystem::path& file);

} // namespace headscope::app
