#pragma once

#include "core/base/error.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace headscope::fuzz {

/// A parser that gets random bytes, from libFuzzer (libfuzzer_main.cpp) or without it (standalone_main.cpp).
struct Target {
    std::string_view name; ///< also the name of its corpus
    /// Passes the bytes to the parser. The parser may only throw headscope::Error; a broken promise aborts.
    void (*read)(std::string_view bytes);
    /// Repairs parts that a random change almost always breaks, such as a length field, so that later checks
    /// are reached.
    void (*repair)(std::string& input) = [](std::string&) {};
};

/// Registers a target, as a constant of the file that defines it.
struct Registered {
    explicit Registered(const Target& target);
};

/// Returns the target with this name; aborts if there is none.
const Target& find_target(std::string_view name);

/// Sets the first eight bytes of a safetensors file to the length of its header, which ends with the last
/// `end`.
void repair_header_length(std::string& input, std::string_view end);
inline void repair_header_length(std::string& input) {
    repair_header_length(input, "}");
}

inline void require(bool promise) {
    if (!promise)
        std::abort();
}

/// Runs `use` and returns true if the input was refused, with an Error(input) of 1 to 2,000 characters. Any
/// other exception ends the program.
template<class Use>
bool accepted(const Use& use) {
    try {
        use();
        return true;
    } catch (const Error& error) {
        const std::string_view sentence = error.what();
        require(error.kind() == ErrorKind::input && !sentence.empty() && sentence.size() <= 2000);
        return false;
    }
}

} // namespace headscope::fuzz
