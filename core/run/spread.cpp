#include "core/run/spread.h"

#include "core/run/part.h"

#include <algorithm>

namespace headscope::run {

namespace {

/// Adds the heads of the input that a span of its cells touches.
void add_heads(HeadSet& heads, const HeadAxis& axis, const graph::ReadSpan& span, int rank) {
    Box box{.first = span.first, .count = {}};
    for (int at = 0; at < rank; ++at)
        box.count[static_cast<std::size_t>(at)] = at == span.axis ? span.count : 1;
    heads |= heads_of(axis, box);
}

bool counts_tokens(const graph::Axis& axis) {
    return axis.name == "Tq" || axis.name == "Tk";
}

} // namespace

/// Reads the cells of each head that differ along the innermost axis, in the last entry of every other axis.
/// The heads that a cell reads do not depend on its token; the last query may attend to the last key.
Spread::Spread(const graph::Graph& graph, graph::NodeId node, std::size_t input) {
    const graph::Axes& axes = graph.node(node).axes;
    const graph::Axes& from = graph.node(graph.node(node).inputs[input].node).axes;
    const HeadAxis own = head_axis(axes), other = head_axis(from);
    all_ = all_heads(own.heads);
    all_of_input_ = all_heads(other.heads);
    if (own.axis < 0 || other.axis < 0)
        return;
    read_.assign(static_cast<std::size_t>(head_bits(own.heads)), 0);
    const std::vector<graph::Operand> operands = graph.operands(node);
    const graph::Call call{graph.node(node).attributes, operands, axes};
    const int last = axes.rank() - 1;
    const bool is_inner = own.axis == last;
    for (std::int64_t h = 0; h < own.heads; ++h) {
        HeadSet& heads =
            read_[static_cast<std::size_t>(own.heads <= most_head_bits ? h : h * most_head_bits / own.heads)];
        Index at{};
        for (int axis = 0; axis < axes.rank(); ++axis)
            at[static_cast<std::size_t>(axis)] = axes.size(axis) - 1;
        at[static_cast<std::size_t>(own.axis)] = h * own.width;
        const std::int64_t cells = is_inner ? own.width : counts_tokens(axes[last]) ? 1 : axes.size(last);
        for (std::int64_t cell = 0; cell < cells && heads != all_of_input_; ++cell) {
            if (is_inner || cells > 1)
                at[static_cast<std::size_t>(last)] = (is_inner ? h * own.width : 0) + cell;
            for (const graph::ReadSpan& span : graph.operation(node).reads(call, at))
                if (span.source == input)
                    add_heads(heads, other, span, from.rank());
        }
    }
    const auto bits = static_cast<unsigned>(read_.size());
    bool same = own.heads == other.heads, all = true;
    for (unsigned bit = 0; bit < bits; ++bit) {
        same = same && read_[bit] == HeadSet{1} << bit;
        all = all && read_[bit] == all_of_input_;
    }
    kind_ = same ? Kind::same : all ? Kind::all : Kind::table;
}

HeadSet Spread::through_table(HeadSet input) const {
    HeadSet heads = 0;
    for (std::size_t bit = 0; bit < read_.size(); ++bit)
        if ((read_[bit] & input) != 0)
            heads |= HeadSet{1} << bit;
    return heads;
}

HeadSet Spread::through_table_back(HeadSet heads) const {
    HeadSet input = 0;
    for (std::size_t bit = 0; bit < read_.size(); ++bit)
        if ((heads & HeadSet{1} << bit) != 0)
            input |= read_[bit];
    return input;
}

} // namespace headscope::run
