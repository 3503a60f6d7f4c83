#pragma once

#include <string>

namespace headscope {

/// Returns a path below tests/data, or below the folder in HEADSCOPE_TEST_DATA; `below` begins with a slash,
/// or is empty.
std::string test_data(const std::string& below);

} // namespace headscope
