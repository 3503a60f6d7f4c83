#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

#include <string>
#include <variant>
#include <vector>

namespace headscope::exporting {

/// One tensor of a PyTorch script by the name of its variable.
struct ScriptValue {
    std::string name;
    std::string axes; ///< as in the comment beside it: "B, Tq, D"
    std::variant<TensorPtr, BoolTensorPtr> tensor;

    std::int64_t count() const;
};

/// The axes of a tensor of the stage table: "B, Tq, H*dk".
std::string axes_text(TensorId id, const Dims& dims = {});

/// The variable that holds the numbers of mask rule `index`: "mask_0".
std::string mask_variable(std::size_t index);

/// What decides the numbers, in the order in which the script defines it.
std::vector<ScriptValue> script_inputs(const Problem& problem);
/// What Headscope computed: expected_weights, expected_output.
std::vector<ScriptValue> expected_values(const Trace& trace);

/// "NAME = torch.tensor([...])": nested lists, a row of the last axis to a line. Every float32 is written so
/// that Python's double turns back into it.
std::string python_tensor(const ScriptValue& value);

/// A Python string, list or docstring line; what is not UTF-8 becomes the replacement character.
std::string python_text(const std::string& text);
std::string python_list(const std::vector<std::string>& texts);

} // namespace headscope::exporting
