#pragma once

#include "app/jobs/derived_value.h"
#include "core/base/progress.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace headscope::app {

/// Values computed from documents by one worker thread and cached while memory allows. All members are for
/// the thread that created the object. Makers run on the worker's thread, one at a time; the objects that
/// they use must outlive this one or be owned by them.
///
/// Values on screen have priority, in the order of the requests: a background value in progress is cancelled
/// for them and computed again later. A value whose object is not retained is dropped or cancelled.
class DerivedValues {
public:
    /// Publishes an intermediate value, for example a coarser or a previous one.
    template<class Value>
    using Put = std::function<void(Value)>;
    static constexpr std::size_t unlimited = ~std::size_t{0};

    /// `wake` is called on the worker's thread whenever there are new results; it may be empty. Beyond
    /// `byte_budget` the least recently requested values are evicted, except those of the last two frames.
    explicit DerivedValues(std::function<void()> wake, std::size_t byte_budget = unlimited);
    /// Cancels the computation and waits for the worker.
    ~DerivedValues();
    DerivedValues(const DerivedValues&) = delete;
    DerivedValues& operator=(const DerivedValues&) = delete;

    /// Returns the current state of a value and requests its computation if needed. `make(Progress&, const
    /// Put<Value>&)` returns the Value, and stops with Error(cancelled) once the progress is cancelled; other
    /// exceptions become `error`. `bytes`: size of the finished value. A maker with a third argument receives
    /// the intermediate value that it published before it was cancelled, or null, and continues from it.
    template<class Value, class Make>
    Derived<Value> ask(const DerivedKey& key, Priority urgency, Make make, std::size_t bytes = 0) {
        return snapshot<Value>(entry_for({key.of, key.parameters, typeid(Value)}, urgency, bytes, [&] {
            return Work([make = std::move(make)](Progress& progress, const PutErased& put,
                                                 const Erased& so_far) -> Erased {
                using Coarse = std::shared_ptr<const Value>;
                const Put<Value> typed = [&put](Value value) {
                    put(std::make_shared<const Value>(std::move(value)));
                };
                if constexpr (std::is_invocable_v<const Make&, Progress&, const Put<Value>&, const Coarse&>)
                    return std::make_shared<const Value>(
                        make(progress, typed, std::static_pointer_cast<const Value>(so_far)));
                else
                    return std::make_shared<const Value>(make(progress, typed));
            });
        }));
    }
    /// The same without a request.
    template<class Value>
    Derived<Value> peek(const DerivedKey& key) const {
        return snapshot<Value>(known({key.of, key.parameters, typeid(Value)}));
    }

    /// Stops the computation of a value, keeping its intermediate value, or continues it. No effect on a
    /// value that is done or was never requested.
    template<class Value>
    void stop(const DerivedKey& key, bool stopped) {
        stop({key.of, key.parameters, typeid(Value)}, stopped);
    }

    /// Begins a frame: values that the previous frame did not request are no longer on screen.
    void begin_frame();
    /// Drops the values of all other objects.
    void retain(const std::vector<std::shared_ptr<const void>>& objects);
    void clear() { retain({}); }
    bool busy() const;         ///< anything is in progress or waits
    bool pending() const;      ///< the same, or a value was finished after the last begin_frame()
    float fraction() const;    ///< progress of the current computation
    std::size_t bytes() const; ///< total size of the finished values, as reported
    void wait(); ///< until nothing is in progress or pending; for export and tests, never in the window
    bool wait_for(std::chrono::milliseconds at_most); ///< the same with a timeout; returns true if it is idle

private:
    using Erased = std::shared_ptr<const void>;
    using PutErased = std::function<void(Erased)>;
    using Work = std::function<Erased(Progress&, const PutErased&, const Erased& so_far)>;
    using Key = std::tuple<std::shared_ptr<const void>, std::string, std::type_index>;
    struct Entry {
        Entry(Key k, Work w, std::size_t b) : key(std::move(k)), work(std::move(w)), bytes(b) {}
        Key key;
        Work work; ///< empty after it is done
        std::size_t bytes;
        Erased value;
        std::string error;
        std::uint64_t asked = 0;            ///< counter of requests: decides order and age
        std::uint64_t frame = 0;            ///< frame of the last on-screen request; 0: none
        std::uint64_t background = 0;       ///< key in background_; 0: none
        std::shared_ptr<Progress> progress; ///< set while in progress
        bool stopped = false;               ///< by the user; not pending any more
        bool waits() const { return work != nullptr && progress == nullptr && !stopped; }
        bool done() const { return work == nullptr; }
    };
    using EntryPtr = std::shared_ptr<Entry>;

    EntryPtr entry_for(const Key& key, Priority urgency, std::size_t bytes,
                       const std::function<Work()>& make_work);
    EntryPtr known(const Key& key) const;
    void stop(const Key& key, bool stopped);
    void notify() const;
    void work();
    void make(EntryPtr entry, std::unique_lock<std::mutex>& lock);
    bool on_screen(const Entry& entry) const { return entry.frame + 1 >= frame_ && entry.frame != 0; }
    EntryPtr next() const;
    bool idle() const { return !working_ && next() == nullptr; }
    void erase(const EntryPtr& entry);
    void cancel_background_work();
    void keep_budget();

    template<class Value>
    Derived<Value> snapshot(const EntryPtr& entry) const {
        if (entry == nullptr)
            return {};
        const std::scoped_lock lock(mutex_);
        return {std::static_pointer_cast<const Value>(entry->value), entry->done(),
                entry->progress == nullptr ? 0.0F : entry->progress->fraction(), entry->error,
                entry->stopped};
    }

    std::function<void()> wake_;
    const std::size_t byte_budget_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Key, EntryPtr> entries_;
    std::vector<EntryPtr> screen_;                 ///< requested by this frame or the previous one
    std::map<std::uint64_t, EntryPtr> background_; ///< pending, in the order of the requests
    EntryPtr running_;                             ///< its entry may have been erased
    std::uint64_t asks_ = 0, frame_ = 1;
    bool stopping_ = false, unseen_ = false, working_ = false; ///< working_: until its objects are released
    std::thread thread_;
};

} // namespace headscope::app
