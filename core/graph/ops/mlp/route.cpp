#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace headscope::graph::ops {

namespace {

/// Input: the numbers of the router, (B, T, experts). The fractions of the `used` experts with the largest
/// numbers (of equal ones, the first); 0 for the others (Shazeer et al. 2017, "Outrageously Large Neural
/// Networks"; Fedus et al. 2022, "Switch Transformers").
class RouteOperation final : public RowOperation {
public:
    std::string_view name() const override { return "route"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const auto& route = call.as<Route>();
        const Axes& x = call.axes_of(0);
        expect(call, 0, x.rank() >= 1 && x.back(0).size >= route.used && route.used >= 1,
               "≥ " + std::to_string(route.used));
        return x;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {row_of(call, 0, at)};
    }

    std::string formula(const Call& call, const Names& names) const override {
        const auto& route = call.as<Route>();
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

    Arithmetic explain(const Call& call, const Index& at) const override {
        const std::vector<double> x = numbers(call, at);
        const std::vector<bool> chosen = choice(x, call.as<Route>().used);
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
        switch (route.score) {
        case Route::Score::softmax_of_chosen:
            lines = "values, chosen = " + x + ".topk(" + used +
                    ", dim=-1)\nvalues = torch.softmax(values, dim=-1)\n";
            break;
        case Route::Score::softmax:
            lines = "values, chosen = torch.softmax(" + x + ", dim=-1).topk(" + used + ", dim=-1)\n";
            break;
        case Route::Score::sigmoid:
            lines = "values, chosen = torch.sigmoid(" + x + ").topk(" + used + ", dim=-1)\n";
            break;
        }
        if (route.sum_to_one)
            lines += "values = values / values.sum(dim=-1, keepdim=True)\n";
        if (route.factor != 1)
            lines += "values = values * " + number_text(route.factor) + "\n";
        return lines + names.out + " = torch.zeros_like(" + x + ").scatter(-1, chosen, values)\n";
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const auto& route = call.as<Route>();
        const std::vector<double> x = numbers(call, at);
        const std::vector<bool> chosen = choice(x, route.used);
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
    static Index cell_of(const Call& call, const Index& at, std::size_t expert) {
        return with(at, call.axes.rank() - 1, static_cast<std::int64_t>(expert));
    }
    static std::vector<double> numbers(const Call& call, const Index& at) {
        std::vector<double> x(static_cast<std::size_t>(call.axes.back(0).size));
        for (std::size_t e = 0; e < x.size(); ++e)
            x[e] = call.in[0].at(cell_of(call, at, e));
        return x;
    }
    static std::vector<bool> choice(const std::vector<double>& x, std::int64_t used) {
        std::vector<std::size_t> order(x.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t e) { return x[e]; });
        std::vector<bool> chosen(x.size());
        for (std::size_t place = 0; place < static_cast<std::size_t>(used); ++place)
            chosen[order[place]] = true;
        return chosen;
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
