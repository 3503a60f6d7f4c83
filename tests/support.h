#pragma once

#include "core/base/error.h"

#include <optional>
#include <string>

namespace headscope {

/// The sentence of the Error(input) that `call` throws; empty when it throws nothing. Others pass through.
template<class Call>
std::string input_error(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input)
            throw;
        return error.what();
    }
    return "";
}

/// The kind of the Error that `call` throws; nothing when it throws nothing.
template<class Call>
std::optional<ErrorKind> error_kind(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    return std::nullopt;
}

} // namespace headscope
