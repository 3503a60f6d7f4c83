#pragma once

#include "core/graph/arithmetic.h"
#include "core/graph/attributes.h"
#include "core/graph/axes.h"
#include "core/graph/location.h"
#include "core/graph/op.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::graph {

/// One input of an operation: its axes, and its numbers if they are known.
struct Operand {
    const Axes* axes = nullptr;
    Shape shape = {};

    explicit Operand(const Axes& of, const double* known = nullptr)
        : axes(&of), shape(of.shape()), doubles_(known) {}
    /// The numbers of a run.
    Operand(const Axes& of, const float* known) : axes(&of), shape(of.shape()), floats_(known) {}
    bool known() const { return doubles_ != nullptr || floats_ != nullptr; }
    double at(const Index& cell) const { return number(shape.offset(cell)); }
    /// A number by its place in row-major order.
    double number(std::int64_t place) const {
        return doubles_ != nullptr ? doubles_[place] : static_cast<double>(floats_[place]);
    }

private:
    const double* doubles_ = nullptr; ///< row-major
    const float* floats_ = nullptr;   ///< in place of them
};

/// One use of an operation: all that decides the numbers of a node.
struct Call {
    const Attributes& attributes;
    std::span<const Operand> in;
    const Axes& axes; ///< axes of the result; empty while Operation::axes() determines them

    template<class Kind>
    const Kind& as() const {
        return std::get<Kind>(attributes);
    }
    bool has(std::size_t input) const { return input < in.size(); }
    const Axes& axes_of(std::size_t input) const { return *in[input].axes; }
};

/// The names of a node and of its inputs, in a formula or in Python.
struct Names {
    std::string out, out_symbol;
    std::vector<std::string> in, in_symbols;
};

/// A straight run of cells: `count` cells of input `source`, from `first` along `axis`.
struct ReadSpan {
    std::size_t source = 0;
    Index first{};
    int axis = 0;
    std::int64_t count = 1;
};

struct Cost {
    double multiply_adds = 0;
    double bytes = 0; ///< read and written, as float32
};

/// All that the program knows about one kind of operation. Stateless; any thread may use it. The numbers of
/// cell(), all() and explain() are in double precision, computed as the definition says: the reference for
/// every backend.
class Operation {
public:
    virtual ~Operation() = default;

    virtual std::string_view name() const = 0; ///< "softmax"
    /// The word above an arrow from its first input to its result, in the user's language.
    virtual std::string verb() const { return std::string(name()); }
    /// The view that shows a node of this kind in a step of the strip.
    virtual Page page(Step step) const = 0;
    /// The axes of the result. Throws Error(input) with the reason if the inputs do not fit together.
    virtual Axes axes(const Call& call) const = 0;
    /// The input cells that cell `at` depends on. The two factors of a product have spans of equal length,
    /// left factor first. An operation whose numbers decide what is read (rows of a table, chosen experts)
    /// names the cells that are read with the given numbers, or all that could be if they are not known.
    virtual std::vector<ReadSpan> reads(const Call& call, const Index& at) const = 0;
    /// Its formula, in row-vector convention and in the user's language.
    virtual std::string formula(const Call& call, const Names& names) const = 0;
    /// The arithmetic of one cell, from the numbers of the inputs.
    virtual Arithmetic explain(const Call& call, const Index& at) const = 0;
    /// Lines of PyTorch, each with a line end. `names` are variables. Empty for leaves.
    virtual std::string pytorch(const Call& call, const Names& names) const = 0;
    virtual Cost cost(const Call& call) const;
    /// The number of one cell.
    virtual double cell(const Call& call, const Index& at) const = 0;
    /// The numbers of all cells: call.axes.count() of them.
    virtual void all(const Call& call, std::span<double> out) const;
    /// Returns true if the result is linear in that input (up to a constant), with all other inputs and the
    /// scale of a norm frozen.
    virtual bool is_linear_in(const Call& call, std::size_t input) const;
    /// The linear map: the number that multiplies cell `from` of the input in cell `at` of the result. Only
    /// for cells that reads() names, and only if is_linear_in().
    virtual double coefficient(const Call& call, const Index& at, std::size_t input, const Index& from) const;

protected:
    /// Multiply-adds for one cell of the result.
    virtual double multiply_adds_per_cell(const Call& call) const = 0;
};

/// An operation whose rows along the innermost axis are computed as a whole, as norms and softmax are.
class RowOperation : public Operation {
public:
    double cell(const Call& call, const Index& at) const final;
    void all(const Call& call, std::span<double> out) const final;

protected:
    /// The numbers of the row that contains `at`.
    virtual void row(const Call& call, const Index& at, std::span<double> out) const = 0;
};

const Operation& operation(Op op);

} // namespace headscope::graph
