#pragma once

#include "core/lesson/expression.h"

namespace headscope::lesson {

/// One node of a parsed expression.
struct Expression::Node {
    enum class Kind : std::uint8_t { number, text, name, cells, call, unary, binary };
    Kind kind = Kind::number;
    double number = 0;
    std::string text; ///< the name, the operator or the quoted text
    Target target;
    std::vector<std::shared_ptr<const Node>> arguments;
};
using ExpressionNode = std::shared_ptr<const Expression::Node>;

/// Throws Error(input) that quotes the place.
ExpressionNode parse_expression(std::string_view text);
/// Throws Error(input) when a name is unknown, or a cell, a word or a head is not there.
LessonValue evaluate(const Expression::Node& node, const LessonState& state);

} // namespace headscope::lesson
