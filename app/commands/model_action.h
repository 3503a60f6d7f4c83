#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace headscope::app {

/// Another text for the checkpoint that is open.
struct TypePrompt {
    std::string prompt;
};
/// Predictions at this position of the text; -1: the usual one.
struct PredictAt {
    std::int64_t position;
};
/// What the user can do to an open checkpoint beside editing it.
using ModelAction = std::variant<TypePrompt, PredictAt>;

} // namespace headscope::app
