#include "core/export/pytorch_values.h"

#include "core/base/error.h"
#include "core/base/overloaded.h"
#include "core/export/trace_selection.h"
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

std::string shape_axes(const Shape& shape) {
    const std::string text = shape.text();
    return text.substr(1, text.size() - 2);
}

void add_mask_values(const Mask& mask, std::vector<ScriptValue>& values) {
    for (std::size_t index = 0; index < mask.size(); ++index) {
        const std::string name = mask_variable(index);
        std::visit(Overloaded{[&](const KeyPaddingMask& rule) {
                                  values.push_back({name, shape_axes(rule.key_valid->shape), rule.key_valid});
                              },
                              [&](const ExplicitMask& rule) {
                                  values.push_back({name, shape_axes(rule.allowed->shape), rule.allowed});
                              },
                              [&](const AdditiveMask& rule) {
                                  values.push_back({name, shape_axes(rule.add->shape()), rule.add});
                              },
                              [](const auto&) {}},
                   mask[index]);
    }
}

/// In self-attention the source is x: there is no Dkv.
std::string input_axes(const Problem& problem, TensorId id) {
    std::string axes = axes_text(id, problem.dims);
    constexpr std::string_view source_width = "Dkv";
    if (!problem.has_source() && axes.starts_with(source_width))
        axes.replace(0, source_width.size(), "D");
    return axes;
}

TensorPtr stage_of(const Trace& trace, TensorId id) {
    const TensorPtr& stage = trace.stages[static_cast<std::size_t>(id)];
    if (stage == nullptr)
        throw Error(ErrorKind::internal,
                    "the stage " + std::string(tensor_info(id).name) + " was not computed");
    return stage;
}

} // namespace

std::int64_t ScriptValue::count() const {
    return std::visit(Overloaded{[](const TensorPtr& numbers) { return numbers->count(); },
                                 [](const BoolTensorPtr& bools) { return bools->shape.count(); }},
                      tensor);
}

std::string axes_text(TensorId id, const Dims& dims) {
    std::string text = axis_names(tensor_info(id).axes, dims);
    constexpr std::string_view dot = "·";
    for (auto at = text.find(dot); at != std::string::npos; at = text.find(dot))
        text.replace(at, dot.size(), "*");
    return text;
}

std::string mask_variable(std::size_t index) {
    return "mask_" + std::to_string(index);
}

std::vector<ScriptValue> script_inputs(const Problem& problem) {
    std::vector<ScriptValue> values;
    visit_fields(
        Overloaded{
            [&](const Field& field, const TensorPtr& tensor) {
                if (tensor != nullptr)
                    values.push_back({std::string(field.name), input_axes(problem, *field.row), tensor});
            },
            [&](const Field&, const std::optional<Rotary>& rotary) {
                if (!rotary)
                    return;
                values.push_back({"cos", "B or 1, Tq, dk", rotary->cos});
                values.push_back({"sin", "B or 1, Tq, dk", rotary->sin});
            },
            [&](const Field&, const Mask& mask) { add_mask_values(mask, values); },
            [](const Field&, const auto&) {}}, // written by script_sizes
        problem);
    return values;
}

std::vector<ScriptValue> expected_values(const Trace& trace) {
    using enum TensorId;
    return {{"expected_weights", axes_text(weights), stage_of(trace, weights)},
            {"expected_output", axes_text(output), stage_of(trace, output)}};
}

std::string python_tensor(const ScriptValue& value) {
    const auto [lists, dtype] = std::visit(
        Overloaded{[](const TensorPtr& tensor) {
                       return std::pair(nested_lists(tensor->shape(),
                                                     [&](std::string& out, std::int64_t at) {
                                                         append_python_number(out, tensor->data()[at]);
                                                     }),
                                        "float32");
                   },
                   [](const BoolTensorPtr& tensor) {
                       return std::pair(nested_lists(tensor->shape,
                                                     [&](std::string& out, std::int64_t at) {
                                                         out +=
                                                             tensor->values[static_cast<std::size_t>(at)] != 0
                                                                 ? '1'
                                                                 : '0';
                                                     }),
                                        "bool");
                   }},
        value.tensor);
    return value.name + " = torch.tensor(" + lists + ", dtype=torch." + dtype + ")  # (" + value.axes + ")\n";
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
