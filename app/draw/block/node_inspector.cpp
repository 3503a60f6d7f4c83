#include "app/draw/block/node_inspector.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/inspector/inspector_words.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/terms.h"
#include "core/base/message.h"
#include "core/graph/operation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace headscope::app {

namespace {

using checkpoint::RunPart;
using graph::Arithmetic;
using graph::ArithmeticStep;
using graph::NodeId;
using graph::StepKind;

constexpr int decimals = 4;

/// Four decimals, but counts have none and an ε as many as it needs.
std::string text_of(double value) {
    constexpr double least = 0.5e-4;
    if (std::abs(value) >= 10 && value == std::round(value))
        return grouped(static_cast<std::int64_t>(value));
    return value != 0 && std::abs(value) < least ? fmt::format("{:.3g}", value) : number(value, decimals);
}

/// "q_conv" for "delta.q_conv", but "predicted.2" for "altup.predicted.2"
std::string short_name(std::string_view name) {
    std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos && dot > 0 &&
        name.find_first_not_of("0123456789", dot + 1) == name.npos)
        dot = name.rfind('.', dot - 1);
    return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

/// A cell between stages.
struct InnerCell {
    NodeId node = -1;
    Index at{};
    bool operator==(const InnerCell&) const = default;
};

/// Writes the arithmetic of the cells of one part of a run.
class NodeSheet {
public:
    explicit NodeSheet(Sheet& sheet)
        : sheet_(sheet), shown_(sheet.context.shown), part_(*shown_.block), graph_(part_.graph()) {}

    void write(NodeId id, const Index& at) {
        write_heading(id);
        const Arithmetic arithmetic = part_.explain(id, at);
        write_terms(id, arithmetic, address(name_of_node(id), graph_.node(id).axes, at));
        write_steps(arithmetic);
        const std::vector<InnerCell> cells = inner_cells(id, arithmetic);
        for (const InnerCell& cell : cells)
            write(cell.node, cell.at);
        for (const graph::Reading& input : graph_.node(id).inputs)
            if (is_inner(input.node) && std::ranges::find(cells, input.node, &InnerCell::node) == cells.end())
                remember(input.node);
    }

    /// Writes the formulas of the nodes of which many cells were read, back to stages, parameters and what
    /// enters the layer.
    void write_formulas() {
        if (unwritten_.empty())
            return;
        sheet_.section(tr("common.comes", "Comes from"));
        for (std::size_t next = 0; next < unwritten_.size(); ++next) {
            const NodeId id = unwritten_[next];
            sheet_.paragraph(name_of_node(id) + " = " + right_side(id), sheet_.context.theme.text);
            for (const graph::Reading& input : graph_.node(id).inputs)
                if (is_inner(input.node))
                    remember(input.node);
        }
    }

private:
    /// Returns true for nodes of this part that have no page.
    bool is_inner(NodeId id) const {
        return !graph::is_leaf(graph_.node(id).op) && !part_.stage_of(id) && id > first_;
    }
    void remember(NodeId id) {
        if (std::ranges::find(unwritten_, id) == unwritten_.end())
            unwritten_.push_back(id);
    }

    std::string name_of_node(NodeId id) const {
        const auto stage = part_.stage_of(id);
        return stage ? name_of(*stage) : short_name(graph_.node(id).local_name());
    }
    std::string name_of_input(const graph::Reading& input) const {
        return part_.stage_of(input.node) ? name_of_node(input.node) : short_name(input.name);
    }

    /// The name of a node, and its formula beside it, or below if that is too long.
    void write_heading(NodeId id) {
        const std::string formula = right_side(id);
        if (sheet_.context.measure(formula, figure::Font::mono, Sheet::text_size) <= sheet_.width())
            return sheet_.section(name_of_node(id), formula);
        sheet_.section(name_of_node(id));
        sheet_.paragraph(formula, sheet_.context.theme.muted);
    }

    /// The formula of a node behind its "=".
    std::string right_side(NodeId id) const {
        const graph::Node& node = graph_.node(id);
        graph::Names names{.out = {}, .out_symbol = {}, .in = {}, .in_symbols = {}};
        for (const graph::Reading& input : node.inputs) {
            names.in.push_back(name_of_input(input));
            names.in_symbols.push_back(names.in.back());
        }
        const std::vector<graph::Operand> in = graph_.operands(id);
        const std::string formula = graph_.operation(id).formula({node.attributes, in, node.axes}, names);
        const std::size_t equals = formula.find("= ");
        return equals == std::string::npos ? formula : formula.substr(equals + 2);
    }

    /// "q_conv[sat, 3]"
    std::string address(const std::string& name, const graph::Axes& axes, const Index& at) const {
        std::string places;
        for (int axis = 0; axis < axes.rank(); ++axis) {
            if (axes[axis].name == "B")
                continue;
            const std::int64_t index = at[static_cast<std::size_t>(axis)];
            places += (places.empty() ? "" : ", ") + place_text(axes[axis], index);
        }
        return name + "[" + places + "]";
    }
    std::string place_text(const graph::Axis& axis, std::int64_t index) const {
        return axis.name == "Tq" || axis.name == "Tk" ? shortened(query_word(shown_.problem(), index), 8)
                                                      : std::to_string(index);
    }
    std::string name_of_factor(NodeId id, const graph::Factor& factor) const {
        if (!factor.cell)
            return factor.symbol;
        const graph::Reading& input = graph_.node(id).inputs[factor.cell->input];
        const std::string cell = address(name_of_input(input), graph_.node(input.node).axes, factor.cell->at);
        return factor.symbol.empty() ? cell : factor.symbol + ": " + cell;
    }
    std::string input_of_factor(NodeId id, const graph::Factor& factor) const {
        return factor.cell ? name_of_input(graph_.node(id).inputs[factor.cell->input]) : factor.symbol;
    }

    void write_terms(NodeId id, const Arithmetic& arithmetic, const std::string& total) {
        const std::vector<graph::Term>& terms = arithmetic.terms;
        if (terms.empty()) {
            sheet_.row(total, text_of(arithmetic.total), true);
        } else if (terms.size() > 1) {
            write_sum(id, arithmetic, arithmetic.steps.empty() ? total : tr("common.sum", "sum"));
        } else {
            std::string product;
            for (const graph::Factor& factor : terms.front().factors) {
                sheet_.row(name_of_factor(id, factor), text_of(factor.value));
                product += (product.empty() ? "" : " × ") + text_of(factor.value);
            }
            if (terms.front().factors.size() > 1)
                sheet_.arithmetic(product, text_of(terms.front().value));
        }
    }

    /// The axis along which the first factors of the terms differ, if they are cells of one input.
    std::optional<int> varying_axis(NodeId id, const std::vector<graph::Term>& terms) const {
        if (graph_.node(id).op == graph::Op::mix) // coefficients of other inputs
            return std::nullopt;
        const auto& first = terms[0].factors[0].cell;
        const auto& second = terms[1].factors[0].cell;
        if (!first || !second || first->input != second->input)
            return std::nullopt;
        const auto differs = std::ranges::mismatch(first->at, second->at).in1;
        return static_cast<int>(differs - first->at.begin());
    }

    void write_sum(NodeId id, const Arithmetic& arithmetic, const std::string& total) {
        const std::vector<graph::Term>& terms = arithmetic.terms;
        const auto axis = varying_axis(id, terms);
        const bool products =
            std::ranges::any_of(terms, [](const graph::Term& term) { return term.factors.size() > 1; });
        TermTable table{.words = true, .groups = {{}}, .name = total, .total = arithmetic.sum};
        for (const graph::Term& term : terms) {
            const graph::Factor &left = term.factors.front(), &right = term.factors.back();
            const bool is_single = products && term.factors.size() == 1;
            Term line{.label = is_single ? "+ " + input_of_factor(id, left) : input_of_factor(id, right),
                      .value = term.value};
            if (axis && left.cell && !is_single) {
                const graph::Axis& along =
                    graph_.node(graph_.node(id).inputs[left.cell->input].node).axes[*axis];
                line.label = place_text(along, left.cell->at[static_cast<std::size_t>(*axis)]);
                table.words = along.name == "Tq" || along.name == "Tk";
            }
            if (!is_single && products)
                line.factors = {{left.value, right.value}};
            (is_single ? table.single_terms : table.groups.front().terms).push_back(std::move(line));
        }
        if (products) {
            const graph::Term& term = terms.back().factors.size() > 1 ? terms.back() : terms.front();
            table.columns = {table.words ? tr("block_inspector.from", "from") : "d",
                             axis ? input_of_factor(id, term.factors.front())
                                  : tr("explanations.factor", "factor"),
                             axis ? input_of_factor(id, term.factors.back()) : tr("common.value", "value"),
                             tr("common.product", "product")};
        }
        draw_terms(sheet_, table);
    }

    /// The number that a step has computed apart: a mean, a root.
    void write_apart(const Arithmetic& arithmetic) {
        if (arithmetic.terms.size() > 1) {
            const std::vector<graph::Factor>& factors = arithmetic.terms.front().factors;
            const std::int64_t count = std::ssize(arithmetic.terms);
            sheet_.row(factors.size() > 1 ? tr_n("node_inspector.sum_of_squares", "sum of {} square",
                                                 "sum of {} squares", count, grouped(count))
                                          : tr_n("node_inspector.sum_of_numbers", "sum of {} number",
                                                 "sum of {} numbers", count, grouped(count)),
                       text_of(arithmetic.sum));
        }
        write_steps(arithmetic);
    }

    void write_steps(const Arithmetic& arithmetic) {
        double before = arithmetic.sum;
        for (const ArithmeticStep& step : arithmetic.steps) {
            for (const Arithmetic& apart : step.from)
                write_apart(apart);
            sheet_.arithmetic(line_of(step, text_of(before)), text_of(step.result));
            before = step.result;
        }
    }

    static std::string line_of(const ArithmeticStep& step, const std::string& x) {
        const std::string by = text_of(step.by.value);
        switch (step.kind) {
        case StepKind::times:
            return x + " × " + by;
        case StepKind::divided_by:
            return x + " ÷ " + by;
        case StepKind::plus:
            return x + " + " + by;
        case StepKind::minus:
            return x + " − " + by;
        case StepKind::square_root:
            return "√(" + x + ")";
        case StepKind::exponential:
            return "exp(" + x + ")";
        case StepKind::hyperbolic_tangent:
            return "tanh(" + x + ")";
        case StepKind::clipped:
            return tr("inspector_products.cut", "{}, clipped to ±{}", x, by);
        case StepKind::at_most:
            return "min(" + x + ", " + by + ")";
        case StepKind::function:
            return step.by.symbol + "(" + x + ")";
        case StepKind::excluded:
            return tr("inspector_softmax.becomes", "{} becomes", x);
        }
        return x;
    }

    /// The cells between stages that a number is computed from, unless it reads many of one node.
    std::vector<InnerCell> inner_cells(NodeId id, const Arithmetic& arithmetic) const {
        std::vector<InnerCell> cells;
        const auto add = [&](const graph::Factor& factor) {
            if (!factor.cell)
                return;
            const NodeId node = graph_.node(id).inputs[factor.cell->input].node;
            if (!is_inner(node) || !part_.can_explain(node))
                return;
            if (const InnerCell cell{node, factor.cell->at}; std::ranges::find(cells, cell) == cells.end())
                cells.push_back(cell);
        };
        if (arithmetic.terms.size() == 1)
            std::ranges::for_each(arithmetic.terms.front().factors, add);
        for (const ArithmeticStep& step : arithmetic.steps)
            add(step.by);
        return cells;
    }

    Sheet& sheet_;
    const Shown& shown_;
    const RunPart& part_;
    const graph::Graph& graph_;
    const NodeId first_ =
        part_.node(part_.place.layer < 0 ? TensorId::resid_out : TensorId::resid_in); ///< enters the part
    std::vector<NodeId> unwritten_;
};

/// Adds a sentence to stages whose arithmetic needs one.
void add_remark(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    if (cell.tensor == TensorId::delta_y) {
        sheet.paragraph(
            tr("delta_inspector.state_words",
               "At each token S is multiplied by the decay. Then beta times the difference between "
               "the value and what S has under the key is added in the direction of the key."),
            sheet.context.theme.muted);
    } else if (cell.tensor == TensorId::mlp_sparse) {
        const std::span<const float> row = row_of(shown, cell.tensor, cell.at[1]);
        const auto kept = std::ranges::count_if(row, [](float gate) { return gate > 0; });
        sheet.paragraph(tr_n("copies_inspector.kept", "{} of {} gates of the token is above the cutoff.",
                             "{} of {} gates of the token are above the cutoff.", kept, grouped(kept),
                             grouped(std::ssize(row))),
                        sheet.context.theme.muted);
    }
}

} // namespace

bool is_explained_by_node(const Shown& shown, TensorId stage) {
    const graph::NodeId node = shown.block->node(stage);
    if (node == RunPart::no_node || !shown.block->can_explain(node))
        return false;
    return is_delta(stage) || is_of_copies(stage) || stage == TensorId::routing ||
           (stage == TensorId::mlp_shared && has_shared_fraction(shown));
}

int add_node(Sheet& sheet, const CellAddress& cell) {
    NodeSheet node(sheet);
    node.write(sheet.context.shown.block->node(cell.tensor), cell.at);
    add_remark(sheet, cell);
    node.write_formulas();
    return decimals;
}

} // namespace headscope::app
