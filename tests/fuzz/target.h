#pragma once

#include "core/base/error.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace headscope::fuzz {

/// A parser that random bytes are fed to, by libFuzzer (libfuzzer_main.cpp) or without it
/// (standalone_main.cpp).
struct Target {
    std::string_view name; ///< that of its corpus, too
    /// Feeds the bytes to the parser. Only headscope::Error may leave the parser; a broken promise aborts.
    void (*read)(std::string_view bytes);
    /// Mends what a random change breaks nearly always, such as a length field, so that later checks are
    /// reached.
    void (*repair)(std::string& input) = [](std::string&) {};
};

/// Makes a target known, as a constant of the file that has it.
struct Registered {
    explicit Registered(const Target& target);
};

/// Aborts for a name that no target has.
const Target& find_target(std::string_view name);

/// Makes the first eight bytes of a safetensors file the length of its header, which ends with the last
/// `end`.
void repair_header_length(std::string& input, std::string_view end);
inline void repair_header_length(std::string& input) {
    repair_header_length(input, "}");
}

inline void require(bool promise) {
    if (!promise)
        std::abort();
}

/// Runs `use` and says whether it was refused, with an Error(input) of 1 to 2,000 characters. Anything else
/// that it throws ends the program.
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
