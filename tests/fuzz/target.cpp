#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <vector>

namespace headscope::fuzz {

namespace {

std::vector<Target>& targets() {
    static std::vector<Target> all;
    return all;
}

} // namespace

Registered::Registered(const Target& target) {
    targets().push_back(target);
}

void repair_header_length(std::string& input, std::string_view end) {
    const auto at = input.rfind(end);
    if (at == std::string::npos || at < sizeof(std::uint64_t))
        return;
    const std::uint64_t length = at + end.size() - sizeof(std::uint64_t);
    std::memcpy(input.data(), &length, sizeof(length));
}

const Target& find_target(std::string_view name) {
    const auto found = std::ranges::find(targets(), name, &Target::name);
    if (found == targets().end()) {
        std::cerr << "there is no fuzz target " << name << '\n';
        std::abort();
    }
    return *found;
}

} // namespace headscope::fuzz
