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

/// Throws Error(input) that quotes the place.
ExpressionNode parse_expression(std::string_view text);
/// Functions that read a checkpoint's run; nothing when `name` is none of them. A word or number stands where
/// an argument is a token, a position or a head.
///   probability(token, position), before(token, position): of a word, or of the likeliest token number 1, 2,
///   ...; with the edits and without. Without a position: of the last token. logit(token, position) likewise.
///   likeliest(number, position): that token as a word. kl(): KL(before || now) of the last token, in nats.
///   attribution(writer, token, token): see analysis::logit_attribution, of the layer in `state`; the writer
///   is a head, "mlp", or "embedding"; the last token is optional.
///   lost(head, token, token): how far the logit, or the difference, falls without that head of the layer.
///   recovered(kind, place, token, token): see analysis::Patching, of the scene's second prompt; the kind is
///   an id of analysis::patch_kinds, the place a head of the layer, or a position.
///   path("0.4", "2.4", keys, token, token): the same share of one path, from a head into the queries, keys
///   or values of a later one.
/// Throws Error(input) without a checkpoint, and for what it does not have.
std::optional<LessonValue> model_function(const std::string& name, const std::vector<LessonValue>& arguments,
                                          const LessonState& state);
/// Throws Error(input) when a name is unknown, or a cell, a word or a head is not there.
LessonValue evaluate(const Expression::Node& node, const LessonState& state);

} // namespace headscope::lesson
