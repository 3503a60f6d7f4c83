#pragma once

// Hides the differences between Catch2's versions. Names are those of version 2.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::StartsWith;

// In version 3, the name Contains is used for ranges.
inline auto Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}
} // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
