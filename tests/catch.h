#pragma once

// The one place that knows Catch2's version. Names are those of version 2.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;

// Version 3 keeps the name Contains for ranges.
inline auto Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}
} // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
