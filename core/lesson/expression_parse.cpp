#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/lesson/expression_node.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace headscope::lesson {

namespace {

using Kind = Expression::Node::Kind;

/// The maximum depth of the tree, so that recursive functions do not overflow the stack.
constexpr int max_tree_depth = 200;

/// A recursive descent parser with one function per precedence level.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    ExpressionNode whole() {
        ExpressionNode node = any();
        skip();
        if (at_ < text_.size())
            fail(tr("expression_parse.something_left_over", "unexpected text from \"{}\" on",
                    text::plain_excerpt(text_.substr(at_))));
        return node;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        fail_input(tr("expression_parse.expression_cannot_read", "the expression \"{}\" cannot be read: {}",
                      text::plain_excerpt(text_), why));
    }

    void count_part() {
        if (++parts_ > max_tree_depth)
            fail(tr("expression_parse.more_operators_brackets",
                    "it has more than {} operators, brackets and functions; shorten it", max_tree_depth));
    }

    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
    }

    /// Consumes a sign or a word if it comes next; a word must end there.
    bool take(std::string_view sign) {
        skip();
        if (!text_.substr(at_).starts_with(sign))
            return false;
        const bool word = std::isalpha(static_cast<unsigned char>(sign.front())) != 0;
        const std::size_t end = at_ + sign.size();
        if (word && end < text_.size() && in_word(text_[end]))
            return false;
        at_ = end;
        return true;
    }

    static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

    static ExpressionNode operation(Kind kind, std::string_view sign, std::vector<ExpressionNode> arguments) {
        auto node = std::make_shared<Expression::Node>();
        node->kind = kind;
        node->text = sign;
        node->arguments = std::move(arguments);
        return node;
    }

    template<class Next, std::size_t count>
    ExpressionNode chain(const std::array<std::string_view, count>& signs, const Next& next) {
        ExpressionNode left = next();
        for (;;) {
            const auto sign = std::ranges::find_if(signs, [this](std::string_view s) { return take(s); });
            if (sign == signs.end())
                return left;
            count_part();
            left = operation(Kind::binary, *sign, {left, next()});
        }
    }

    ExpressionNode any() {
        return chain(std::array<std::string_view, 1>{"or"}, [this] { return all(); });
    }
    ExpressionNode all() {
        return chain(std::array<std::string_view, 1>{"and"}, [this] { return negation(); });
    }
    ExpressionNode negation() {
        if (!take("not"))
            return comparison();
        count_part();
        return operation(Kind::unary, "not", {negation()});
    }
    ExpressionNode comparison() {
        return chain(std::array<std::string_view, 6>{"<=", ">=", "!=", "<", ">", "="},
                     [this] { return sum(); });
    }
    ExpressionNode sum() {
        return chain(std::array<std::string_view, 2>{"+", "-"}, [this] { return product(); });
    }
    ExpressionNode product() {
        return chain(std::array<std::string_view, 2>{"*", "/"}, [this] { return sign(); });
    }
    ExpressionNode sign() {
        if (!take("-"))
            return power();
        count_part();
        return operation(Kind::unary, "-", {sign()});
    }
    ExpressionNode power() {
        ExpressionNode base = single();
        if (!take("^"))
            return base;
        count_part();
        return operation(Kind::binary, "^", {base, sign()});
    }

    ExpressionNode single() {
        skip();
        if (at_ >= text_.size())
            fail(tr("expression_parse.ends_number_name_cell",
                    "it ends where a number, a name or a cell should follow"));
        if (take("(")) {
            count_part();
            ExpressionNode inner = any();
            if (!take(")"))
                fail(tr("expression_parse.bracket_not_closed", "a bracket is not closed"));
            return inner;
        }
        const char c = text_[at_];
        if (c == '"')
            return quoted();
        if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.')
            return number();
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            return name();
        fail(tr("expression_parse.not_expected", "\"{}\" is not expected", c));
    }

    ExpressionNode quoted() {
        const auto close = text_.find('"', at_ + 1);
        if (close == std::string_view::npos)
            fail(tr("expression_parse.quotation_mark_not", "a quotation mark is not closed"));
        auto node = std::make_shared<Expression::Node>();
        node->kind = Kind::text;
        node->text = text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
        return node;
    }

    ExpressionNode number() {
        auto node = std::make_shared<Expression::Node>();
        const auto [end, fault] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), node->number);
        if (fault != std::errc())
            fail(tr("expression_parse.no_number", "\"{}\" is not a number",
                    text::plain_excerpt(text_.substr(at_))));
        at_ = static_cast<std::size_t>(end - text_.data());
        return node;
    }

    std::string_view word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && in_word(text_[at_]))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    /// "L2." before a name.
    std::optional<std::int64_t> layer() {
        const std::size_t begin = at_;
        const std::string_view name = word();
        const auto number = name.starts_with('L') ? number_of<std::int64_t>(name.substr(1)) : std::nullopt;
        if (number && take("."))
            return number;
        at_ = begin;
        return {};
    }

    ExpressionNode name() {
        auto node = std::make_shared<Expression::Node>();
        node->layer = layer();
        const std::size_t begin = at_;
        node->text = word();
        if (take("(")) {
            count_part();
            node->kind = Kind::call;
            if (!take(")"))
                do
                    node->arguments.push_back(any());
                while (take(","));
            else
                return node;
            if (!take(")"))
                fail(tr("expression_parse.bracket_after_not", "the bracket after {} is not closed",
                        node->text));
            return node;
        }
        // A number without axes, such as the temperature, is parsed as a name.
        if (const auto id = find_named(node->text); !id || tensor_info(*id).rank() == 0) {
            if (node->layer)
                fail(tr("expression_parse.neither_tensor_nor",
                        "\"{}\" is neither a tensor nor a function of a layer", node->text));
            if (!id && at_ < text_.size() && text_[at_] == '[')
                fail(tr("common.no_tensor", "there is no tensor \"{}\"", node->text));
            node->kind = Kind::name;
            return node;
        }
        node->kind = Kind::cells;
        while (at_ < text_.size() && text_[at_] == '[') {
            at_ = text_.find(']', at_);
            if (at_ == std::string_view::npos)
                fail(tr("expression_parse.bracket_after_not", "the bracket after {} is not closed",
                        node->text));
            ++at_;
        }
        node->target = parse_target(text_.substr(begin, at_ - begin));
        return node;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int parts_ = 0; ///< operators, brackets and calls so far
};

void collect(const Expression::Node& node, std::vector<Target>& targets) {
    if (node.kind == Kind::cells)
        targets.push_back(node.target);
    for (const ExpressionNode& argument : node.arguments)
        collect(*argument, targets);
}

void collect(const Expression::Node& node, std::vector<std::string>& functions) {
    if (node.kind == Kind::call)
        functions.push_back(node.text);
    for (const ExpressionNode& argument : node.arguments)
        collect(*argument, functions);
}

} // namespace

ExpressionNode parse_expression(std::string_view text) {
    return Parser(text).whole();
}

Expression Expression::parse(std::string_view text) {
    Expression out;
    out.text_ = text;
    out.root_ = parse_expression(out.text_);
    return out;
}

LessonValue Expression::value(const LessonState& state) const {
    return evaluate(*root_, state);
}

double Expression::number(const LessonState& state) const {
    const LessonValue found = value(state);
    if (const auto* number = std::get_if<double>(&found))
        return *number;
    fail_input(tr("expression_parse.word_number_needed", "\"{}\" is the word \"{}\", and a number is needed",
                  text_, std::get<std::string>(found)));
}

bool Expression::truth(const LessonState& state) const {
    return number(state) != 0;
}

std::vector<Target> Expression::targets() const {
    std::vector<Target> found;
    collect(*root_, found);
    return found;
}

std::vector<std::string> Expression::functions() const {
    std::vector<std::string> found;
    collect(*root_, found);
    return found;
}

} // namespace headscope::lesson
