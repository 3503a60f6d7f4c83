#include "app/jobs/derived.h"

#include "core/base/message.h"

#include <algorithm>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace headscope::app {

namespace {

/// Lowers the priority below that of the window's thread and of software GL. On Linux each thread has its own
/// priority, which threads that it starts inherit.
void lower_priority() {
    constexpr int less = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), less);
}

} // namespace

DerivedValues::DerivedValues(std::function<void()> wake, std::size_t byte_budget)
    : wake_(std::move(wake)), byte_budget_(byte_budget), thread_([this] { work(); }) {}

DerivedValues::~DerivedValues() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        if (running_ != nullptr)
            running_->progress->cancel();
    }
    changed_.notify_all();
    thread_.join();
}

DerivedValues::EntryPtr DerivedValues::entry_for(const Key& key, Priority urgency, std::size_t bytes,
                                                 const std::function<Work()>& make_work) {
    EntryPtr entry;
    bool waits = false;
    {
        const std::scoped_lock lock(mutex_);
        EntryPtr& at = entries_[key];
        if (at == nullptr)
            at = std::make_shared<Entry>(key, make_work(), bytes);
        at->asked = ++asks_;
        if (urgency == Priority::on_screen) {
            if (!on_screen(*at))
                screen_.push_back(at);
            at->frame = frame_;
        } else if (at->background == 0) {
            at->background = asks_;
            if (at->waits())
                background_.emplace(asks_, at);
        }
        entry = at;
        waits = entry->waits();
        cancel_background_work();
    }
    if (waits) // a frame requests many values that are done
        changed_.notify_all();
    return entry;
}

DerivedValues::EntryPtr DerivedValues::known(const Key& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second;
}

void DerivedValues::stop(const Key& key, bool stopped) {
    {
        const std::scoped_lock lock(mutex_);
        const auto found = entries_.find(key);
        if (found == entries_.end() || found->second->done())
            return;
        Entry& entry = *found->second;
        entry.stopped = stopped;
        if (stopped)
            background_.erase(entry.background);
        else if (entry.background != 0 && entry.waits())
            background_.emplace(entry.background, found->second);
        if (stopped && entry.progress != nullptr)
            entry.progress->cancel();
    }
    changed_.notify_all();
}

void DerivedValues::begin_frame() {
    const std::scoped_lock lock(mutex_);
    ++frame_;
    unseen_ = false;
    std::erase_if(screen_, [&](const EntryPtr& entry) {
        if (on_screen(*entry))
            return false;
        if (entry->waits() && entry->background == 0)
            entries_.erase(entry->key);
        return true;
    });
    cancel_background_work();
}

void DerivedValues::erase(const EntryPtr& entry) {
    if (entry->progress != nullptr)
        entry->progress->cancel();
    std::erase(screen_, entry);
    background_.erase(entry->background);
    entry->background = 0;
    entries_.erase(entry->key);
}

void DerivedValues::retain(const std::vector<std::shared_ptr<const void>>& objects) {
    const std::scoped_lock lock(mutex_);
    std::vector<EntryPtr> dropped;
    for (const auto& [key, entry] : entries_)
        if (std::ranges::find(objects, std::get<0>(key)) == objects.end())
            dropped.push_back(entry);
    for (const EntryPtr& entry : dropped)
        erase(entry);
}

bool DerivedValues::busy() const {
    const std::scoped_lock lock(mutex_);
    return !idle();
}

float DerivedValues::fraction() const {
    const std::scoped_lock lock(mutex_);
    return running_ == nullptr ? 0.0F : running_->progress->fraction();
}

std::size_t DerivedValues::bytes() const {
    const std::scoped_lock lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [key, entry] : entries_)
        sum += entry->done() && entry->value != nullptr ? entry->bytes : 0;
    return sum;
}

bool DerivedValues::pending() const {
    const std::scoped_lock lock(mutex_);
    return unseen_ || !idle();
}

void DerivedValues::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return idle(); });
}

bool DerivedValues::wait_for(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [this] { return idle(); });
}

DerivedValues::EntryPtr DerivedValues::next() const {
    EntryPtr first;
    for (const EntryPtr& entry : screen_)
        if (entry->waits() && (first == nullptr || entry->asked < first->asked))
            first = entry;
    return first != nullptr || background_.empty() ? first : background_.begin()->second;
}

void DerivedValues::cancel_background_work() {
    if (running_ == nullptr || on_screen(*running_))
        return;
    const EntryPtr waiting = next();
    if (waiting != nullptr && on_screen(*waiting))
        running_->progress->cancel();
}

void DerivedValues::keep_budget() {
    if (byte_budget_ == unlimited)
        return;
    std::size_t sum = 0;
    std::vector<EntryPtr> old;
    for (const auto& [key, entry] : entries_)
        if (entry->done() && entry->value != nullptr) {
            sum += entry->bytes;
            if (!on_screen(*entry))
                old.push_back(entry);
        }
    std::ranges::sort(old, {}, [](const EntryPtr& entry) { return entry->asked; });
    for (const EntryPtr& entry : old) {
        if (sum <= byte_budget_)
            return;
        sum -= entry->bytes;
        erase(entry);
    }
}

void DerivedValues::notify() const {
    if (wake_)
        wake_();
}

/// Called with the lock held, which it releases during the computation.
void DerivedValues::make(EntryPtr entry, std::unique_lock<std::mutex>& lock) {
    running_ = entry;
    const auto progress = entry->progress = std::make_shared<Progress>();
    Erased so_far = entry->value;
    background_.erase(entry->background);
    lock.unlock();
    Erased value;
    std::string error;
    try {
        const PutErased put = [&](Erased coarse) {
            {
                const std::scoped_lock held(mutex_);
                if (progress->cancelled())
                    return;
                entry->value = std::move(coarse);
            }
            notify();
        };
        value = entry->work(*progress, put, so_far);
    } catch (const std::bad_alloc&) {
        error =
            tr("derived.needs_more_memory_machine", "Not enough free memory for this; close other programs.");
    } catch (const std::exception& fault) {
        error = fault.what();
    }
    lock.lock();
    entry->progress.reset();
    running_.reset();
    Work over;
    if (value != nullptr || !progress->cancelled()) {
        if (value != nullptr)
            entry->value = std::move(value);
        entry->error = std::move(error);
        entry->stopped = false;
        over = std::exchange(entry->work, nullptr);
        unseen_ = true;
        keep_budget();
    } else if (entry->stopped) {
        // keep its intermediate value and its work
    } else if (entry->background != 0) {
        background_.emplace(entry->background, entry); // cancelled for a value on screen: start again later
    } else if (!on_screen(*entry)) {
        erase(entry);
    }
    // Release the objects of this computation without the lock.
    lock.unlock();
    over = nullptr;
    value.reset();
    so_far.reset();
    entry.reset();
    lock.lock();
}

void DerivedValues::work() {
    lower_priority();
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || next() != nullptr; });
        if (stopping_)
            return;
        working_ = true;
        make(next(), lock);
        working_ = false;
        lock.unlock();
        changed_.notify_all();
        notify();
        lock.lock();
    }
}

} // namespace headscope::app
