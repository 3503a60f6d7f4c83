#pragma once

#include <string>

namespace headscope {

/// The reason for a failed system call, from its errno, in the user's language: "Permission denied".
std::string system_reason(int error);

} // namespace headscope
