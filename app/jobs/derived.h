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

/// Values that follow from documents, computed by one worker thread and kept while memory allows. Every
/// member is for the thread that made the object; makers run on the worker's thread, one at a time, and what
/// they touch has to outlive this object or belong to them.
///
/// What is on screen goes first, in the order of asking: a background value that is being made is stopped for
/// it and begun anew later. A value whose object is not retained is dropped, and the work on it cancelled.
class DerivedValues {
public:
    /// Hands out a value before the last one: coarser, or of what was there before.
    template<class Value>
    using Put = std::function<void(Value)>;
    static constexpr std::size_t unlimited = ~std::size_t{0};

    /// `wake` is called on the worker's thread whenever there is more to see; it may be empty. Beyond
    /// `byte_budget` the least recently asked values go, but none of the last two frames.
    explicit DerivedValues(std::function<void()> wake, std::size_t byte_budget = unlimited);
    /// Cancels, and waits for the worker to notice.
    ~DerivedValues();
    DerivedValues(const DerivedValues&) = delete;
    DerivedValues& operator=(const DerivedValues&) = delete;

    /// What is there of a value; has it made where nothing is. `make(Progress&, const Put<Value>&)` returns
    /// the Value, and stops with Error(cancelled) once the progress is cancelled; other exceptions become
    /// `error`. `bytes` is what the finished value holds. A maker that takes a third argument gets the coarse
    /// value that its work had put when it was stopped, or null: it goes on from there.
    template<class Value, class Make>
    Derived<Value> ask(const DerivedKey& key, Urgency urgency, Make make, std::size_t bytes = 0) {
        return look<Value>(entry_for({key.of, key.parameters, typeid(Value)}, urgency, bytes, [&] {
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
    /// What is there of a value, without asking for more.
    template<class Value>
    Derived<Value> peek(const DerivedKey& key) const {
        return look<Value>(known({key.of, key.parameters, typeid(Value)}));
    }

    /// Stops the work on a value, which keeps what it has put, or goes on with it. Nothing happens to a value
    /// that is done or was never asked for.
    template<class Value>
    void stop(const DerivedKey& key, bool stopped) {
        stop({key.of, key.parameters, typeid(Value)}, stopped);
    }

    /// A frame begins: what the frame before did not ask for is no longer on screen.
    void begin_frame();
    /// Drops what follows from any other object.
    void retain(const std::vector<std::shared_ptr<const void>>& objects);
    void clear() { retain({}); }
    bool busy() const;         ///< whether anything is being made or waits for that
    float fraction() const;    ///< of the work under way
    std::size_t bytes() const; ///< what the finished values hold, as their makers said
    void wait(); ///< until nothing is being made or waits: for pictures and tests, never the window
    bool wait_for(std::chrono::milliseconds at_most); ///< the same, at most so long; whether that is so

private:
    using Erased = std::shared_ptr<const void>;
    using PutErased = std::function<void(Erased)>;
    using Work = std::function<Erased(Progress&, const PutErased&, const Erased& so_far)>;
    using Key = std::tuple<std::shared_ptr<const void>, std::string, std::type_index>;
    struct Entry {
        Entry(Key k, Work w, std::size_t b) : key(std::move(k)), work(std::move(w)), bytes(b) {}
        Key key;
        Work work; ///< empty once it is done
        std::size_t bytes;
        Erased value;
        std::string error;
        std::uint64_t asked = 0;            ///< counts every ask: the order, and which are the oldest
        std::uint64_t frame = 0;            ///< of the last ask for the screen; 0: none
        std::uint64_t background = 0;       ///< place in the order of background_; 0: none
        std::shared_ptr<Progress> progress; ///< while it is being made
        bool stopped = false;               ///< by the user; it waits no more
        bool waits() const { return work != nullptr && progress == nullptr && !stopped; }
        bool done() const { return work == nullptr; }
    };
    using EntryPtr = std::shared_ptr<Entry>;

    EntryPtr entry_for(const Key& key, Urgency urgency, std::size_t bytes,
                       const std::function<Work()>& make_work);
    EntryPtr known(const Key& key) const;
    void stop(const Key& key, bool stopped);
    void tell() const;
    void work();
    // With the lock held, which make() lets go of meanwhile.
    void make(EntryPtr entry, std::unique_lock<std::mutex>& lock);
    bool on_screen(const Entry& entry) const { return entry.frame + 1 >= frame_ && entry.frame != 0; }
    EntryPtr next() const;
    bool idle() const { return !working_ && next() == nullptr; }
    void erase(const EntryPtr& entry);
    void make_room_for_screen();
    void keep_budget();

    template<class Value>
    Derived<Value> look(const EntryPtr& entry) const {
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
    std::vector<EntryPtr> screen_;                 ///< asked for by this frame or the one before
    std::map<std::uint64_t, EntryPtr> background_; ///< waits, in the order of asking
    EntryPtr running_;                             ///< perhaps of no key any more
    std::uint64_t asks_ = 0, frame_ = 1;
    bool stopping_ = false, working_ = false; ///< working_: until what a work held is let go
    std::thread thread_;
};

} // namespace headscope::app
