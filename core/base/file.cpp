#include "core/base/file.h"

#include "core/base/error.h"
#include "core/base/file_too_large.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headscope {

namespace fs = std::filesystem;

namespace {

std::string advice(int error) {
    switch (error) {
    case ENOENT:
        return tr("file.check_spelling_folder_exists", "check the spelling and that its folder exists");
    case EACCES:
    case EPERM:
        return tr("file.change_permissions_use_another", "change its permissions or use another place");
    case EROFS:
        return tr("file.use_folder_written", "use a folder that can be written to");
    case ENOSPC:
    case EDQUOT:
        return tr("file.free_some_space_use", "free some space or use another place");
    case EFBIG:
        return tr("file.use_file_system_without",
                  "use a file system without that limit, or raise it (ulimit -f)");
    default:
        return tr("file.use_another_path", "use another path");
    }
}

enum class Act { read, write, write_folder };

[[noreturn]] void fail(Act act, const std::string& path, int error) {
    const std::string reason = system_reason(error);
    switch (act) {
    case Act::read:
        fail_input(tr("file.cannot_read", "cannot read {}: {}; {}", path, reason, advice(error)));
    case Act::write:
        fail_input(tr("file.cannot_write", "cannot write {}: {}; {}", path, reason, advice(error)));
    case Act::write_folder:
        break;
    }
    fail_input(
        tr("file.cannot_write_folder", "cannot write the folder {}: {}; {}", path, reason, advice(error)));
}

/// A file descriptor that is closed on destruction.
class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { close(); }

    int get() const { return descriptor_; }
    bool open() const { return descriptor_ >= 0; }
    /// Returns the errno of a failed close, else 0. The descriptor is closed in both cases.
    int close() {
        const int descriptor = std::exchange(descriptor_, -1);
        return descriptor < 0 || ::close(descriptor) == 0 ? 0 : errno;
    }

private:
    int descriptor_;
};

[[noreturn]] void fail_size(const std::string& path, std::uint64_t most) {
    throw FileTooLarge(tr(
        "file.cannot_read_more_bytes",
        "cannot read {}: it has more than the {} bytes that are read here; name a smaller file", path, most));
}

/// Devices such as /dev/zero never end. A terminal ends when its user says so, and /dev/null at once.
bool is_endless(const struct stat& status, int descriptor) {
    return S_ISBLK(status.st_mode) ||
           (S_ISCHR(status.st_mode) && ::isatty(descriptor) == 0 && status.st_rdev != ::makedev(1, 3));
}

std::string read_all(int descriptor, const std::string& path, std::uint64_t most) {
    struct stat status {};
    std::string bytes;
    if (::fstat(descriptor, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            fail_input(tr("file.cannot_read_folder_name", "cannot read {}: it is a folder; name a file in it",
                          path));
        if (is_endless(status, descriptor))
            fail_input(
                tr("file.cannot_read_device_name", "cannot read {}: it is a device; name a file", path));
        if (S_ISREG(status.st_mode)) {
            if (static_cast<std::uint64_t>(status.st_size) > most)
                fail_size(path, most);
            bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
        }
    }
    constexpr std::size_t smallest = 4096, chunk = mebibyte;
    for (std::size_t size = 0;;) {
        const std::size_t room = bytes.capacity() - size;
        bytes.resize(size + (room > 0 ? std::min(chunk, room) : std::max(size, smallest)));
        const ssize_t got = ::read(descriptor, bytes.data() + size, bytes.size() - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(Act::read, path, errno);
        size += static_cast<std::size_t>(got);
        if (size > most)
            fail_size(path, most);
        if (got == 0) {
            bytes.resize(size);
            return bytes;
        }
    }
}

/// Returns the errno of a failed write, else 0.
int write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno;
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return 0;
}

/// A name next to `path` for a temporary file; `attempt` makes names distinct.
std::string temporary_name(const fs::path& path, int attempt) {
    std::string name = ".";
    name +=
        path.filename().string() + "." + std::to_string(::getpid()) + "." + std::to_string(attempt) + ".tmp";
    return (path.parent_path() / name).string();
}

constexpr int attempts = 100;

using Make = std::function<void(const ByteSink&)>;

/// A sink that writes to a file. It throws Error(input) with `path` as the name of the file.
ByteSink sink_to(int descriptor, const std::string& path) {
    return [descriptor, path](std::string_view bytes) {
        if (const int error = write_all(descriptor, bytes); error != 0)
            fail(Act::write, path, error);
    };
}

void write_directly(const std::string& path, const Make& make) {
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.open())
        fail(Act::write, path, errno);
    make(sink_to(file.get(), path));
    if (const int error = file.close(); error != 0)
        fail(Act::write, path, error);
}

/// Syncs the folder so that the new name is on disk. A file system that cannot sync folders does not cause an
/// error, because the file itself is complete either way.
void sync_folder(const fs::path& folder) {
    const File opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.open())
        static_cast<void>(::fsync(opened.get()));
}

/// A new file that is written next to the file that it will replace.
struct NewFile {
    int descriptor = -1;
    std::string name; ///< empty: no name yet
};

std::string link_to(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

/// Creates an unnamed file if the file system supports it: the system removes it however the program ends.
/// Otherwise creates a file with a temporary name. On failure the descriptor is -1 and errno has the reason.
NewFile create_beside(const fs::path& target) {
    const fs::path folder = target.parent_path();
    const int nameless =
        ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (nameless >= 0 && ::access(link_to(nameless).c_str(), F_OK) == 0)
        return {nameless, {}};
    if (nameless >= 0)
        ::close(nameless);
    NewFile file;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        file.name = temporary_name(target, attempt);
        file.descriptor = ::open(file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file.descriptor >= 0 || errno != EEXIST)
            break;
    }
    return file;
}

/// Gives an unnamed file a temporary name. Returns the errno on failure, else 0.
int name_beside(NewFile& file, const fs::path& target) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::string name = temporary_name(target, attempt);
        if (::linkat(AT_FDCWD, link_to(file.descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) ==
            0) {
            file.name = name;
            return 0;
        }
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

/// Fills the new file and renames it to `target`; on failure throws and removes the new file.
void fill_and_rename(NewFile made, const std::string& target, const Make& make, const std::string& path) {
    File file(made.descriptor);
    try {
        make(sink_to(made.descriptor, path));
    } catch (...) {
        ::unlink(made.name.c_str());
        throw;
    }
    int error = ::fsync(file.get()) != 0 && errno != EINVAL ? errno : 0;
    if (error == 0 && made.name.empty())
        error = name_beside(made, target);
    if (const int closing = file.close(); error == 0)
        error = closing;
    if (error == 0 && ::rename(made.name.c_str(), target.c_str()) != 0)
        error = errno;
    if (error != 0) {
        ::unlink(made.name.c_str());
        fail(Act::write, path, error);
    }
    sync_folder(fs::path(target).parent_path());
}

} // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
    if (path == "-")
        return read_all(STDIN_FILENO, tr("common.standard_input", "standard input"), most);
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open())
        fail(Act::read, path, errno);
    return read_all(file.get(), path, most);
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
    write_file_atomically(path, [bytes](const ByteSink& sink) { sink(bytes); });
}

void write_file_atomically(const std::string& path, const Make& make) {
    if (path == "-")
        return make(sink_to(STDOUT_FILENO, tr("file.standard_output", "standard output")));
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        fail_input(
            tr("file.cannot_write_folder_name", "cannot write {}: it is a folder; name a file in it", path));
    if (exists && !S_ISREG(status.st_mode))
        return write_directly(path, make);
    if (exists && ::access(path.c_str(), W_OK) != 0)
        fail(Act::write, path, errno);

    std::error_code unresolved;
    const fs::path resolved = exists ? fs::canonical(path, unresolved) : fs::path(path);
    const fs::path target = unresolved ? fs::path(path) : resolved;
    NewFile made = create_beside(target);
    if (made.descriptor < 0)
        fail(Act::write, path, errno);
    if (exists)
        static_cast<void>(::fchmod(made.descriptor, status.st_mode & 07777U));
    fill_and_rename(std::move(made), target.string(), make, path);
}

void write_folder_atomically(const std::string& path,
                             const std::function<bool(const std::string&)>& replaceable,
                             const std::function<void(const std::string&)>& fill) {
    fs::path target = fs::path(path).lexically_normal();
    if (!target.has_filename())
        target = target.parent_path();
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    const bool exists = fs::exists(status);
    if (exists && !fs::is_directory(status))
        fail_input(tr("file.cannot_write_folder_file",
                      "cannot write the folder {}: a file has that name; use another one", path));
    if (exists)
        for (const fs::directory_entry& entry : fs::directory_iterator(target, error))
            if (!replaceable(entry.path().filename().string()))
                fail_input(tr(
                    "file.cannot_replace_folder_holds",
                    "cannot replace the folder {}: it holds {}, which is not of this kind; name a new folder",
                    path, entry.path().filename().string()));
    if (error && exists)
        fail(Act::write_folder, path, error.value());

    for (int attempt = 0; attempt < attempts; ++attempt) {
        const fs::path temporary = temporary_name(target, attempt);
        const fs::path old = temporary.string() + ".old";
        if (!fs::create_directory(temporary, error) && !error)
            continue;
        if (error)
            fail(Act::write_folder, path, error.value());
        try {
            fill(temporary.string());
            if (exists)
                fs::rename(target, old);
            try {
                fs::rename(temporary, target);
            } catch (const fs::filesystem_error&) {
                if (exists)
                    fs::rename(old, target, error);
                throw;
            }
        } catch (const fs::filesystem_error& fault) {
            fs::remove_all(temporary, error);
            fail(Act::write_folder, path, fault.code().value());
        } catch (...) {
            fs::remove_all(temporary, error);
            throw;
        }
        fs::remove_all(old, error);
        return;
    }
    fail(Act::write_folder, path, EEXIST);
}

} // namespace headscope
