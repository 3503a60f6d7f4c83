#pragma once

#include "app/jobs/file_lock.h"
#include "app/state/document.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace headscope::app {

/// The entry of metadata that tells which file what is kept belongs to, empty when it has none, and that it
/// was edited now.
std::map<std::string, std::string> autosave_metadata(const std::string& project_path);

/// Keeps the newest document on disk, so that a program that is killed loses at most the last two seconds.
/// One project file per running program, written whole or not at all on a thread of its own; recovery.h finds
/// what programs that are no longer alive left behind. Every member is for the thread that made it, and none
/// but flush waits for the disk.
class Autosave {
public:
    /// The folder is made when something is first written. `wake` is called on the worker's thread after each
    /// write; it may be empty.
    Autosave(std::filesystem::path folder, std::function<void()> wake);
    /// Writes what waits. The file stays unless the last call was forget.
    ~Autosave();
    Autosave(const Autosave&) = delete;
    Autosave& operator=(const Autosave&) = delete;

    /// The newest document wins: written at once, or half a second after the last write began. `project_path`
    /// is the file that it belongs to, empty when it has none.
    void note(DocumentPtr document, std::string project_path);
    /// The document is saved elsewhere or given up: removes the file.
    void forget();
    /// Whether the last call of note or forget has reached the disk.
    bool saved() const;
    /// Why writing fails, one sentence, once; empty while it works. It is tried again by itself.
    std::string take_error();
    /// Blocks until the last call has reached the disk or failed. For tests, and before a risk.
    void flush();

private:
    /// What the disk should hold.
    struct Wanted {
        DocumentPtr document; ///< null: no file
        std::string project_path;
        std::int64_t edited_at = 0;
    };
    void want(Wanted wanted);
    void work();
    /// The sentence of the fault, or nothing.
    std::string carry_out(const Wanted& wanted);
    void write(const Wanted& wanted);

    const std::filesystem::path folder_;
    const std::function<void()> wake_;
    std::optional<KeptFile> kept_; ///< of the worker; made when something is first written

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Wanted wanted_;
    bool due_ = false; ///< wanted_ is not yet on the disk
    bool writing_ = false, flushing_ = false, stopping_ = false;
    std::chrono::steady_clock::time_point not_before_{};
    std::string error_, told_error_;
    std::thread thread_;
};

} // namespace headscope::app
