#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::app {

/// What a value follows from: one object (a document, a run, a set of weights; every revision is an object of
/// its own) and a few parameters.
struct DerivedKey {
    std::shared_ptr<const void> of; ///< compared by address, and kept alive while the value is kept
    std::string parameters;         ///< what is asked of it: "row 3", "panel 40 T=12"
};

/// What there is of a derived value.
template<class Value>
struct Derived {
    std::shared_ptr<const Value> value; ///< the finest so far; null: none yet
    bool done = false;                  ///< nothing finer follows
    float fraction = 0;                 ///< of the work, while it is under way
    std::string error;                  ///< why there is no finer value, one sentence; then `done`
    bool stopped = false;               ///< by the user: `value` stays as far as it has come
};

enum class Urgency : std::uint8_t {
    on_screen, ///< goes first; forgotten, unless begun, when a frame passes without asking again
    background ///< goes after all that is on screen, in the order of asking; stays wanted
};

} // namespace headscope::app
