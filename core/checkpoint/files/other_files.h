#pragma once

#include <string>

namespace headscope::checkpoint {

/// Sentence about a path that does not open as a checkpoint: what it is, why it does not open, and what to
/// do. By the first bytes of a file or the names in a folder; nothing is run or unpacked. Never throws Error.
std::string other_path_sentence(const std::string& path);

} // namespace headscope::checkpoint
