#pragma once

#include <string>

namespace headscope {

/// Why the system did not do something, by its errno, in the person's language: "Permission denied".
std::string system_reason(int error);

} // namespace headscope
