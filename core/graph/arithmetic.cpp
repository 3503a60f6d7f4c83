#include "core/graph/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::graph {

namespace {

double result_of(StepKind kind, double number, double by) {
    switch (kind) {
    case StepKind::times:
        return number * by;
    case StepKind::divided_by:
        return number / by;
    case StepKind::plus:
        return number + by;
    case StepKind::minus:
        return number - by;
    case StepKind::square_root:
        return std::sqrt(number);
    case StepKind::exponential:
        return std::exp(number);
    case StepKind::hyperbolic_tangent:
        return std::tanh(number);
    case StepKind::clipped:
        return std::clamp(number, -by, by);
    case StepKind::at_most:
        return std::min(number, by);
    case StepKind::function:
        return by;
    case StepKind::excluded:
        return -std::numeric_limits<double>::infinity();
    }
    return number;
}

} // namespace

Arithmetic Arithmetic::of(Factor factor) {
    Arithmetic arithmetic;
    arithmetic.add_term({std::move(factor)});
    return arithmetic;
}

void Arithmetic::add_term(std::vector<Factor> factors) {
    Term term{std::move(factors), 1};
    for (const Factor& factor : term.factors)
        term.value *= factor.value;
    sum += term.value;
    total = sum;
    terms.push_back(std::move(term));
}

void Arithmetic::then(StepKind kind, Factor by, std::vector<Arithmetic> from) {
    total = result_of(kind, total, by.value);
    steps.push_back({kind, std::move(by), std::move(from), total});
}

void Arithmetic::then_function(const std::string& symbol, double result) {
    then(StepKind::function, {.value = result, .symbol = symbol});
}

} // namespace headscope::graph
