#include "core/graph/graph.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <numeric>

namespace headscope::graph {

namespace {

/// The number of letters to insert, delete or replace to turn one word into another (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string python_name(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '.', '_');
    return text;
}

} // namespace

Names formula_names(const Node& node) {
    Names names{.out = std::string(node.local_name()), .out_symbol = node.symbol, .in = {}, .in_symbols = {}};
    for (const Reading& input : node.inputs) {
        names.in.push_back(input.name);
        names.in_symbols.push_back(input.symbol);
    }
    return names;
}

std::optional<NodeId> Graph::try_find(std::string_view name) const {
    const auto found = data_->by_name.find(name);
    return found == data_->by_name.end() ? std::nullopt : std::optional(found->second);
}

NodeId Graph::find(std::string_view name) const {
    if (const std::optional<NodeId> id = try_find(name))
        return *id;
    constexpr std::size_t most = 3;
    std::vector<std::pair<std::size_t, std::string>> nearest;
    for (const auto& entry : data_->by_name)
        nearest.emplace_back(edit_distance(name, entry.first), entry.first);
    const std::size_t count = std::min(most, nearest.size());
    std::ranges::partial_sort(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(count));
    nearest.resize(count);
    fail_input(tr("graph.no_node", "there is no node {}; the nearest names are {}", name,
                  joined(nearest, &std::pair<std::size_t, std::string>::second)));
}

std::vector<Operand> Graph::operands(NodeId id) const {
    std::vector<Operand> operands;
    operands.reserve(node(id).inputs.size());
    for (const Reading& input : node(id).inputs)
        operands.emplace_back(node(input.node).axes);
    return operands;
}

std::string Graph::formula(NodeId id) const {
    const Node& n = node(id);
    const std::vector<Operand> in = operands(id);
    return operation(id).formula({n.attributes, in, n.axes}, formula_names(n));
}

std::string Graph::pytorch(NodeId id) const {
    const Node& n = node(id);
    const std::vector<Operand> in = operands(id);
    Names names{.out = python_name(n.name), .out_symbol = n.symbol, .in = {}, .in_symbols = {}};
    for (const Reading& input : n.inputs)
        names.in.push_back(python_name(node(input.node).name));
    return operation(id).pytorch({n.attributes, in, n.axes}, names);
}

Cost Graph::cost(NodeId id) const {
    const std::vector<Operand> in = operands(id);
    return operation(id).cost({node(id).attributes, in, node(id).axes});
}

std::vector<ReadSpan> Graph::reads(NodeId id, const Index& at) const {
    const std::vector<Operand> in = operands(id);
    return operation(id).reads({node(id).attributes, in, node(id).axes}, at);
}

} // namespace headscope::graph
