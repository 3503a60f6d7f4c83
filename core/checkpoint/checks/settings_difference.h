#pragma once

#include "core/checkpoint/model/model.h"

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// Returns the names of the settings in which two models of one shape differ and that change what is
/// computed, such as "rope theta" or "norm_eps"; those of an encoder begin with "encoder ". Empty: the same
/// parameters give the same numbers in both.
std::vector<std::string> differing_settings(const Model& a, const Model& b);

} // namespace headscope::checkpoint
