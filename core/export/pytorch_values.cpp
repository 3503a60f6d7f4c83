#include "core/export/pytorch_values.h"

#include "core/attention/mask.h"
#include "core/format/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

/// torch.tensor takes a double and refuses one beyond float32's largest number; the shortest text of a
/// float32 may be one, or, read as a double, round to a neighbour. The double itself is then written.
void append_python_number(std::string& out, float number) {
    const std::size_t before = out.size();
    format::append_number(out, number);
    if (!std::isfinite(number))
        return; // the script defines inf
    if (number == 0.0F && std::signbit(number)) {
        out += ".0"; // as an integer, Python's -0 would lose its sign
        return;
    }
    double read = 0.0;
    std::from_chars(out.data() + before, out.data() + out.size(), read);
    if (static_cast<float>(read) == number &&
        std::abs(read) <= static_cast<double>(std::numeric_limits<float>::max()))
        return;
    out.resize(before);
    std::array<char, 32> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<double>(number)).ptr;
    out.append(digits.data(), end);
}

/// Nested lists of `shape`; append(out, at) writes number `at` in row-major order.
template<class Append>
std::string nested_lists(const Shape& shape, const Append& append) {
    constexpr std::size_t widest = 100;
    if (shape.rank() == 0) {
        std::string number;
        append(number, 0);
        return number;
    }
    const int outer = shape.rank() - 1;
    const std::int64_t columns = shape.back(0), rows = shape.count() / columns;
    std::string out(static_cast<std::size_t>(outer), '['), line;
    const std::string indent = outer == 0 ? "" : "\n    ";
    for (std::int64_t row = 0; row < rows; ++row) {
        out += indent + "[";
        std::size_t line_begin = out.size();
        for (std::int64_t column = 0; column < columns; ++column) {
            if (column > 0)
                out += ',';
            if (out.size() - line_begin > widest) {
                out += "\n     ";
                line_begin = out.size();
            } else if (column > 0) {
                out += ' ';
            }
            append(out, row * columns + column);
        }
        out += ']';
        // How many axes end with this row; their lists close, and open again for the next row.
        int ends = 0;
        for (std::int64_t left = row + 1; ends < outer && left % shape.back(1 + ends) == 0; ++ends)
            left /= shape.back(1 + ends);
        if (row + 1 == rows)
            ends = 0;
        else
            out += ',';
        if (ends > 0) {
            const auto brackets = static_cast<std::size_t>(ends);
            out += "\n" + std::string(brackets, ']') + ", " + std::string(brackets, '[');
        }
    }
    if (outer > 0)
        out += ",\n" + std::string(static_cast<std::size_t>(outer), ']');
    return out;
}

ScriptValue value_of(const graph::Node& node, const ScriptVariables& variables, std::string name,
                     const TensorPtr& numbers) {
    ScriptValue value{std::move(name), axes_comment(node.axes, variables), numbers};
    if (const auto* input = std::get_if<graph::Input>(&node.attributes)) {
        switch (input->kind) {
        case graph::Input::Kind::numbers:
            break;
        case graph::Input::Kind::ids:
            value.kind = ScriptValue::Kind::ids;
            break;
        case graph::Input::Kind::flags:
            value.kind = ScriptValue::Kind::flags;
            break;
        }
    }
    return value;
}

/// Appends number `at` of a value.
void append_python_element(std::string& out, const ScriptValue& value, std::int64_t at) {
    const float number = value.tensor->data()[at];
    switch (value.kind) {
    case ScriptValue::Kind::numbers:
        return append_python_number(out, number);
    case ScriptValue::Kind::flags:
    case ScriptValue::Kind::ids:
        out += std::to_string(static_cast<std::int64_t>(number));
    }
}

const char* dtype_of(ScriptValue::Kind kind) {
    switch (kind) {
    case ScriptValue::Kind::numbers:
        return "float32";
    case ScriptValue::Kind::flags:
        return "bool";
    case ScriptValue::Kind::ids:
        return "int64";
    }
    return "";
}

} // namespace

std::string axes_comment(const graph::Axes& axes, const ScriptVariables& variables) {
    if (axes.rank() == 0)
        return "one number";
    std::string text = axes.names();
    const auto replace_all = [&](std::string_view from, std::string_view to) {
        for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    };
    replace_all("·", "*");
    if (!variables.has("x_kv"))
        replace_all("Dkv", "D"); // keys and values come from x
    return "(" + text + ")";
}

std::vector<ScriptValue> script_inputs(const ScriptPart& part, const ScriptVariables& variables) {
    std::vector<ScriptValue> values;
    for (const graph::NodeId id : part.given)
        values.push_back(value_of(part.graph.node(id), variables, variables.of(id), part.of(id)));
    for (std::size_t index = 0; index < part.interventions.size(); ++index) {
        const run::NodeIntervention& one = part.interventions[index];
        values.push_back({intervention_variable(index), "for " + variables.of(one.node), one.values});
    }
    return values;
}

std::vector<ScriptValue> expected_values(const ScriptPart& part, const ScriptVariables& variables) {
    std::vector<ScriptValue> values;
    for (const graph::NodeId id : part.compared)
        values.push_back(
            value_of(part.graph.node(id), variables, "expected_" + variables.of(id), part.of(id)));
    return values;
}

std::string intervention_variable(std::size_t index) {
    return "intervention_" + std::to_string(index);
}

std::string python_tensor(const ScriptValue& value) {
    const std::string lists = nested_lists(value.tensor->shape(), [&](std::string& out, std::int64_t at) {
        append_python_element(out, value, at);
    });
    return value.name + " = torch.tensor(" + lists + ", dtype=torch." + dtype_of(value.kind) + ")  # " +
           value.axes + "\n";
}

void add_to(format::SafetensorsWriter& writer, const ScriptValue& value) {
    const Tensor& tensor = *value.tensor;
    switch (value.kind) {
    case ScriptValue::Kind::numbers:
        return writer.add(value.name, value.tensor);
    case ScriptValue::Kind::flags:
        return writer.add(value.name, std::make_shared<const BoolTensor>(BoolTensor{
                                          tensor.shape(), {tensor.values().begin(), tensor.values().end()}}));
    case ScriptValue::Kind::ids: {
        const std::vector<std::int64_t> ids(tensor.values().begin(), tensor.values().end());
        return writer.add_integers(value.name, tensor.shape(), ids);
    }
    }
}

std::string python_text(const std::string& text) {
    // A byte that is not UTF-8 becomes U+FFFD: Python cannot print a surrogate.
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string python_list(const std::vector<std::string>& texts) {
    constexpr std::size_t widest = 100;
    std::string out = "[";
    std::size_t line_begin = 0;
    for (const std::string& text : texts) {
        if (out.back() != '[')
            out += ", ";
        if (out.size() - line_begin > widest) {
            out += "\n    ";
            line_begin = out.size();
        }
        out += python_text(text);
    }
    return out + "]";
}

} // namespace headscope::exporting
