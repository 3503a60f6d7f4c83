#include "core/base/error.h"
#include "core/lesson/formula.h"
#include "tests/catch.h"

#include <utility>
#include <vector>

using namespace headscope;
using namespace headscope::lesson;

namespace {

/// The tree in brackets, for comparing.
std::string shape(const Formula& f) {
    std::string inner;
    for (const Formula& part : f.parts)
        inner += (inner.empty() ? "" : " ") + shape(part);
    switch (f.kind) {
    case Formula::Kind::row:
        return "(" + inner + ")";
    case Formula::Kind::symbol:
    case Formula::Kind::text:
        return f.text;
    case Formula::Kind::scripts:
        return "script{" + inner + "}";
    case Formula::Kind::fraction:
        return "frac{" + inner + "}";
    case Formula::Kind::root:
        return "root{" + inner + "}";
    case Formula::Kind::matrix:
        return "matrix" + std::to_string(f.columns) + "{" + inner + "}";
    case Formula::Kind::fence:
        return "fence" + f.text + "{" + inner + "}";
    }
    return "";
}

std::string fault(const std::string& tex) {
    try {
        parse_formula(tex);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("formulas become trees") {
    const std::vector<std::pair<std::string, std::string>> all{
        {"d_k = 4", "(script{d k ()} = 4)"},
        {"a^2", "(script{a () 2})"},
        {"x_i^{n+1}", "(script{x i (n + 1)})"},
        {"\\frac{D}{H}", "(frac{(D) (H)})"},
        {"\\sqrt{d_k}", "(root{(script{d k ()})})"},
        {"\\text{in words} \\cdot 3.54", "(in words · 3.54)"},
        {"-1", "(− 1)"},
        {"\\begin{matrix} 1 & 2 \\\\ 3 & 4 \\end{matrix}", "(matrix2{(1) (2) (3) (4)})"},
        {"\\left( a + b \\right)^2", "(script{fence(){(a + b)} () 2})"},
        {"\\sum_{h} K^{\\top}", "(script{Σ (h) ()} script{K () (T)})"},
        {"√2 → ∞", "(√ 2 → ∞)"},
        {"", "()"}};
    for (const auto& [tex, tree] : all) {
        CAPTURE(tex);
        CHECK(shape(parse_formula(tex)) == tree);
    }
}

TEST_CASE("formulas that cannot be read say where") {
    const std::vector<std::pair<std::string, std::string>> all{
        {"{a", "a brace is not closed"},
        {"a}", "closes nothing"},
        {"\\frac{a}", "it ends where"},
        {"\\wings", "\\wings is not known"},
        {"a_1_2", "two subscripts or superscripts"},
        {"\\text words", "words in braces"},
        {"\\left( a", "\\right is missing"},
        {"\\begin{matrix} 1 & 2 \\\\ 3 \\end{matrix}", "not equally long"},
        {"\\begin{matrix} 1", "\\end is missing"},
        {"a^", "it ends where"},
        {"\\", "is not known"}};
    for (const auto& [tex, words] : all) {
        CAPTURE(tex, fault(tex));
        CHECK(fault(tex).find(words) != std::string::npos);
    }
}
