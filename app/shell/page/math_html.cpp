#include "app/shell/page/math_html.h"

#include "app/shell/page/html.h"

#include <cctype>

namespace headscope::app::html {

namespace {

std::string element(const lesson::Formula& formula);

std::string row(const std::vector<lesson::Formula>& parts) {
    std::string out = "<mrow>";
    for (const lesson::Formula& part : parts)
        out += element(part);
    return out + "</mrow>";
}

/// A run of upright text: a number, a word or a sign.
std::string token(const std::string& text) {
    const bool number = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    const bool word = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
    const std::string name = number ? "mn" : word ? "mtext" : "mo";
    return "<" + name + ">" + escaped(text) + "</" + name + ">";
}

std::string scripts(const lesson::Formula& formula) {
    const bool below = !formula.parts[1].parts.empty() || !formula.parts[1].text.empty();
    const bool above = !formula.parts[2].parts.empty() || !formula.parts[2].text.empty();
    const std::string name = below && above ? "msubsup" : below ? "msub" : above ? "msup" : "mrow";
    return "<" + name + ">" + element(formula.parts[0]) + (below ? element(formula.parts[1]) : "") +
           (above ? element(formula.parts[2]) : "") + "</" + name + ">";
}

std::string matrix(const lesson::Formula& formula) {
    std::string out = "<mtable>";
    const auto columns = static_cast<std::size_t>(formula.columns);
    for (std::size_t i = 0; i < formula.parts.size(); ++i)
        out += std::string(i % columns == 0 ? "<mtr>" : "") + "<mtd>" + element(formula.parts[i]) + "</mtd>" +
               (i % columns == columns - 1 || i + 1 == formula.parts.size() ? "</mtr>" : "");
    return out + "</mtable>";
}

/// Returns the first character, which may have several bytes, and the rest.
std::pair<std::string, std::string> brackets(const std::string& both) {
    std::size_t end = 1;
    while (end < both.size() && (static_cast<unsigned char>(both[end]) & 0xC0U) == 0x80U)
        ++end;
    return {both.substr(0, end), both.size() > end ? both.substr(end) : ""};
}

std::string element(const lesson::Formula& formula) {
    using enum lesson::Formula::Kind;
    switch (formula.kind) {
    case row:
        return html::row(formula.parts);
    case symbol:
        return "<mi mathvariant=\"normal\">" + escaped(formula.text) + "</mi>";
    case text:
        return token(formula.text);
    case lesson::Formula::Kind::scripts:
        return html::scripts(formula);
    case fraction:
        return "<mfrac>" + element(formula.parts[0]) + element(formula.parts[1]) + "</mfrac>";
    case root:
        return "<msqrt>" + element(formula.parts[0]) + "</msqrt>";
    case lesson::Formula::Kind::matrix:
        return html::matrix(formula);
    case fence: {
        const auto [open, close] = brackets(formula.text);
        return "<mrow><mo>" + escaped(open) + "</mo>" + element(formula.parts[0]) + "<mo>" + escaped(close) +
               "</mo></mrow>";
    }
    }
    return {};
}

} // namespace

std::string math(const lesson::Formula& formula) {
    return "<math display=\"block\">" + element(formula) + "</math>";
}

} // namespace headscope::app::html
