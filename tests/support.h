#pragma once

#include "core/base/error.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace headscope {

/// Returns the message of the Error(input) that `call` throws; empty if it does not throw. Other exceptions
/// pass through.
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

/// Returns the kind of the Error that `call` throws; nullopt if it does not throw.
template<class Call>
std::optional<ErrorKind> error_kind(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    return std::nullopt;
}

/// Returns the rows of the stages that a problem with these parts has.
inline std::vector<TensorInfo> stages_of(const ProblemParts& parts = {}) {
    std::vector<TensorInfo> rows;
    std::ranges::copy_if(stage_table(), std::back_inserter(rows),
                         [&](const TensorInfo& row) { return has_tensor(row.id, parts); });
    return rows;
}

} // namespace headscope
