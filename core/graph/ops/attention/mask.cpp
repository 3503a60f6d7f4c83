#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <cstdlib>

namespace headscope::graph::ops {

namespace {

/// Inputs: scores (B, H, Tq, Tk), then those that the attributes name, in their order: numbers to add, and
/// flags of allowed pairs, both with axes among those of the scores. Scores of keys that a query must not
/// attend to become minus infinity (Vaswani et al. 2017, section 3.2.3).
class MaskOperation final : public Operation {
public:
    std::string_view name() const override { return "mask"; }
    Page page(Step) const override { return Page::maps; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        for (std::size_t input = 1; input < call.in.size(); ++input)
            expect(call, input, can_repeat(call.axes_of(input), call.axes_of(0)), call.axes_of(0).text());
        return call.axes_of(0);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        if (!is_in_reach(call, at))
            return {};
        std::vector<ReadSpan> spans{one_cell(0, at)};
        for (std::size_t input = 1; input < call.in.size(); ++input)
            spans.push_back(one_cell(input, mask_cell(call, input, at)));
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        const auto& mask = call.as<Mask>();
        const std::string score = mask.adds ? names.in[0] + " + " + names.in[1] : names.in[0];
        if (!mask.limits_positions() && !mask.allows)
            return names.out + " = " + score;
        return tr("graph.where_allowed", "{} = {} where allowed, else −∞", names.out, score);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        if (!is_allowed(call, at))
            arithmetic.then(StepKind::excluded);
        else if (call.as<Mask>().adds)
            arithmetic.then(StepKind::plus, factor(call, 1, mask_cell(call, 1, at)));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& mask = call.as<Mask>();
        const auto repeated = [&](std::size_t input) {
            return names.in[input] + python_repeated(call.axes_of(input), call.axes);
        };
        std::vector<std::string> rules = python_distances(mask);
        std::string lines;
        if (!rules.empty()) {
            const std::string &Tq = call.axes[2].name, &Tk = call.axes[3].name;
            const std::string aligned =
                call.axes.size(2) == call.axes.size(3)
                    ? "\n"
                    : " + (" + Tk + " - " + Tq + ")  # queries and keys end together\n";
            lines = "# Query i may attend to key j where " + joined(rules, {}, " and ") +
                    ". (PyTorch's own masks are True where it may not.)\n" + "i = torch.arange(" + Tq +
                    ").reshape(-1, 1)" + aligned + "j = torch.arange(" + Tk + ")\n";
        }
        for (std::string& rule : rules)
            rule = "(" + rule + ")";
        for (std::size_t input = mask.adds ? 2 : 1; input < call.in.size(); ++input)
            rules.push_back(repeated(input));
        const std::string sum = mask.adds ? names.in[0] + " + " + repeated(1) : names.in[0];
        if (rules.empty())
            return names.out + " = " + sum + "\n";
        const std::string allowed = rules.size() == 1 ? rules[0] : "(" + joined(rules, {}, " & ") + ")";
        return lines + names.out + " = " + (mask.adds ? "(" + sum + ")" : sum) + ".masked_fill(~" + allowed +
               ", -math.inf)\n";
    }

    double cell(const Call& call, const Index& at) const override {
        if (!is_allowed(call, at))
            return minus_infinity;
        return call.in[0].at(at) + (call.as<Mask>().adds ? call.in[1].at(mask_cell(call, 1, at)) : 0.0);
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override { return call.as<Mask>().adds ? 1 : 0; }

private:
    /// Comparisons of query i and key j that hold where their distance is allowed.
    static std::vector<std::string> python_distances(const Mask& mask) {
        const auto shifted = [](const char* sign, std::int64_t by) {
            return by == 0 ? "i" : "i" + std::string(sign) + std::to_string(by);
        };
        std::vector<std::string> rules;
        if (mask.before && mask.after && *mask.before == *mask.after) {
            rules.push_back("(i - j).abs() <= " + std::to_string(*mask.after));
        } else {
            if (mask.after)
                rules.push_back("j <= " + shifted(" + ", *mask.after));
            if (mask.before)
                rules.push_back("j >= " + shifted(" - ", *mask.before));
        }
        if (mask.chunk) {
            const std::string size = std::to_string(*mask.chunk);
            rules.push_back("i // " + size + " == j // " + size);
        }
        return rules;
    }
    static std::int64_t chunk_of(std::int64_t position, std::int64_t size) {
        return (position < 0 ? position - size + 1 : position) / size;
    }
    static bool is_in_reach(const Call& call, const Index& at) {
        const auto& mask = call.as<Mask>();
        const std::int64_t position = at[2] + call.axes.size(3) - call.axes.size(2);
        return (!mask.before || at[3] >= position - *mask.before) &&
               (!mask.after || at[3] <= position + *mask.after) &&
               (!mask.chunk || chunk_of(at[3], *mask.chunk) == chunk_of(position, *mask.chunk));
    }
    static bool is_allowed(const Call& call, const Index& at) {
        bool allowed = is_in_reach(call, at);
        for (std::size_t input = call.as<Mask>().adds ? 2 : 1; input < call.in.size(); ++input)
            allowed = allowed && call.in[input].at(mask_cell(call, input, at)) != 0;
        return allowed;
    }
    static Index mask_cell(const Call& call, std::size_t input, const Index& at) {
        return repeated_cell(call.axes_of(input), call.axes, at);
    }
};

} // namespace

const Operation& mask() {
    static const MaskOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
