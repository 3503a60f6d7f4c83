#pragma once

#include "core/base/error.h"

#include <string>

namespace headscope {

/// Thrown by read_file() for a file that is larger than the caller allows.
class FileTooLarge : public Error {
public:
    explicit FileTooLarge(const std::string& sentence) : Error(ErrorKind::input, sentence) {}
};

} // namespace headscope
