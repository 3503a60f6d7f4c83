#include "core/lesson/formula.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <cctype>
#include <map>
#include <optional>

namespace headscope::lesson {

namespace {

const std::map<std::string_view, std::string_view>& symbols() {
    static const std::map<std::string_view, std::string_view> table{
        {"cdot", "·"},  {"times", "×"}, {"top", "T"},   {"sum", "Σ"},    {"in", "∈"},     {"infty", "∞"},
        {"leq", "≤"},   {"geq", "≥"},   {"neq", "≠"},   {"approx", "≈"}, {"to", "→"},     {"ldots", "…"},
        {"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"theta", "θ"},  {"lambda", "λ"}, {"sigma", "σ"},
        {"mu", "μ"},    {"Delta", "Δ"}, {"pm", "±"},    {"odot", "⊙"},   {"oplus", "⊕"},  {"mid", "|"},
        {"lVert", "‖"}, {"rVert", "‖"}, {"Vert", "‖"},  {"mapsto", "↦"}, {"quad", "  "},  {"div", "÷"},
        {"ln", "ln"},   {"exp", "exp"}, {"max", "max"}, {"min", "min"},  {"log", "log"},  {"omega", "ω"},
        {"cos", "cos"}, {"sin", "sin"}, {"ell", "ℓ"},   {",", " "},      {";", " "},      {"lbrace", "{"},
        {"rbrace", "}"}};
    return table;
}

constexpr int max_nesting = 32; ///< of nested braces, fractions, roots and brackets

class FormulaReader {
public:
    explicit FormulaReader(std::string_view text) : text_(text) {}

    Formula whole() {
        Formula row = parts_until("");
        if (at_ < text_.size())
            fail(tr("formula.closes_nothing", "\"{}\" closes nothing", text_[at_]));
        return row;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        fail_input(tr("formula.formula_cannot_read", "the formula \"{}\" cannot be read: {}",
                      text::plain_excerpt(text_), why));
    }

    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
    }

    /// Reads parts up to one of the ending signs, which is not consumed.
    Formula parts_until(std::string_view ends) {
        Formula row;
        for (skip(); at_ < text_.size(); skip()) {
            if (text_[at_] == '}' || ends.find(text_[at_]) != std::string_view::npos)
                break;
            if (!ends.empty() && text_[at_] == '\\' && closes_here())
                break;
            row.parts.push_back(scripted());
        }
        return row;
    }

    /// Returns true if the end of a row, of a matrix or of a fence comes next.
    bool closes_here() const {
        const std::string_view rest = text_.substr(at_);
        return rest.starts_with("\\\\") || rest.starts_with("\\end") || rest.starts_with("\\right");
    }

    Formula scripted() {
        Formula base = single();
        Formula below, above;
        bool any = false;
        for (skip(); at_ < text_.size() && (text_[at_] == '_' || text_[at_] == '^'); skip()) {
            const bool down = text_[at_++] == '_';
            Formula& slot = down ? below : above;
            if (!slot.parts.empty() || !slot.text.empty())
                fail(tr("formula.two_scripts_stand_same",
                        "two subscripts or superscripts are at the same position; put them in braces"));
            slot = argument();
            any = true;
        }
        if (!any)
            return base;
        return {.kind = Formula::Kind::scripts,
                .text = {},
                .parts = {std::move(base), std::move(below), std::move(above)},
                .columns = 0};
    }

    Formula argument() {
        skip();
        return single();
    }

    /// Reads one part, one level deeper: every recursion of the reader goes through here.
    Formula single() {
        if (++levels_ > max_nesting)
            fail(tr("formula.nested_more_levels_deep", "it is nested more than {} levels deep; flatten it",
                    max_nesting));
        Formula found = part();
        --levels_;
        return found;
    }

    Formula part() {
        skip();
        if (at_ >= text_.size())
            fail(tr("formula.ends_something_should_stand", "it ends where something should follow"));
        const char c = text_[at_];
        if (c == '{')
            return braces();
        if (c == '\\')
            return command();
        if (std::isdigit(static_cast<unsigned char>(c)) != 0)
            return number();
        // A character can have several bytes in UTF-8.
        std::size_t length = 1;
        while (at_ + length < text_.size() &&
               (static_cast<unsigned char>(text_[at_ + length]) & 0xC0U) == 0x80U)
            ++length;
        const std::string sign(text_.substr(at_, length));
        at_ += length;
        const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
        return {.kind = letter ? Formula::Kind::symbol : Formula::Kind::text,
                .text = sign == "-" ? "−" : sign,
                .parts = {},
                .columns = 0};
    }

    Formula number() {
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
            ++at_;
        return {.kind = Formula::Kind::text,
                .text = std::string(text_.substr(begin, at_ - begin)),
                .parts = {},
                .columns = 0};
    }

    Formula braces() {
        ++at_;
        Formula inner = parts_until("");
        if (at_ >= text_.size())
            fail(tr("formula.brace_not_closed", "a brace is not closed"));
        ++at_;
        return inner;
    }

    std::string words() {
        skip();
        const auto close = text_.find('}', at_);
        if (at_ >= text_.size() || text_[at_] != '{' || close == std::string_view::npos)
            fail(tr("formula.words_braces_expected", "words in braces are expected"));
        const std::string inner(text_.substr(at_ + 1, close - at_ - 1));
        at_ = close + 1;
        return inner;
    }

    Formula command() {
        ++at_;
        std::size_t end = at_;
        while (end < text_.size() && std::isalpha(static_cast<unsigned char>(text_[end])) != 0)
            ++end;
        if (end == at_)
            ++end;
        const std::string_view name = text_.substr(at_, std::min(end, text_.size()) - at_);
        at_ = std::min(end, text_.size());
        if (name == "frac") {
            Formula over = argument(), under = argument();
            return {.kind = Formula::Kind::fraction,
                    .text = {},
                    .parts = {std::move(over), std::move(under)},
                    .columns = 0};
        }
        if (name == "sqrt")
            return {.kind = Formula::Kind::root, .text = {}, .parts = {argument()}, .columns = 0};
        if (name == "text" || name == "mathrm")
            return {.kind = Formula::Kind::text, .text = words(), .parts = {}, .columns = 0};
        if (name == "left")
            return fenced();
        if (name == "begin")
            return matrix();
        const auto known = symbols().find(name);
        if (known == symbols().end())
            fail(tr("formula.not_known", "\\{} is not known", text::plain_excerpt(name)));
        return {.kind = Formula::Kind::text, .text = std::string(known->second), .parts = {}, .columns = 0};
    }

    char bracket() {
        skip();
        if (at_ >= text_.size())
            fail(tr("formula.bracket_expected", "a bracket is expected"));
        return text_[at_++];
    }

    void expect(std::string_view what) {
        skip();
        if (!text_.substr(at_).starts_with(what))
            fail(tr("formula.missing", "{} is missing", what));
        at_ += what.size();
    }

    Formula fenced() {
        const char open = bracket();
        Formula inner = parts_until("\x01");
        expect("\\right");
        const char close = bracket();
        return {
            .kind = Formula::Kind::fence, .text = {open, close}, .parts = {std::move(inner)}, .columns = 0};
    }

    Formula matrix() {
        expect("{matrix}");
        Formula out{.kind = Formula::Kind::matrix, .text = {}, .parts = {}, .columns = 0};
        int in_row = 0;
        for (;;) {
            out.parts.push_back(parts_until("&"));
            ++in_row;
            skip();
            if (at_ < text_.size() && text_[at_] == '&') {
                ++at_;
                continue;
            }
            if (out.columns != 0 && out.columns != in_row)
                fail(tr("formula.rows_matrix_not_equally", "the rows of the matrix are not equally long"));
            out.columns = in_row;
            in_row = 0;
            if (text_.substr(at_).starts_with("\\\\")) {
                at_ += 2;
                continue;
            }
            expect("\\end");
            expect("{matrix}");
            return out;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int levels_ = 0;
};

} // namespace

Formula parse_formula(std::string_view tex) {
    return FormulaReader(tex).whole();
}

} // namespace headscope::lesson
