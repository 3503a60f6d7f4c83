#pragma once

#include "core/checkpoint/architecture/architecture.h"

#include <string>
#include <vector>

namespace headscope::analysis {

/// Returns the names of the settings in which two architectures of one shape differ and that change what is
/// computed, such as "rope theta" or "norm_eps"; those of an encoder begin with "encoder ". Empty: the same
/// parameters give the same numbers in both.
std::vector<std::string> differing_settings(const checkpoint::Architecture& a,
                                            const checkpoint::Architecture& b);

} // namespace headscope::analysis
