#pragma once

#include <string>

namespace headscope {

/// The path of something below tests/data, or below the folder that HEADSCOPE_TEST_DATA names; `below` begins
/// with a slash, or is empty.
std::string test_data(const std::string& below);

} // namespace headscope
