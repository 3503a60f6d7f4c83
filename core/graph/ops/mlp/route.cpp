#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace headscope::graph::ops {

namespace {

/// Inputs: the numbers of the router, (B, T, experts), and perhaps a bias of the choice, (experts). The
/// fractions of the `used` experts with the largest numbers (of equal ones, the first); 0 for the others
/// (Shazeer et al. 2017, "Outrageously Large Neural Networks"; Fedus et al. 2022, "Switch Transformers"). For
/// groups and the bias see Route.
class RouteOperation final : public RowOperation {
public:
    std::string_view name() const override { return "route"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const auto& route = call.as<Route>();
        const Axes& x = call.axes_of(0);
        expect(call, 0, x.rank() >= 1 && x.back(0).size >= route.used && route.used >= 1,
               "≥ " + std::to_string(route.used));
        expect(call, 0,
               route.groups >= 1 && x.back(0).size % route.groups == 0 && route.used_groups <= route.groups &&
                   route.best_of_group <= x.back(0).size / route.groups &&
                   route.used <= x.back(0).size / route.groups * route.used_groups,
               std::to_string(route.groups) + " × n");
        if (call.has(1) || route.groups > 1)
            expect(call, 0, route.score != Route::Score::softmax_of_chosen, "scores of all experts");
        if (call.has(1))
            expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).back(0).size == x.back(0).size,
                   std::to_string(x.back(0).size));
        return x;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> reads{row_of(call, 0, at)};
        if (call.has(1))
            reads.push_back({1, {}, 0, call.axes_of(1).back(0).size});
        return reads;
    }

    std::string formula(const Call& call, const Names& names) const override {
        const auto& route = call.as<Route>();
        std::string text = fractions(route, names);
        if (route.groups > 1)
            text += "; " + tr("graph.route_groups", "only experts of the {} best of {} groups are chosen",
                              route.used_groups, route.groups);
        if (call.has(1))
            text += "; " + tr("graph.route_choice_bias", "{} is added for the choice alone", names.in[1]);
        return text;
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const std::vector<double> x = numbers(call, at);
        const std::vector<bool> chosen = choice(call, x);
        const auto expert = static_cast<std::size_t>(column(at, call.axes.rank()));
        if (!chosen[expert])
            return {};
        const auto& route = call.as<Route>();
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        double own = 0;
        if (route.score == Route::Score::sigmoid) {
            own = score(call, x, chosen, expert);
            arithmetic.then_function("sigmoid", own);
        } else {
            const double largest = std::ranges::max(x);
            Arithmetic sum;
            for (std::size_t e = 0; e < x.size(); ++e) {
                if (route.score == Route::Score::softmax_of_chosen && !chosen[e])
                    continue;
                Factor power = factor(call, 0, cell_of(call, at, e));
                power.value = std::exp(power.value - largest);
                power.symbol = "exp";
                sum.add_term({power});
            }
            arithmetic.then(StepKind::minus, number(largest, "max"));
            arithmetic.then(StepKind::exponential);
            arithmetic.then(StepKind::divided_by, number(sum.total), {sum});
        }
        if (route.sum_to_one) {
            Arithmetic sum;
            for (std::size_t e = 0; e < x.size(); ++e)
                if (chosen[e])
                    sum.add_term({{.value = score(call, x, chosen, e),
                                   .cell = Cell{0, cell_of(call, at, e)},
                                   .symbol = "p"}});
            arithmetic.then(StepKind::divided_by, number(sum.total), {sum});
        }
        if (route.factor != 1)
            arithmetic.then(StepKind::times, number(route.factor));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& route = call.as<Route>();
        const std::string &x = names.in[0], used = std::to_string(route.used);
        std::string lines;
        if (route.score == Route::Score::softmax_of_chosen) {
            lines = "chosen_logits, chosen = " + x + ".topk(" + used +
                    ", dim=-1)\nfractions = torch.softmax(chosen_logits, dim=-1)\n";
        } else {
            lines =
                (route.score == Route::Score::softmax ? "expert_scores = torch.softmax(" + x + ", dim=-1)\n"
                                                      : "expert_scores = torch.sigmoid(" + x + ")\n") +
                "choice = expert_scores" + (call.has(1) ? " + " + names.in[1] : "") + "\n" +
                python_groups(route) + "chosen = choice.topk(" + used +
                ", dim=-1).indices\nfractions = expert_scores.gather(-1, chosen)\n";
        }
        if (route.sum_to_one)
            lines += "fractions = fractions / fractions.sum(dim=-1, keepdim=True)\n";
        if (route.factor != 1)
            lines += "fractions = fractions * " + number_text(route.factor) + "\n";
        return "# The experts of each token, and the fractions of their outputs; 0 for experts that were not "
               "chosen.\n" +
               lines + names.out + " = torch.zeros_like(" + x + ").scatter(-1, chosen, fractions)\n";
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const auto& route = call.as<Route>();
        const std::vector<double> x = numbers(call, at);
        const std::vector<bool> chosen = choice(call, x);
        double sum = 0;
        for (std::size_t e = 0; e < out.size(); ++e) {
            out[e] = chosen[e] ? score(call, x, chosen, e) : 0.0;
            sum += out[e];
        }
        for (double& fraction : out)
            fraction = fraction / (route.sum_to_one ? sum : 1.0) * route.factor;
    }
    double multiply_adds_per_cell(const Call&) const override { return 10; } // an exponential, about

private:
    static std::string fractions(const Route& route, const Names& names) {
        switch (route.score) {
        case Route::Score::softmax_of_chosen:
            return tr("graph.route_softmax_of_chosen",
                      "{} = softmax over the {} largest of {}; 0 for the others", names.out, route.used,
                      names.in[0]);
        case Route::Score::softmax:
            return tr("graph.route_softmax", "{} = the {} largest of softmax({}); 0 for the others",
                      names.out, route.used, names.in[0]);
        case Route::Score::sigmoid:
            return tr("graph.route_sigmoid", "{} = the {} largest of sigmoid({}); 0 for the others",
                      names.out, route.used, names.in[0]);
        }
        return {};
    }
    /// Lines that set `choice` to 0 outside the groups that are used.
    static std::string python_groups(const Route& route) {
        if (route.groups == 1)
            return "";
        return "# Only experts of the best groups can be chosen.\ngroups = choice.unflatten(-1, (" +
               std::to_string(route.groups) + ", -1))\nbest = groups.topk(" +
               std::to_string(route.best_of_group) + ", dim=-1).values.sum(dim=-1).topk(" +
               std::to_string(route.used_groups) +
               ", dim=-1).indices\nchoice = (groups * torch.zeros_like(groups[..., 0]).scatter(-1, best, "
               "1.0).unsqueeze(-1)).flatten(-2)\n";
    }
    static Index cell_of(const Call& call, const Index& at, std::size_t expert) {
        return with(at, call.axes.rank() - 1, static_cast<std::int64_t>(expert));
    }
    static std::vector<double> numbers(const Call& call, const Index& at) {
        std::vector<double> x(static_cast<std::size_t>(call.axes.back(0).size));
        for (std::size_t e = 0; e < x.size(); ++e)
            x[e] = call.in[0].at(cell_of(call, at, e));
        return x;
    }
    /// The places of the `count` largest numbers, of equal ones the first.
    static std::vector<bool> largest(const std::vector<double>& x, std::int64_t count) {
        std::vector<std::size_t> order(x.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t e) { return x[e]; });
        std::vector<bool> chosen(x.size());
        for (std::size_t place = 0; place < static_cast<std::size_t>(count); ++place)
            chosen[order[place]] = true;
        return chosen;
    }
    static std::vector<bool> choice(const Call& call, const std::vector<double>& x) {
        const auto& route = call.as<Route>();
        if (route.groups == 1 && !call.has(1))
            return largest(x, route.used);
        std::vector<double> numbers(x.size());
        for (std::size_t e = 0; e < x.size(); ++e)
            numbers[e] = score(call, x, {}, e) +
                         (call.has(1) ? call.in[1].at(with({}, 0, static_cast<std::int64_t>(e))) : 0);
        const std::size_t size = x.size() / static_cast<std::size_t>(route.groups);
        std::vector<double> of_group(static_cast<std::size_t>(route.groups));
        for (std::size_t group = 0; group < of_group.size(); ++group) {
            const std::vector<double> members(numbers.begin() + static_cast<std::ptrdiff_t>(group * size),
                                              numbers.begin() +
                                                  static_cast<std::ptrdiff_t>((group + 1) * size));
            const std::vector<bool> best = largest(members, route.best_of_group);
            for (std::size_t member = 0; member < size; ++member)
                of_group[group] += best[member] ? members[member] : 0;
        }
        const std::vector<bool> used = largest(of_group, route.used_groups);
        for (std::size_t e = 0; e < x.size(); ++e)
            if (!used[e / size])
                numbers[e] = 0;
        return largest(numbers, route.used);
    }
    /// The score of an expert before the fractions are divided by their sum.
    static double score(const Call& call, const std::vector<double>& x, const std::vector<bool>& chosen,
                        std::size_t expert) {
        const Route::Score kind = call.as<Route>().score;
        if (kind == Route::Score::sigmoid)
            return 1.0 / (1.0 + std::exp(-x[expert]));
        const double largest = std::ranges::max(x);
        double sum = 0;
        for (std::size_t e = 0; e < x.size(); ++e)
            if (kind == Route::Score::softmax || chosen[e])
                sum += std::exp(x[e] - largest);
        return std::exp(x[expert] - largest) / sum;
    }
};

} // namespace

const Operation& route() {
    static const RouteOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
