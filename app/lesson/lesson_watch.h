#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace headscope::app {

/// Notices when a file changes on disk. A thread looks at it twice a second and wakes the window, which then
/// asks changed(). All members are for the thread that created the object.
class LessonWatch {
public:
    /// `wake`: called on another thread after a change; may be empty.
    explicit LessonWatch(std::function<void()> wake) : wake_(std::move(wake)) {}
    ~LessonWatch();
    LessonWatch(const LessonWatch&) = delete;
    LessonWatch& operator=(const LessonWatch&) = delete;

    /// Begins to watch a file with its present content; a path without a file: none.
    void watch(const std::string& path);
    /// Returns the content of the file if it differs from the content known so far. A file that cannot be
    /// read counts as unchanged.
    std::optional<std::string> changed();
    /// The content known so far; empty without a file.
    const std::string& text() const { return text_; }

private:
    /// The time and size of a file.
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t size = 0;
        bool operator==(const Stamp&) const = default;
    };
    static std::optional<Stamp> stamp_of(const std::string& path);
    void look(); ///< the thread

    std::function<void()> wake_;
    std::string path_, text_;
    std::mutex mutex_; ///< guards the members below
    std::condition_variable stopped_;
    std::string watched_;        ///< empty: nothing
    std::optional<Stamp> known_; ///< belongs to text_
    bool ends_ = false;
    std::thread thread_; ///< runs from the first file on
};

} // namespace headscope::app
