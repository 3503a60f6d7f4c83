#pragma once

#include "core/attention/problem.h"
#include "core/graph/graph.h"
#include "core/run/intervention.h"
#include "core/trace/trace.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::exporting {

/// A part of a graph with the numbers of one run: the content of a PyTorch script.
struct ScriptPart {
    enum class Kind : std::uint8_t { attention, layer, model };

    Kind kind = Kind::attention;
    graph::Graph graph;
    std::vector<graph::NodeId> computed; ///< by the script, in order
    /// Read by computed nodes, in the order of their first use. An optional input that is missing here is
    /// left out of the script: head gains that are all 1.
    std::vector<graph::NodeId> given;
    std::vector<graph::NodeId> compared;  ///< computed nodes whose numbers the script checks
    std::vector<TensorPtr> numbers;       ///< by node: those of `given` and `compared`
    run::NodeInterventions interventions; ///< on computed nodes
    std::string device;                   ///< that computed the compared numbers
    std::vector<std::string> tokens, kv_tokens;

    bool is_computed(graph::NodeId id) const;
    bool is_given(graph::NodeId id) const;
    const TensorPtr& of(graph::NodeId id) const { return numbers[static_cast<std::size_t>(id)]; }
};

/// The attention of a problem; `trace` has its weights and its output. Throws the errors of validate.
ScriptPart part_of(const Problem& problem, const Trace& trace);

/// Sets `given` to what the computed nodes read.
void find_given(ScriptPart& part);
/// Removes head gains that are all 1 from the given nodes, whose numbers are known.
void leave_out_ones(ScriptPart& part);

/// The names of the Python variables of a part. Within a layer, these are the names of the layer's nodes.
class ScriptVariables {
public:
    explicit ScriptVariables(const ScriptPart& part);

    const std::string& of(graph::NodeId id) const { return names_[static_cast<std::size_t>(id)]; }
    /// The node with this variable; nothing if there is none.
    std::optional<graph::NodeId> find(std::string_view name) const;
    bool has(std::string_view name) const { return find(name).has_value(); }

private:
    const ScriptPart& part_;
    std::vector<std::string> names_; ///< by node; empty for those that the script does not have
};

/// A name of a node as a Python variable: "layers_3_scores".
std::string python_name(std::string_view name);

} // namespace headscope::exporting
