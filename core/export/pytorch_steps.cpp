#include "core/export/pytorch_steps.h"

#include "core/export/pytorch_values.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace headscope::exporting {

namespace {

using graph::NodeId;

struct SizeRow {
    std::string_view name, meaning;
    bool in_lines = false; ///< operations name it in their lines
};
/// The sizes in the order of a script.
constexpr std::array<SizeRow, 20> size_rows{{{"B", "batch entries", true},
                                             {"Tq", "query tokens", true},
                                             {"Tk", "key tokens", true},
                                             {"D", "width of the residual stream and of the output"},
                                             {"Dq", "width of x"},
                                             {"Dkv", "width of x_kv"},
                                             {"H", "query heads", true},
                                             {"Hkv", "key/value heads", true},
                                             {"Hqk", "query and key heads of a delta layer", true},
                                             {"dk", "width of one query or key head", true},
                                             {"dv", "width of one value head", true},
                                             {"d_ff", "width inside the MLP"},
                                             {"experts", "experts of a layer"},
                                             {"d_expert", "width inside an expert"},
                                             {"rank", "width of the latent vector of keys and values"},
                                             {"rotary", "width of the rotated part of a key"},
                                             {"vocab", "tokens of the vocabulary"},
                                             {"positions", "rows of the position table"},
                                             {"distances", "rows of the table of relative positions"},
                                             {"d_embed", "width of the embeddings"}}};

using Sizes = std::map<std::string, std::int64_t, std::less<>>;

void add_size(Sizes& sizes, const graph::Axis& axis) {
    if (axis.is_product()) {
        add_size(sizes, axis.outer_axis());
        add_size(sizes, axis.inner_axis());
        return;
    }
    std::int64_t& size = sizes[axis.name];
    size = std::max(size, axis.size); // an array with size 1 is repeated along the axis
}

/// The sizes of the axes of some nodes.
Sizes sizes_of(const graph::Graph& graph, const std::vector<NodeId>& nodes) {
    Sizes sizes;
    for (const NodeId id : nodes)
        for (const graph::Axis& axis : graph.node(id).axes)
            add_size(sizes, axis);
    return sizes;
}

Sizes sizes_of_part(const ScriptPart& part) {
    std::vector<NodeId> nodes = part.given;
    nodes.insert(nodes.end(), part.computed.begin(), part.computed.end());
    return sizes_of(part.graph, nodes);
}

/// Writes the lines of the computed nodes.
class StepWriter {
public:
    StepWriter(const ScriptPart& part, const ScriptVariables& variables)
        : part_(part), variables_(variables), sizes_(sizes_of_part(part)) {
        for (const NodeId id : part.given) {
            bound_[variables.of(id)] = id;
            if (const graph::Node& node = part.graph.node(id);
                !is_leaf(node.op) || variables.of(id) == "x" || variables.of(id) == "x_kv")
                print(variables.of(id), id);
        }
        for (const NodeId id : part.computed)
            later_.insert(variables.of(id));
    }

    std::string write() {
        for (std::size_t n = 0; n < part_.computed.size(); ++n)
            add(part_.computed[n], n == 0 ? nullptr : &part_.graph.node(part_.computed[n - 1]));
        return text_ + print_loop();
    }

private:
    void add(NodeId id, const graph::Node* before) {
        const graph::Node& node = part_.graph.node(id);
        if (const std::string title = heading(node, before);
            !title.empty() || (part_.kind != ScriptPart::Kind::model && starts_step(node, before)))
            text_ += "\n" + title;
        add_changed_sizes(id);
        std::vector<graph::Operand> in;
        graph::Names names{.out = variables_.of(id), .out_symbol = node.symbol, .in = {}, .in_symbols = {}};
        for (const graph::Reading& input : node.inputs) {
            if (!part_.is_computed(input.node) && !part_.is_given(input.node))
                continue; // left out
            in.emplace_back(part_.graph.node(input.node).axes);
            names.in.push_back(variable_of(input));
            names.in_symbols.push_back(input.symbol);
        }
        const std::string lines = part_.graph.operation(id).pytorch({node.attributes, in, node.axes}, names);
        text_ += with_comments(lines, axes_comment(node.axes, variables_));
        add_interventions(id);
        bound_[variables_.of(id)] = id;
        print(variables_.of(id), id);
    }

    /// The variable of an input. Within a layer an array may have several names: the norm's result is the
    /// attention's x. Such a name is defined where it is read first.
    std::string variable_of(const graph::Reading& input) {
        const std::string& own = variables_.of(input.node);
        const std::string alias = python_name(input.name);
        if (part_.kind == ScriptPart::Kind::model || alias == own)
            return own;
        const auto bound = bound_.find(alias);
        if (bound == bound_.end() && !later_.contains(alias)) {
            bound_[alias] = input.node;
            text_ += alias + " = " + own + "\n";
            if (!is_leaf(part_.graph.node(input.node).op))
                print(alias, input.node);
            return alias;
        }
        return bound != bound_.end() && bound->second == input.node ? alias : own;
    }

    static bool starts_step(const graph::Node& node, const graph::Node* before) {
        return before == nullptr || !(before->location == node.location);
    }

    /// The title at the first node of a step, "# Scores", or in a whole model of a layer,
    /// "# encoder.layers.3". Empty for other nodes and for a node without a title of its own.
    std::string heading(const graph::Node& node, const graph::Node* before) const {
        const auto layer_of = [](const graph::Node& of) {
            return std::string_view(of.name).substr(0, of.prefix);
        };
        if (part_.kind == ScriptPart::Kind::model) {
            const std::string_view layer = layer_of(node);
            return layer.empty() || (before != nullptr && layer_of(*before) == layer)
                       ? ""
                       : "# " + std::string(layer.substr(0, layer.size() - 1)) + "\n";
        }
        if (!starts_step(node, before))
            return "";
        const auto step = node.location.step;
        const bool of_attention =
            !is_around(step) && (part_.kind == ScriptPart::Kind::attention || node.location.layer >= 0);
        const std::string title(of_attention ? group_info(step).title.english : node.title.english);
        return title == node.local_name() ? "" : "# " + title + "\n";
    }

    /// The stacks of a model may have other numbers of tokens, heads and the like.
    void add_changed_sizes(NodeId id) {
        for (const auto& [name, size] : sizes_of(part_.graph, {id})) {
            const auto row = std::ranges::find(size_rows, name, &SizeRow::name);
            if (row != size_rows.end() && row->in_lines && std::exchange(sizes_[name], size) != size)
                text_ += name + " = " + std::to_string(size) + "\n";
        }
    }

    /// The lines of an operation: its comments where they are new, and the axes after the last line.
    std::string with_comments(const std::string& lines, const std::string& axes) {
        constexpr std::size_t widest = 120;
        std::string text;
        std::istringstream rest(lines);
        for (std::string line; std::getline(rest, line);)
            if (!line.starts_with('#') || comments_.insert(line).second)
                text += line + "\n";
        const std::size_t last = text.rfind('\n', text.size() - 2);
        const std::size_t width = text.size() - 1 - (last == std::string::npos ? 0 : last + 1);
        if (width + 4 + axes.size() <= widest)
            text.insert(text.size() - 1, "  # " + axes);
        return text;
    }

    void add_interventions(NodeId id) {
        const std::string& name = variables_.of(id);
        bool first = true;
        for (std::size_t index = 0; index < part_.interventions.size(); ++index) {
            const run::NodeIntervention& one = part_.interventions[index];
            if (one.node != id)
                continue;
            if (std::exchange(first, false))
                text_ += "# Set by hand, or taken from another run.\n" + name + " = " + name + ".clone()\n";
            text_ += name + "[" + ranges(one.box, part_.graph.node(id).axes) + "] " + sign(one.kind) + " " +
                     intervention_variable(index) + "\n";
        }
    }

    static const char* sign(run::Intervention::Kind kind) {
        switch (kind) {
        case run::Intervention::Kind::set:
            return "=";
        case run::Intervention::Kind::add:
            return "+=";
        case run::Intervention::Kind::scale:
            return "*=";
        }
        return "";
    }
    /// "0, :, 3:5"
    static std::string ranges(const run::Box& box, const graph::Axes& axes) {
        std::string text;
        for (int axis = 0; axis < axes.rank(); ++axis) {
            const auto at = static_cast<std::size_t>(axis);
            const bool whole = box.count[at] == axes.size(axis);
            text += (text.empty() ? "" : ", ") + (whole ? ":"
                                                        : std::to_string(box.first[at]) + ":" +
                                                              std::to_string(box.first[at] + box.count[at]));
        }
        return text.empty() ? "..." : text;
    }

    void print(const std::string& variable, NodeId id) {
        if (part_.kind == ScriptPart::Kind::model &&
            std::ranges::find(part_.compared, id) == part_.compared.end())
            return; // too many
        printed_ += "    (\"" + variable + "\", \"" + axes_comment(part_.graph.node(id).axes, variables_) +
                    "\", " + variable + "),\n";
    }
    std::string print_loop() const {
        return (part_.tokens.empty() ? "" : "\nprint(\"tokens:\", tokens, \"\\n\")") +
               std::string("\nfor name, axes, stage in [\n") + printed_ +
               "]:\n    print(f\"{name}  {axes} = {tuple(stage.shape)}\\n{stage}\\n\")\n";
    }

    const ScriptPart& part_;
    const ScriptVariables& variables_;
    std::map<std::string, NodeId, std::less<>> bound_; ///< variables that are defined
    std::set<std::string, std::less<>> later_;         ///< variables of computed nodes
    std::set<std::string> comments_;
    Sizes sizes_;
    std::string text_, printed_;
};

} // namespace

std::string script_sizes(const ScriptPart& part) {
    const Sizes sizes = sizes_of_part(part);
    const ScriptVariables variables(part);
    const auto source = variables.find("x_kv");
    std::string out = "# Sizes\n";
    for (const SizeRow& row : size_rows) {
        const auto size = sizes.find(row.name);
        if (size == sizes.end() || (row.name == "Dkv" && !source && part.kind != ScriptPart::Kind::model))
            continue;
        const bool is_own = row.name == "Tk" && !source && part.kind != ScriptPart::Kind::model;
        out += std::string(row.name) + " = " + std::to_string(size->second) + "  # " +
               std::string(row.meaning) + (is_own ? ": the same, this is self-attention" : "") + "\n";
    }
    if (!part.tokens.empty())
        out += "tokens = " + python_list(part.tokens) + "\n";
    if (!part.kv_tokens.empty())
        out += "kv_tokens = " + python_list(part.kv_tokens) + "\n";
    return out;
}

std::string script_steps(const ScriptPart& part, const ScriptVariables& variables) {
    return StepWriter(part, variables).write();
}

} // namespace headscope::exporting
