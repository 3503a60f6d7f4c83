#pragma once

#include "core/base/error.h"

#include <string>

namespace headscope {

/// What read_file() throws for a file with more bytes than its reader takes.
class FileTooLarge : public Error {
public:
    explicit FileTooLarge(const std::string& sentence) : Error(ErrorKind::input, sentence) {}
};

} // namespace headscope
