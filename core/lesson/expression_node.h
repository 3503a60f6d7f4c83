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
    std::optional<std::int64_t> layer = {}; ///< "L2." before cells or a call
    std::vector<std::shared_ptr<const Node>> arguments;
};
using ExpressionNode = std::shared_ptr<const Expression::Node>;

/// Throws Error(input) that quotes the position.
ExpressionNode parse_expression(std::string_view text);
/// Evaluates a function of a checkpoint's run; nothing if `name` is not one of them. An argument that is a
/// token, a position or a head is a word or a number.
///   probability(token, position), before(token, position): of a word, or of the most probable token number
///   1, 2, ...; with and without the edits. Default position: the last token.
///   logit(token, position): with the same arguments.
///   likeliest(number, position): that token as a word.
///   kl(): KL(before || now) of the last token, in nats.
///   attribution(component, token, token): see analysis::logit_attribution, for the layer in `state`; the
///   component is a head, "mlp", or "embedding"; the last token is optional.
///   lost(head, token, token): the decrease of the logit, or of the logit difference, when that head of the
///   layer is ablated.
///   recovered(kind, place, token, token): see analysis::Patching, for the scene's second prompt; the kind
///   is an id of analysis::patch_kinds, the place a head of the layer, or a position.
///   path("0.4", "2.4", keys, token, token): the fraction recovered by one path, from a head to the
///   queries, keys or values of a later one.
/// Throws Error(input) without a checkpoint, and for anything that the checkpoint does not have.
std::optional<LessonValue> model_function(const std::string& name, const std::vector<LessonValue>& arguments,
                                          const LessonState& state);
/// Throws Error(input) if a name is unknown, or a cell, a word or a head does not exist.
LessonValue evaluate(const Expression::Node& node, const LessonState& state);

} // namespace headscope::lesson
