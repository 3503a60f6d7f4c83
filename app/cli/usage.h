#pragma once

#include "core/base/error.h"

#include <string>

namespace headscope::cli {

/// Options that cannot go together or lack something: exit code 2.
[[noreturn]] inline void fail_usage(const std::string& sentence) {
    throw Error(ErrorKind::usage, sentence);
}

} // namespace headscope::cli
