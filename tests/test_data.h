#pragma once

#include <string>

namespace headscope {

/// The path of something below tests/data; `below` begins with a slash, or is empty.
std::string test_data(const std::string& below);

} // namespace headscope
