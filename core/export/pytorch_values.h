#pragma once

#include "core/export/script_part.h"
#include "core/format/safetensors.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::exporting {

/// One tensor of a PyTorch script by the name of its variable.
struct ScriptValue {
    enum class Kind : std::uint8_t {
        numbers,
        flags, ///< 0 or 1: torch.bool
        ids    ///< whole numbers: torch.int64
    };
    std::string name;
    std::string axes; ///< as in the comment after it: "(B, Tq, D)"
    TensorPtr tensor;
    Kind kind = Kind::numbers;
};

/// The axes of a node in a comment: "(B, Tq, H*dk)".
std::string axes_comment(const graph::Axes& axes, const ScriptVariables& variables);

/// The numbers that a script is given, in the order in which it defines them, then those of interventions.
std::vector<ScriptValue> script_inputs(const ScriptPart& part, const ScriptVariables& variables);
/// The numbers that Headscope computed: expected_weights, expected_output.
std::vector<ScriptValue> expected_values(const ScriptPart& part, const ScriptVariables& variables);
/// The variable with the numbers of an intervention: "intervention_0".
std::string intervention_variable(std::size_t index);

/// "NAME = torch.tensor([...])": nested lists, a row of the last axis to a line. Every float32 is written so
/// that Python's double turns back into it.
std::string python_tensor(const ScriptValue& value);
/// Adds the numbers under the name of the variable.
void add_to(format::SafetensorsWriter& writer, const ScriptValue& value);

/// A Python string, list or docstring line; bytes that are not UTF-8 become the replacement character.
std::string python_text(const std::string& text);
std::string python_list(const std::vector<std::string>& texts);

} // namespace headscope::exporting
