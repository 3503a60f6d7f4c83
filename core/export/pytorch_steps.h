#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

#include <string>

namespace headscope::exporting {

// The Python text between the numbers of a script and its end, in order. Each part reads variables that
// parts before it define, and the tensors of pytorch_values.h.

/// B, Tq, ..., and what else a problem has beside tensors: temperature, gains, tokens.
std::string script_sizes(const Problem& problem);
/// `allowed` and `add`; empty when there is no mask.
std::string script_mask(const Problem& problem);
/// Every stage under its name in the stage table, printed.
std::string script_stage_steps(const Problem& problem);
/// module_output and module_weights.
std::string script_module(const Problem& problem);
/// The tolerances, the comparison and the exit code. `with_module`: script_module stands before it.
/// `more_checks`: text that compares more.
std::string script_comparison(const Problem& problem, const Trace& trace, bool with_module,
                              const std::string& more_checks = {});

} // namespace headscope::exporting
