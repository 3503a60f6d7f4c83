#pragma once

#include "core/checkpoint/files/config_reader.h"

#include <string>

namespace headscope::checkpoint {

/// Throws Error(input) for a model_type that no family has: what this kind of model computes differently and
/// the nearest family that opens, or, for a kind that is not known, all families.
[[noreturn]] void refuse_type(const ConfigReader& reader, const std::string& type);

} // namespace headscope::checkpoint
