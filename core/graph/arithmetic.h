#pragma once

#include "core/tensor/shape.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::graph {

/// A cell of an input of a node.
struct Cell {
    std::size_t input = 0;
    Index at{};
    bool operator==(const Cell&) const = default;
};

/// A number in a formula.
struct Factor {
    double value = 0;
    std::optional<Cell> cell = {}; ///< the cell that it is, or is computed from
    std::string symbol = {};       ///< names a number that is not a cell: "√dk"
};

/// A product.
struct Term {
    std::vector<Factor> factors;
    double value = 0;
};

/// The kinds of steps from a sum to the number of the cell.
enum class StepKind : std::uint8_t {
    times,
    divided_by,
    plus,
    minus,
    square_root,
    exponential,
    hyperbolic_tangent,
    clipped,  ///< to [-by, by]
    at_most,  ///< min(number, by)
    function, ///< an activation function, named by the symbol
    excluded  ///< minus infinity: attention is not allowed
};

struct Arithmetic;

/// A step: number <kind> `by`.
struct ArithmeticStep {
    StepKind kind = StepKind::times;
    Factor by = {};
    std::vector<Arithmetic> from; ///< the way that `by` is computed; at most one
    double result = 0;
};

/// The arithmetic of one cell as data: terms are added, then steps lead from their sum to the total.
struct Arithmetic {
    std::vector<Term> terms;
    double sum = 0;
    std::vector<ArithmeticStep> steps;
    double total = 0;

    /// A single number to start with.
    static Arithmetic of(Factor factor);
    void add_term(std::vector<Factor> factors);
    /// Adds a step and computes its result.
    void then(StepKind kind, Factor by = {}, std::vector<Arithmetic> from = {});
    /// The step of an activation function, whose result the caller computed.
    void then_function(const std::string& symbol, double result);
};

} // namespace headscope::graph
