#include "app/jobs/head_maps.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace headscope::app {

namespace {

std::uint64_t next_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

BoardRow read_row(const AttentionSet& set, std::int64_t l, const Progress& progress) {
    BoardRow row{.heads = {}, .error = {}, .version = next_version()};
    try {
        row.heads = analysis::head_maps(set, l, analysis::map_side(set.info()), progress);
    } catch (const std::bad_alloc&) {
        row.error = "This layer needs more memory than the machine has free.";
    } catch (const std::exception& fault) {
        row.error = fault.what();
    }
    return row;
}

} // namespace

HeadMaps::HeadMaps(AttentionSetPtr set, std::function<void()> wake)
    : set_(std::move(set)), wake_(std::move(wake)), rows_(static_cast<std::size_t>(set_->info().L)),
      read_(rows_.size(), false), thread_([this] { work(); }) {}

HeadMaps::HeadMaps(AttentionSetPtr set, std::function<void()> wake, const HeadMaps& before,
                   std::int64_t changed_from)
    : set_(std::move(set)), wake_(std::move(wake)), rows_(static_cast<std::size_t>(set_->info().L)),
      read_(rows_.size(), false) {
    {
        const std::scoped_lock lock(before.mutex_);
        rows_ = before.rows_;
        open_ = before.open_;
        first_ = before.first_;
        last_ = before.last_;
        for (std::size_t l = 0; l < std::min(rows_.size(), static_cast<std::size_t>(changed_from)); ++l)
            read_[l] = before.read_[l];
    }
    ready_ = std::ranges::count(read_, true);
    thread_ = std::thread([this] { work(); });
}

HeadMaps::~HeadMaps() {
    progress_.cancel();
    thread_.join();
}

std::shared_ptr<const BoardRow> HeadMaps::row(std::int64_t l) const {
    const std::scoped_lock lock(mutex_);
    return rows_[static_cast<std::size_t>(l)];
}

std::int64_t HeadMaps::ready() const {
    const std::scoped_lock lock(mutex_);
    return ready_;
}

void HeadMaps::look_at(std::int64_t open, std::int64_t first, std::int64_t last) {
    const std::scoped_lock lock(mutex_);
    const std::int64_t end = static_cast<std::int64_t>(rows_.size()) - 1;
    open_ = std::clamp<std::int64_t>(open, 0, end);
    first_ = std::clamp<std::int64_t>(first, 0, end);
    last_ = std::clamp<std::int64_t>(last, first_, end);
}

void HeadMaps::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_ == static_cast<std::int64_t>(rows_.size()); });
}

std::int64_t HeadMaps::next() const {
    const auto missing = [this](std::int64_t l) { return !read_[static_cast<std::size_t>(l)]; };
    if (missing(open_))
        return open_;
    for (std::int64_t l = first_; l <= last_; ++l)
        if (missing(l))
            return l;
    const auto row = std::ranges::find(read_, false);
    return row == read_.end() ? -1 : row - read_.begin();
}

void HeadMaps::work() {
    std::unique_lock lock(mutex_);
    for (std::int64_t l = next(); l >= 0 && !progress_.cancelled(); l = next()) {
        lock.unlock();
        auto row = std::make_shared<const BoardRow>(read_row(*set_, l, progress_));
        lock.lock();
        rows_[static_cast<std::size_t>(l)] = std::move(row);
        read_[static_cast<std::size_t>(l)] = true;
        ++ready_;
        lock.unlock();
        changed_.notify_all();
        if (wake_)
            wake_();
        lock.lock();
    }
}

} // namespace headscope::app
