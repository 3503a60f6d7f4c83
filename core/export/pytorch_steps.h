#pragma once

#include "core/export/script_part.h"

#include <string>

namespace headscope::exporting {

// The Python text between the numbers of a script and its end, in order. Each part reads variables that parts
// before it define, and the tensors of pytorch_values.h.

/// B, Tq, ..., and the tokens.
std::string script_sizes(const ScriptPart& part);
/// The lines of each computed node under a heading, then a loop that prints the nodes.
std::string script_steps(const ScriptPart& part, const ScriptVariables& variables);

/// Returns true if the part computes the weights and the output of a single attention: not a whole model, nor
/// a layer without attention.
bool has_one_attention(const ScriptPart& part, const ScriptVariables& variables);
/// Returns true if torch.nn.MultiheadAttention can express the part's attention: dk = dv = D / H, Hkv = H,
/// head gains and temperature 1, heads that are columns of q and k, and not every query row excluded by the
/// mask in some head (the module has NaN in such rows). False without a single attention.
bool fits_torch_module(const ScriptPart& part, const ScriptVariables& variables);
/// module_output and module_weights.
std::string script_module(const ScriptPart& part, const ScriptVariables& variables);
/// The tolerances, the comparison and the exit code. with_module: script_module precedes it.
std::string script_comparison(const ScriptPart& part, const ScriptVariables& variables, bool with_module);

} // namespace headscope::exporting
