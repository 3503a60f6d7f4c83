#pragma once

#include "core/base/error.h"

#include <string>

namespace headscope::cli {

/// For options that exclude each other or require another: exit code 2.
[[noreturn]] inline void fail_usage(const std::string& sentence) {
    throw Error(ErrorKind::usage, sentence);
}

} // namespace headscope::cli
