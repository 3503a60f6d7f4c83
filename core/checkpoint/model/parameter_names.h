#pragma once

#include "core/checkpoint/model/model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

/// A parameter of a checkpoint.
struct HeldParameter {
    TensorId weight{};
    /// The number of the attention whose edits hold the parameter, see edited_with.
    std::int64_t attention = 0;
};

/// The parameters of a model by the names that its files may use.
class ParameterNames {
public:
    explicit ParameterNames(const Model& model);
    /// Returns the parameter of the longest end of the name that the family lists, since the files may have a
    /// further prefix; nothing for other names.
    std::optional<HeldParameter> find(std::string_view name) const;

private:
    std::map<std::string, HeldParameter, std::less<>> held_;
};

} // namespace headscope::checkpoint
