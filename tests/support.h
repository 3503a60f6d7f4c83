#pragma once

#include "core/base/error.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

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

/// The rows of the stages that a problem with these parts has.
inline std::vector<TensorInfo> stages_of(const ProblemParts& parts = {}) {
    std::vector<TensorInfo> rows;
    std::ranges::copy_if(stage_table(), std::back_inserter(rows),
                         [&](const TensorInfo& row) { return has_tensor(row.id, parts); });
    return rows;
}

} // namespace headscope
