#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::app {

/// Identifies a derived value: one object (a document, a run, a set of weights; every revision is a separate
/// object) and a few parameters.
struct DerivedKey {
    std::shared_ptr<const void> of; ///< compared by address; kept alive as long as the value
    std::string parameters;         ///< the request: "row 3", "panel 40 T=12"
};

/// The state of a derived value.
template<class Value>
struct Derived {
    std::shared_ptr<const Value> value; ///< the newest; null: none yet
    bool done = false;                  ///< no better value will follow
    float fraction = 0;                 ///< progress while it is being computed
    std::string error;                  ///< reason why there is no better value, one sentence; then `done`
    bool stopped = false;               ///< by the user: `value` keeps its intermediate state
};

enum class Priority : std::uint8_t {
    on_screen, ///< first; dropped, unless started, if a frame passes without a new request
    background ///< after all values on screen, in the order of the requests; stays requested
};

} // namespace headscope::app
