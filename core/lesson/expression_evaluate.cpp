#include "core/analysis/heads/head_metrics.h"
#include "core/attention/cost.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/additional_passes.h"
#include "core/lesson/check.h"
#include "core/lesson/expression_node.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace headscope::lesson {

namespace {

using Kind = Expression::Node::Kind;

class Evaluation {
public:
    explicit Evaluation(const LessonState& state) : state_(state) {}

    LessonValue value(const Expression::Node& node) const {
        return node.layer ? Evaluation(of_layer(*node.layer)).here(node) : here(node);
    }

private:
    LessonValue here(const Expression::Node& node) const {
        switch (node.kind) {
        case Kind::number:
            return node.number;
        case Kind::text:
            return node.text;
        case Kind::name:
            return name(node.text);
        case Kind::cells:
            return single(node);
        case Kind::call:
            return call(node);
        case Kind::unary: {
            const double inner = number(*node.arguments[0]);
            return node.text == "-" ? -inner : inner == 0 ? 1.0 : 0.0;
        }
        case Kind::binary:
            return binary(node);
        }
        return 0.0;
    }

    /// The state for another layer of the checkpoint.
    LessonState of_layer(std::int64_t l) const {
        if (state_.model == nullptr)
            fail_input(tr("expression_evaluate.layers_read_l_model",
                          "L{}. reads a layer of a model, and no model is on screen; open one", l));
        const checkpoint::LayerRun& layer = lesson::layer_of(*state_.model, l);
        return {.problem = *layer.problem,
                .trace = layer.trace,
                .stage = state_.stage,
                .row = state_.row,
                .head = state_.head,
                .done = state_.done,
                .selected = state_.selected,
                .edited = state_.edited,
                .text_changed = state_.text_changed,
                .model = state_.model,
                .layer = l,
                .screen = state_.screen,
                .patched = state_.patched,
                .patch = state_.patch};
    }

    /// The state for the same layer in the pass over the second prompt.
    LessonState of_corrupted() const {
        if (state_.model == nullptr)
            fail_input(tr("expression_evaluate.corrupted_reads",
                          "corrupted reads a model's second prompt, and no model is on screen"));
        return of_pass(state_.model->additional->corrupted());
    }

    /// The state for the same layer in the pass without gains and edits.
    LessonState of_before() const {
        if (state_.model == nullptr)
            fail_input(
                tr("expression_evaluate.before_reads_model",
                   "before reads a model without its head gains and edits, and no model is on screen"));
        return of_pass(state_.model->edits.empty() ? *state_.model : state_.model->additional->before());
    }

    LessonState of_pass(const LessonModel& pass) const {
        const checkpoint::LayerRun& layer = lesson::layer_of(pass, state_.layer);
        return {.problem = *layer.problem, .trace = layer.trace, .model = &pass, .layer = state_.layer};
    }

    /// A bare name, which is treated as a word, as in probability(Mary).
    static bool is_bare(const Expression::Node& argument) {
        return argument.kind == Kind::name ||
               (argument.kind == Kind::cells && argument.target.indices.empty());
    }
    /// before(drum) and before(1) are probabilities of tokens; for any other argument, before evaluates it.
    static bool is_token(const Expression::Node& argument) {
        return is_bare(argument) || argument.kind == Kind::text || argument.kind == Kind::number;
    }

    double number(const Expression::Node& node) const {
        const LessonValue found = value(node);
        if (const auto* number = std::get_if<double>(&found))
            return *number;
        fail_input(tr("expression_evaluate.stands_number_needed", "\"{}\" is used where a number is needed",
                      std::get<std::string>(found)));
    }

    LessonValue single(const Expression::Node& node) const {
        const std::vector<float> values = cells(node);
        if (values.size() != 1)
            fail_input(tr("expression_evaluate.numbers_name_one",
                          "{} is {} numbers; name one cell, or use sum, mean, max, min or norm",
                          target_text(node.target), values.size()));
        return static_cast<double>(values.front());
    }

    std::vector<float> cells(const Target& target) const {
        return values_of(resolve(target, state_.problem), state_.problem, state_.trace);
    }

    /// Cells of another layer, or around the attention, are in the checkpoint's run.
    std::vector<float> cells(const Expression::Node& node) const {
        const bool around = find_block_stage(tensor_info(node.target.tensor).name).has_value();
        if (!node.layer && !around)
            return cells(node.target);
        const LessonState state = of_layer(node.layer.value_or(state_.layer));
        const CellRange place = resolve(node.target, state.problem);
        const Tensor* const tensor = tensor_of(*state.model, state.layer, place.tensor);
        if (tensor == nullptr)
            fail_input(tr("common.model_no", "this model has no {}", tensor_info(place.tensor).name));
        return values_of(place, *tensor);
    }

    LessonValue name(const std::string& name) const {
        const Dims& d = state_.problem.dims;
        const auto whole = [](std::int64_t n) { return static_cast<double>(n); };
        if (name == "stage")
            return std::string(state_.stage);
        if (name == "screen" || name == "patched")
            return std::string(name == "screen" ? state_.screen : state_.patched);
        const Cost cost = cost_of(d, state_.problem.weights.b_Q != nullptr, state_.problem.latent);
        const std::map<std::string_view, double> numbers{
            {"B", whole(d.B)},
            {"T", whole(d.Tq)},
            {"Tq", whole(d.Tq)},
            {"Tk", whole(d.Tk)},
            {"D", whole(d.D)},
            {"H", whole(d.H)},
            {"Hkv", whole(d.Hkv)},
            {"dk", whole(d.dk)},
            {"dv", whole(d.dv)},
            {"parameters", whole(cost.parameters)},
            {"flops", whole(cost.flops())},
            {"projection_flops", whole(cost.projection_flops)},
            {"attention_flops", whole(cost.attention_flops)},
            {"weights_bytes", whole(cost.weights_bytes)},
            {"kv_cache_bytes", whole(cost.kv_cache_bytes)},
            {"temperature", static_cast<double>(state_.problem.temperature)},
            {"row", whole(state_.row)},
            {"head", whole(state_.head)},
            {"layer", whole(state_.layer)},
            {"patch_row", whole(state_.patch[0])},
            {"patch_column", whole(state_.patch[1])},
            {"edited", state_.edited ? 1.0 : 0.0},
            {"retyped", state_.text_changed ? 1.0 : 0.0}};
        const auto found = numbers.find(name);
        if (found == numbers.end())
            fail_input(tr("expression_evaluate.no_value", "there is no value \"{}\"", name));
        return found->second;
    }

    LessonValue binary(const Expression::Node& node) const {
        const std::string& sign = node.text;
        if (sign == "and" || sign == "or") {
            const bool left = number(*node.arguments[0]) != 0;
            const bool both = sign == "and";
            return left != both ? (left ? 1.0 : 0.0) : (number(*node.arguments[1]) != 0 ? 1.0 : 0.0);
        }
        const LessonValue a = value(*node.arguments[0]), b = value(*node.arguments[1]);
        if (sign == "=" || sign == "!=")
            return (a == b) == (sign == "=") ? 1.0 : 0.0;
        const auto* x = std::get_if<double>(&a);
        const auto* y = std::get_if<double>(&b);
        if (x == nullptr || y == nullptr)
            fail_input(tr("expression_evaluate.stands_between_words",
                          "\"{}\" is between words; it needs numbers", sign));
        static const std::map<std::string_view, std::function<double(double, double)>> operations{
            {"+", std::plus<>()},
            {"-", std::minus<>()},
            {"*", std::multiplies<>()},
            {"/", std::divides<>()},
            {"^", [](double p, double q) { return std::pow(p, q); }},
            {"<", std::less<>()},
            {">", std::greater<>()},
            {"<=", std::less_equal<>()},
            {">=", std::greater_equal<>()}};
        return operations.at(sign)(*x, *y);
    }

    std::int64_t head(const Expression::Node& call, std::size_t argument) const {
        const double h = number(*call.arguments[argument]);
        const std::int64_t H = state_.problem.dims.H;
        if (h != std::floor(h) || h < 0 || h >= static_cast<double>(H))
            fail_input(tr("expression_evaluate.names_head_not_heads",
                          "{} names a head that does not exist; heads are numbered 0 to {}", call.text,
                          H - 1));
        return static_cast<std::int64_t>(h);
    }

    const Expression::Node& target(const Expression::Node& call, std::size_t argument) const {
        const Expression::Node& node = *call.arguments[argument];
        if (node.kind == Kind::name && !find_tensor(node.text))
            fail_input(tr("common.no_tensor", "there is no tensor \"{}\"", node.text));
        if (node.kind != Kind::cells)
            fail_input(tr("expression_evaluate.needs_cells_such", "{} needs cells, such as weights[0][1, :]",
                          call.text));
        return node;
    }

    const Tensor& weights() const {
        const Tensor* A = state_.trace.stage(TensorId::weights);
        if (A == nullptr)
            fail_input(tr("expression_evaluate.problem_no_weights", "this problem has no weights"));
        return *A;
    }

    std::span<const float> weights_of(std::int64_t h) const {
        const Dims& d = state_.problem.dims;
        return weights().values().subspan(static_cast<std::size_t>(h * d.Tq * d.Tk),
                                          static_cast<std::size_t>(d.Tq * d.Tk));
    }

    LessonValue top(const Expression::Node& node) const {
        const Target& row = node.target;
        const CellRange place = resolve(row, state_.problem);
        const std::vector<float> values = cells(node);
        const auto best = std::ranges::max_element(values) - values.begin();
        const int last = tensor_info(row.tensor).rank() - 1;
        const auto axis = static_cast<std::size_t>(last);
        if (place.size() != place.count[axis])
            fail_input(
                tr("expression_evaluate.top_needs_one_row", "top needs one row, such as weights[0][1, :]"));
        const std::int64_t at = place.first[axis] + best;
        return tensor_info(row.tensor).axes[axis] == Axis::Tk ? state_.problem.key_label(at)
                                                              : std::to_string(at);
    }

    /// A score of the table of head metrics.
    double score(const analysis::HeadScoreInfo& info, std::int64_t h) const {
        const auto all = analysis::head_metrics(state_.problem, state_.trace, 0);
        return static_cast<double>(all[static_cast<std::size_t>(h)][info.score]);
    }

    double entropy_of_row(const Expression::Node& call) const {
        const std::int64_t h = head(call, 0);
        const Expression::Node& which = *call.arguments[1];
        TargetIndex index{.kind = TargetIndex::Kind::number, .first = 0, .end = 1, .word = {}};
        if (which.kind == Kind::name || which.kind == Kind::text)
            index = {.kind = TargetIndex::Kind::word, .first = 0, .end = 0, .word = which.text};
        else
            index.first = static_cast<std::int64_t>(number(which)), index.end = index.first + 1;
        const TargetIndex this_head{.kind = TargetIndex::Kind::number, .first = h, .end = h + 1, .word = {}};
        const std::vector<float> row = cells({.tensor = TensorId::weights, .indices = {this_head, index}});
        return analysis::entropy_of(row);
    }

    /// Mean over the rows of half the sum of |difference|: 0 for equal weights, 1 for disjoint ones.
    double distance(std::int64_t a, std::int64_t b) const {
        const std::span<const float> first = weights_of(a), second = weights_of(b);
        const double total = std::transform_reduce(
            first.begin(), first.end(), second.begin(), 0.0, std::plus<>(),
            [](float p, float q) { return std::abs(static_cast<double>(p) - static_cast<double>(q)); });
        return total / 2 / static_cast<double>(state_.problem.dims.Tq);
    }

    LessonValue call(const Expression::Node& node) const {
        const std::string& name = node.text;
        const std::size_t given = node.arguments.size();
        const auto need = [&](std::size_t low, std::size_t high) {
            if (given < low || given > high)
                fail_input(high > low
                               ? tr("common.given_arguments_takes",
                                    "{} was given {} arguments and takes {} or {}", name, given, low, high)
                               : tr("common.given_arguments_takes_2",
                                    "{} was given {} arguments and takes {}", name, given, low));
        };
        static const std::map<std::string_view, std::function<double(std::span<const float>)>> reductions{
            {"sum", [](auto v) { return std::accumulate(v.begin(), v.end(), 0.0); }},
            {"mean",
             [](auto v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); }},
            {"max", [](auto v) { return static_cast<double>(*std::ranges::max_element(v)); }},
            {"min", [](auto v) { return static_cast<double>(*std::ranges::min_element(v)); }},
            {"count", [](auto v) { return static_cast<double>(v.size()); }},
            {"norm",
             [](auto v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }}};
        static const std::map<std::string_view, double (*)(double)> functions{
            {"sqrt", [](double v) { return std::sqrt(v); }},
            {"exp", [](double v) { return std::exp(v); }},
            {"ln", [](double v) { return std::log(v); }},
            {"abs", [](double v) { return std::abs(v); }},
            {"round", [](double v) { return std::round(v); }}};
        if (const auto found = reductions.find(name); found != reductions.end()) {
            need(1, 1);
            return found->second(cells(target(node, 0)));
        }
        if (const auto found = functions.find(name); found != functions.end()) {
            need(1, 1);
            return found->second(number(*node.arguments[0]));
        }
        if (name == "top") {
            need(1, 1);
            return top(target(node, 0));
        }
        if (name == "entropy" && given == 2)
            return entropy_of_row(node);
        if (name == "distance" && given == 2)
            return distance(head(node, 0), head(node, 1));
        if (const analysis::HeadScoreInfo* const info = analysis::find_head_score(name);
            info != nullptr && analysis::is_of_one_run(*info)) {
            need(1, name == "entropy" ? 2 : 1);
            return score(*info, head(node, 0));
        }
        if (name == "gain") {
            need(1, 1);
            return static_cast<double>(state_.problem.gain(head(node, 0)));
        }
        if (name == "distance")
            need(2, 2);
        if (name == "difference") {
            need(2, 2);
            return difference(target(node, 0), target(node, 1));
        }
        if (name == "selected") {
            need(1, 1);
            return holds(resolve(target(node, 0).target, state_.problem), state_.selected) ? 1.0 : 0.0;
        }
        if (name == "done") {
            need(1, 1);
            const LessonValue what = value(*node.arguments[0]);
            const auto* words = std::get_if<std::string>(&what);
            if (words == nullptr)
                fail_input(tr("expression_evaluate.done_needs_text_such",
                              "done needs a text, such as done(\"quiz 1\")"));
            return state_.done.contains(*words) ? 1.0 : 0.0;
        }
        if (name == "corrupted") {
            need(1, 1);
            return Evaluation(of_corrupted()).value(*node.arguments[0]);
        }
        if (name == "own") {
            need(1, 1);
            return state_.page_numbers == nullptr ? value(*node.arguments[0])
                                                  : Evaluation(page_state(state_)).value(*node.arguments[0]);
        }
        if (name == "before" && given == 1 && !is_token(*node.arguments[0]))
            return Evaluation(of_before()).value(*node.arguments[0]);
        std::vector<LessonValue> arguments;
        for (const auto& argument : node.arguments)
            arguments.push_back(is_bare(*argument) ? LessonValue(argument->text) : value(*argument));
        if (const auto found = model_function(name, arguments, state_))
            return *found;
        fail_input(tr("expression_evaluate.no_function", "there is no function \"{}\"", name));
    }

    static bool holds(const CellRange& cells, const std::optional<CellRange>& cell) {
        if (!cell || cell->tensor != cells.tensor)
            return false;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor_info(cells.tensor).rank()); ++axis)
            if (cell->first[axis] < cells.first[axis] ||
                cell->first[axis] >= cells.first[axis] + cells.count[axis])
                return false;
        return true;
    }

    double difference(const Expression::Node& a, const Expression::Node& b) const {
        const std::vector<float> first = cells(a), second = cells(b);
        if (first.size() != second.size())
            fail_input(tr("expression_evaluate.difference_compares",
                          "difference compares {} with {} numbers and {} with {}; they need the same number",
                          target_text(a.target), first.size(), target_text(b.target), second.size()));
        return std::transform_reduce(
            first.begin(), first.end(), second.begin(), 0.0,
            [](double p, double q) { return std::max(p, q); },
            [](float p, float q) { return std::abs(static_cast<double>(p) - static_cast<double>(q)); });
    }

    const LessonState& state_;
};

} // namespace

std::vector<Expression::Comparison> Expression::false_comparisons(const LessonState& state) const {
    std::vector<Comparison> found;
    const std::function<void(const Node&)> look = [&](const Node& node) {
        if (node.kind != Kind::binary || evaluate(node, state) != LessonValue(0.0))
            return;
        if (node.text == "and" || node.text == "or") {
            for (const auto& operand : node.arguments)
                look(*operand);
        } else {
            found.push_back(
                {evaluate(*node.arguments[0], state), node.text, evaluate(*node.arguments[1], state)});
        }
    };
    look(*root_);
    return found;
}

LessonValue evaluate(const Expression::Node& node, const LessonState& state) {
    return Evaluation(state).value(node);
}

} // namespace headscope::lesson
