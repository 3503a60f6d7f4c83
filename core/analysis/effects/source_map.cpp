#include "core/analysis/effects/source_map.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/head_parts.h"
#include "core/analysis/effects/logit_direction.h"
#include "core/analysis/effects/rows.h"
#include "core/analysis/effects/stream_terms.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/from_rows.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope::analysis {

namespace {

using checkpoint::Stack;

/// Lists the norms, and the factor, that a vector from an attention passes until the end of the last layer.
std::vector<const graph::Node*> passed_from(const graph::Graph& graph, const std::string& added,
                                            const std::string& end) {
    const std::vector<StreamTerm> terms = terms_of_stream(graph, graph.find(end));
    auto term = std::ranges::find(terms, graph.find(added), &StreamTerm::node);
    std::vector<const graph::Node*> passed;
    if (changes_branch(graph.node(term->node)))
        passed.push_back(&graph.node(term->node));
    for (; term != terms.end(); ++term)
        if (is_norm_of_stream(graph.node(term->node)))
            passed.push_back(&graph.node(term->node));
    return passed;
}

} // namespace

Tensor source_map(const checkpoint::ModelRun& run, const LogitQuestion& question, std::int64_t attention,
                  std::int64_t head, const Progress& cancel) {
    LogitQuestion anywhere = question;
    anywhere.position = 0;
    require_logit(run, anywhere);
    require_one_stream(run.model());
    require_unpatched(run);
    const checkpoint::ModelConfig& a = run.model().config();
    require_number(attention, attention_count(a), Numbered::attention);
    require_number(head, a.H, Numbered::head);
    require_attention(a, attention_place(a, attention));
    if (attention_place(a, attention).stack == Stack::encoder)
        fail_input(tr("source_map.heads_encoder_write_no",
                      "heads of an encoder do not write to the logits; choose a head of the decoder"));
    const checkpoint::AttentionPlace place = attention_place(a, attention);
    checkpoint::GraphRuns runs(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>());
    const graph::Graph& graph = runs.graph();
    const std::string end = checkpoint::last_stream_node(*run.text());
    const std::vector<const graph::Node*> passed =
        passed_from(graph, runs.name(place, TensorId::attn_out), end);
    const MixedParts mixed(graph, graph[runs.name(place, TensorId::contributions)], {}, head);
    std::vector<graph::Part> captures{{end}};
    mixed.add_to(captures);
    for (const graph::Node* const node : passed)
        for (const graph::Reading& input : node->inputs)
            if (is_norm(*node))
                captures.push_back({graph.node(input.node).name});
    Progress progress{Progress::CancelledWith{cancel}};
    const run::RunPtr numbers = runs.run(captures, {}, run.kept(), progress);

    const Tensor& left = *(*numbers)[end];
    const TableReading table = table_reading(run.model(), run.edits(), question);
    LogitDirections at_the_end(run);
    const std::int64_t T = left.shape()[1];
    Tensor directions(Shape{T, a.D});
    for (std::int64_t i = 0; i < T; ++i) {
        cancel.check();
        Tensor direction = at_the_end.of(table, Tensor(Shape{1, 1, a.D}, row_of(left, i)), cancel).direction;
        for (auto node = passed.rbegin(); node != passed.rend(); ++node) {
            const auto input = [&](std::size_t n) {
                return n < (*node)->inputs.size() ? numbers->tensor((*node)->inputs[n].node) : nullptr;
            };
            const TensorPtr read = input(0);
            FrozenNorm::of(**node, read == nullptr ? std::span<const float>() : row_of(*read, i), input(1))
                .turn_back(direction);
        }
        std::ranges::copy(direction.values(), directions.data() + i * a.D);
    }
    return parts_by_source(mixed.of(*numbers), 0, directions);
}

} // namespace headscope::analysis
