#include "core/checkpoint/run/from_rows.h"

#include <utility>

namespace headscope::checkpoint {

namespace {

run::RowRun run_of(const TextGraph& text, const ModelEdits& edits, const std::string& from,
                   const std::vector<std::string>& captures, Workshop& workshop) {
    std::vector<graph::Part> parts;
    for (const std::string& node : captures)
        parts.push_back({node});
    TextGraph::Numbers numbers = text.with(edits);
    return {text.graph(), parts, std::move(numbers.leaves), numbers.interventions, {from}, workshop.backend};
}

} // namespace

std::string last_hidden_node(const TextGraph& text, Stack stack) {
    const ModelConfig& a = text.model()->config();
    return layer_prefix(a, {stack, -1}) + "hidden." + std::to_string(in_stack(a, stack).layers);
}

std::string last_stream_node(const TextGraph& text, Stack stack) {
    if (!text.model()->stages().has({stack, -1}, TensorId::final_norm))
        return last_hidden_node(text, stack);
    const graph::Node& norm = text.graph()[text.name({stack, -1}, TensorId::final_norm)];
    return text.graph().node(norm.inputs.front().node).name;
}

FromRows::FromRows(TextGraphPtr text, const ModelEdits& edits, std::string from,
                   std::vector<std::string> captures, std::shared_ptr<Workshop> workshop)
    : text_(std::move(text)), from_(std::move(from)), captures_(std::move(captures)),
      workshop_(std::move(workshop)), run_(run_of(*text_, edits, from_, captures_, *workshop_)) {}

std::map<std::string, TensorPtr> FromRows::of(const TensorPtr& rows, Progress& progress) {
    run_.truncate(0);
    const ReleasesWeights at_end{*text_};
    return run_.compute(rows->shape()[1], {{from_, rows}}, captures_, progress);
}

} // namespace headscope::checkpoint
