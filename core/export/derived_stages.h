#pragma once

#include "core/checkpoint/model/model.h"
#include "core/checkpoint/run/forward.h"
#include "core/export/trace_selection.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::exporting {

// Stages of a model's layer that are parts or sums of nodes of its graph, not nodes themselves:
//   chosen      (B, T, used) integers: the experts that a token uses, largest fraction first
//   expert_out  (B, T, used, D): the outputs of these experts, before their fractions multiply them

/// Integers as they go into a file.
struct IntegerStage {
    std::string name;
    std::vector<std::int64_t> numbers;
    Shape shape;
};

/// `names` with the nodes that the derived stages among them are made of in their place, each once.
std::vector<std::string> nodes_to_keep(std::span<const std::string> names);

/// The nodes and derived stages that were asked for, of all layers that have them, by their names in files.
struct NodeStages {
    std::vector<SelectedStage> tensors;
    std::vector<IntegerStage> integers;
};
/// names: TraceExport::nodes. result: of a run that kept nodes_to_keep(names).
NodeStages select_nodes(const checkpoint::Model& model, const checkpoint::ForwardResult& result,
                        std::span<const std::string> names);

} // namespace headscope::exporting
