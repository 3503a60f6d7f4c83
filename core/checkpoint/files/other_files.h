#pragma once

#include <string>

namespace headscope::checkpoint {

/// A sentence about a path that is no checkpoint here: what it is, why it does not open, and what to do. By
/// the first bytes of a file or the names in a folder; nothing is run or unpacked. Never throws Error.
std::string other_path_sentence(const std::string& path);

} // namespace headscope::checkpoint
