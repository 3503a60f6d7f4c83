#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/core/graph/sample_graphs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

// Each operation states the same facts several times: as numbers, as cells that are read, as arithmetic, as a
// linear map. The tests derive each from the numbers.

namespace headscope::graph {

namespace {

bool is_leaf(const Node& node) {
    return node.op == Op::parameter || node.op == Op::input || node.op == Op::constant;
}

bool close(double a, double b) {
    return a == b || std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
}

/// One node with numbers of its own for its inputs.
struct Sample {
    const Node& node;
    std::vector<Axes> axes;
    std::vector<std::vector<double>> inputs;

    std::vector<Operand> operands() const {
        std::vector<Operand> in;
        for (std::size_t n = 0; n < axes.size(); ++n)
            in.emplace_back(axes[n], inputs[n].data());
        return in;
    }
    std::vector<double> all() const {
        const std::vector<Operand> in = operands();
        std::vector<double> out(static_cast<std::size_t>(node.axes.count()));
        operation(node.op).all({node.attributes, in, node.axes}, out);
        return out;
    }
};

/// Calls visit for each node of the sample graphs that is computed, with the numbers of a run.
template<class Visit>
void each_node(std::uint64_t seed, const Visit& visit) {
    for (const SampleGraph& sample : sample_graphs()) {
        const Leaves leaves = random_leaves(sample.graph, seed);
        const Evaluation run =
            evaluate_all(sample.graph, [&](const Node& node) { return leaves.at(node.name); });
        for (const Node& node : sample.graph.nodes()) {
            if (is_leaf(node))
                continue;
            Sample one{node, {}, {}};
            for (const Reading& input : node.inputs) {
                const Array& numbers = run[sample.graph.node(input.node).name];
                one.axes.push_back(numbers.axes);
                one.inputs.push_back(numbers.values);
            }
            INFO(sample.name << ": " << node.name << " = " << operation(node.op).name());
            visit(one, run[node.name].values);
        }
    }
}

/// (cell of the result, input, cell of the input)
using Dependencies = std::set<std::array<std::int64_t, 3>>;

Dependencies stated(const Sample& sample) {
    Dependencies all;
    const std::vector<Operand> in = sample.operands();
    const Shape shape = sample.node.axes.shape();
    for (std::int64_t cell = 0; cell < shape.count(); ++cell)
        for (const graph::ReadSpan& span :
             operation(sample.node.op)
                 .reads({sample.node.attributes, in, sample.node.axes}, shape.index(cell)))
            for (std::int64_t n = 0; n < span.count; ++n) {
                Index at = span.first;
                at[static_cast<std::size_t>(span.axis)] += n;
                all.insert({cell, static_cast<std::int64_t>(span.source),
                            sample.axes[span.source].shape().offset(at)});
            }
    return all;
}

/// Returns true for ids, flags and fractions, which decide what a cell reads and keep the numbers of the run.
bool decides_reads(const Node& node, std::size_t input) {
    if (node.op == Op::mask)
        return input >= (std::get<graph::Mask>(node.attributes).adds ? 2U : 1U);
    return input == 0 && (node.op == Op::embedding || node.op == Op::expert_sum);
}

/// Changes every number of the inputs, one at a time.
Dependencies observed(Sample sample) {
    Dependencies all;
    const std::vector<double> before = sample.all();
    for (std::size_t input = 0; input < sample.inputs.size(); ++input)
        for (std::size_t cell = 0; cell < sample.inputs[input].size(); ++cell) {
            double& number = sample.inputs[input][cell];
            const double own = number;
            if (!std::isfinite(own))
                continue;
            const bool whole = sample.node.op == Op::embedding && input == 0;
            const bool flag = sample.node.op == Op::mask && decides_reads(sample.node, input);
            std::vector<double> changes = whole  ? std::vector{own == 0 ? 1.0 : own - 1}
                                          : flag ? std::vector{1 - own}
                                                 : std::vector{own + 0.4375, own - 0.375, own + 9, own - 9};
            if (sample.node.op == Op::expert_sum && input == 0)
                changes.push_back(0); // the expert is not chosen
            for (const double changed : changes) {
                number = changed;
                const std::vector<double> after = sample.all();
                for (std::size_t n = 0; n < after.size(); ++n)
                    if (before[n] != after[n])
                        all.insert({static_cast<std::int64_t>(n), static_cast<std::int64_t>(input),
                                    static_cast<std::int64_t>(cell)});
            }
            number = own;
        }
    return all;
}

/// Checks that a sum, its factors and its steps are what they say they are.
void check_arithmetic(const Arithmetic& arithmetic, const std::vector<Operand>& in) {
    double sum = 0;
    for (const Term& term : arithmetic.terms) {
        double product = 1;
        for (const Factor& factor : term.factors) {
            product *= factor.value;
            if (factor.cell && factor.symbol.empty())
                CHECK(factor.value == in[factor.cell->input].at(factor.cell->at));
        }
        CHECK(term.value == product);
        sum += term.value;
    }
    CHECK(arithmetic.sum == sum);
    double number = sum;
    for (const ArithmeticStep& step : arithmetic.steps) {
        for (const Arithmetic& from : step.from) {
            check_arithmetic(from, in);
            CHECK(close(from.total, step.by.value));
        }
        if (step.by.cell && step.by.symbol.empty())
            CHECK(step.by.value == in[step.by.cell->input].at(step.by.cell->at));
        Arithmetic one;
        one.total = number;
        one.then(step.kind, step.by);
        CHECK(one.total == step.result);
        number = step.result;
    }
    CHECK(arithmetic.total == number);
}

} // namespace

TEST_CASE("the sample graphs have every operation", "[graph]") {
    std::set<Op> seen;
    for (const SampleGraph& sample : sample_graphs())
        for (const Node& node : sample.graph.nodes())
            seen.insert(node.op);
    for (int op = 0; op < op_count; ++op) {
        INFO(operation(static_cast<Op>(op)).name());
        CHECK(seen.contains(static_cast<Op>(op)));
    }
    std::set<std::string_view> names;
    for (int op = 0; op < op_count; ++op)
        CHECK(names.insert(operation(static_cast<Op>(op)).name()).second);
}

TEST_CASE("a cell changes exactly with the cells that it says it reads", "[graph][reads]") {
    // A number may have no effect in one run: below the threshold of relu, beyond a limit, with an expert
    // that is not chosen. So the union over several runs is compared.
    std::set<Op> compared;
    std::map<std::string, std::pair<Dependencies, Dependencies>> both;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        int place = 0;
        Numbers numbers(100 + seed);
        each_node(seed, [&](Sample sample, const std::vector<double>&) {
            compared.insert(sample.node.op);
            // A factor of 0, as masks make them, hides the other factor.
            for (std::size_t input = 0; input < sample.inputs.size(); ++input)
                if (!decides_reads(sample.node, input))
                    for (double& number : sample.inputs[input])
                        number = static_cast<double>(numbers.real());
            const Dependencies now = stated(sample), seen = observed(sample);
            if (sample.node.op == Op::embedding || sample.node.op == Op::expert_sum) {
                CHECK(now == seen); // for the numbers of this run
                return;
            }
            auto& [says, shows] = both[std::to_string(place++) + " " + sample.node.name];
            says.insert(now.begin(), now.end());
            shows.insert(seen.begin(), seen.end());
        });
    }
    for (const auto& [key, sets] : both) {
        INFO(key);
        CHECK(sets.first == sets.second);
    }
    CHECK(compared.size() == op_count - 3); // without leaves
}

TEST_CASE("the arithmetic of a cell adds up to the cell", "[graph]") {
    each_node(7, [](const Sample& sample, const std::vector<double>& numbers) {
        const std::vector<Operand> in = sample.operands();
        const Call call{sample.node.attributes, in, sample.node.axes};
        const Shape shape = sample.node.axes.shape();
        for (std::int64_t cell = 0; cell < shape.count(); ++cell) {
            const Arithmetic arithmetic = operation(sample.node.op).explain(call, shape.index(cell));
            check_arithmetic(arithmetic, in);
            CHECK(close(arithmetic.total, numbers[static_cast<std::size_t>(cell)]));
            CHECK(operation(sample.node.op).cell(call, shape.index(cell)) ==
                  numbers[static_cast<std::size_t>(cell)]);
        }
    });
}

TEST_CASE("an operation that says it is linear is the linear map that it states", "[graph]") {
    std::set<Op> linear;
    each_node(8, [&](Sample sample, const std::vector<double>& numbers) {
        const graph::Operation& op = operation(sample.node.op);
        const Shape shape = sample.node.axes.shape();
        const bool is_norm = sample.node.op == Op::rms_norm || sample.node.op == Op::layer_norm ||
                             sample.node.op == Op::head_norm || sample.node.op == Op::joint_norm;
        for (std::size_t input = 0; input < sample.inputs.size(); ++input) {
            const std::vector<Operand> in = sample.operands();
            const Call call{sample.node.attributes, in, sample.node.axes};
            if (!op.is_linear_in(call, input))
                continue;
            linear.insert(sample.node.op);
            std::vector<double> applied(numbers.size());
            for (std::int64_t cell = 0; cell < shape.count(); ++cell) {
                const Index at = shape.index(cell);
                std::set<std::int64_t> counted; // two spans may name the same cell
                for (const graph::ReadSpan& span : op.reads(call, at))
                    for (std::int64_t n = 0; span.source == input && n < span.count; ++n) {
                        Index from = span.first;
                        from[static_cast<std::size_t>(span.axis)] += n;
                        if (counted.insert(in[input].shape.offset(from)).second)
                            applied[static_cast<std::size_t>(cell)] +=
                                op.coefficient(call, at, input, from) * in[input].at(from);
                    }
            }
            // The rest does not depend on the input: a bias, or the other terms of a sum. The scale of a norm
            // is frozen, so that its input cannot simply be set to 0.
            std::vector<double> rest(numbers.size(), 0.0);
            if (is_norm && input == 0 && sample.node.inputs.size() == 3)
                for (std::size_t cell = 0; cell < rest.size(); ++cell)
                    rest[cell] = sample.inputs[2][cell % sample.inputs[2].size()];
            if (!is_norm || input > 0) {
                Sample without = sample;
                std::ranges::fill(without.inputs[input], 0.0);
                rest = without.all();
            }
            for (std::size_t cell = 0; cell < rest.size(); ++cell)
                CHECK(close(applied[cell] + rest[cell], numbers[cell]));
        }
    });
    const std::set<Op> expected{Op::embedding,
                                Op::linear,
                                Op::add,
                                Op::multiply,
                                Op::scale,
                                Op::slice,
                                Op::concat,
                                Op::rms_norm,
                                Op::layer_norm,
                                Op::match_magnitude,
                                Op::mix,
                                Op::split_heads,
                                Op::head_norm,
                                Op::joint_norm,
                                Op::rotate,
                                Op::dot_product,
                                Op::distance_bias,
                                Op::mean,
                                Op::value_sum,
                                Op::join_heads,
                                Op::head_projection,
                                Op::gate,
                                Op::expert_linear,
                                Op::expert_sum,
                                Op::causal_conv,
                                Op::delta_rule,
                                Op::token_scale,
                                Op::relative_product};
    CHECK(linear == expected);
}

} // namespace headscope::graph
