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

/// Returns the metadata entry of an autosaved file: the path of the project's file, empty if it has none, and
/// the current time as the time of the edit.
std::map<std::string, std::string> autosave_metadata(const std::string& project_path);

/// Keeps the newest document on disk, so that a killed program loses at most the last two seconds of work.
/// One project file per running program, written atomically by its own thread; recovery.h finds the files of
/// dead programs. All members are for the thread that created the object; only flush and the destructor wait
/// for the disk.
class Autosave {
public:
    /// The folder is created before the first write. `wake` is called on the worker's thread after each
    /// write; it may be empty.
    Autosave(std::filesystem::path folder, std::function<void()> wake);
    /// Writes the pending document. Keeps the file unless the last call was forget.
    ~Autosave();
    Autosave(const Autosave&) = delete;
    Autosave& operator=(const Autosave&) = delete;

    /// Requests a write; a newer document replaces a pending one. Writes at once, or half a second after the
    /// start of the last write. `project_path`: the document's file, empty if it has none.
    void request_save(DocumentPtr document, std::string project_path);
    /// Removes the file: the document was saved elsewhere or discarded.
    void forget();
    /// Returns true if the last call of request_save or forget has reached the disk.
    bool saved() const;
    /// Returns a new error message of a failed write, one sentence, once; else empty. Failed writes are
    /// retried.
    std::string take_error();
    /// Blocks until the last call has reached the disk or failed. For tests, and before risky operations.
    void flush();

private:
    /// The desired state of the disk.
    struct Wanted {
        DocumentPtr document; ///< null: no file
        std::string project_path;
        std::int64_t edited_at = 0;
    };
    void want(Wanted wanted);
    void work();
    /// Returns an error message, or nothing.
    std::string carry_out(const Wanted& wanted);
    void write(const Wanted& wanted);

    const std::filesystem::path folder_;
    const std::function<void()> wake_;
    std::optional<KeptFile> kept_; ///< only the worker's; created before the first write

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Wanted wanted_;
    bool due_ = false; ///< wanted_ is not on the disk yet
    bool writing_ = false, flushing_ = false, stopping_ = false;
    std::chrono::steady_clock::time_point not_before_{};
    std::string error_, reported_error_;
    std::thread thread_;
};

} // namespace headscope::app
