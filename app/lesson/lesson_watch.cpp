#include "app/lesson/lesson_watch.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/lesson/library.h"

#include <chrono>
#include <utility>

namespace headscope::app {

LessonWatch::~LessonWatch() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
    }
    stopped_.notify_all();
    if (thread_.joinable())
        thread_.join();
}

std::optional<LessonWatch::Stamp> LessonWatch::stamp_of(const std::string& path) {
    std::error_code fault;
    const auto time = std::filesystem::last_write_time(path, fault);
    if (fault)
        return {};
    const auto size = std::filesystem::file_size(path, fault);
    if (fault)
        return {};
    return Stamp{time, size};
}

void LessonWatch::watch(const std::string& path) {
    if (path == path_)
        return;
    path_ = path;
    text_.clear();
    std::error_code none;
    const bool there = !path.empty() && std::filesystem::is_regular_file(path, none);
    std::optional<Stamp> stamp;
    if (there) {
        stamp = stamp_of(path);
        try {
            text_ = read_file(path, lesson::largest_lesson);
        } catch (const Error&) {
            stamp.reset();
        }
    }
    const std::scoped_lock lock(mutex_);
    watched_ = there ? path : "";
    known_ = stamp;
    if (there && !thread_.joinable())
        thread_ = std::thread([this] { look(); });
}

std::optional<std::string> LessonWatch::changed() {
    if (path_.empty())
        return {};
    const std::optional<Stamp> now = stamp_of(path_);
    {
        const std::scoped_lock lock(mutex_);
        if (watched_.empty() || !now || now == known_)
            return {};
        known_ = now;
    }
    try {
        std::string text = read_file(path_, lesson::largest_lesson);
        if (text == text_)
            return {};
        return text_ = std::move(text);
    } catch (const Error&) {
        return {};
    }
}

void LessonWatch::look() {
    constexpr std::chrono::milliseconds pause{500};
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, pause, [this] { return ends_; })) {
        if (watched_.empty())
            continue;
        const std::string path = watched_;
        lock.unlock();
        const std::optional<Stamp> now = stamp_of(path);
        lock.lock();
        if (path == watched_ && now && now != known_ && wake_)
            wake_();
    }
}

} // namespace headscope::app
