#include "core/analysis/effects/source_map.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/head_parts.h"
#include "core/analysis/effects/logit_direction.h"
#include "core/analysis/effects/rows.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/from_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headscope::analysis {

namespace {

using checkpoint::Stack;

/// A norm that stands behind an attention, at every row.
struct PassedNorm {
    checkpoint::NormOfRows norm;
    TensorPtr read; ///< (1, T, D)
    TensorPtr weight;
};

/// The numbers of a run at all rows, from what the heads of an attention write to what leaves the last layer.
class WayToTheEnd {
public:
    WayToTheEnd(const checkpoint::ModelRun& run, const Progress& cancel)
        : run_(run), progress_(Progress::CancelledWith{cancel}),
          runs_(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>()) {}

    /// (1, T, D) of the last layer. `norms` gets those that a vector passes on the way from attention n, in
    /// their order.
    TensorPtr walk(std::int64_t n, std::vector<PassedNorm>& norms) {
        const checkpoint::ModelConfig& a = run_.model().config();
        const checkpoint::ModelStages& stages = run_.model().stages();
        const auto add_norm = [&](std::int64_t m, TensorId id) {
            const checkpoint::AttentionPlace place = attention_place(a, m);
            if (const auto norm = stages.norm(place, id))
                norms.push_back({*norm, numbers(node(m, stages.sources(place, id).front())),
                                 norm->weight ? layer(m)[*norm->weight] : nullptr});
        };
        add_norm(n, TensorId::attn_out);
        for (std::int64_t m = n; m < attention_count(a); ++m)
            for (const TensorId id : {TensorId::norm1, TensorId::norm2})
                if (stages.is_stream(attention_place(a, m), id))
                    add_norm(m, id);
        return numbers(checkpoint::last_stream_node(*run_.text()));
    }

    /// Attention n with the run's edits.
    Problem edited(std::int64_t n) const {
        return with_edits(run_.problem(n), checkpoint::edits_of(run_.edits(), n));
    }

private:
    std::string node(std::int64_t n, TensorId stage) const {
        return run_.text()->name(attention_place(run_.model().config(), n), stage);
    }
    TensorPtr numbers(const std::string& node) {
        return (*runs_.run({{node}}, {}, run_.kept(), progress_))[node];
    }
    checkpoint::WeightSet layer(std::int64_t n) const {
        return with_edits(run_.model().layer(n), checkpoint::edits_of(run_.edits(), n));
    }

    const checkpoint::ModelRun& run_;
    Progress progress_;
    checkpoint::GraphRuns runs_;
};

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
    cpu::CpuDense cpu;
    WayToTheEnd way(run, cancel);
    LogitDirections at_the_end(run);
    std::vector<PassedNorm> norms;
    const TensorPtr left = way.walk(attention, norms);
    const TableReading table = table_reading(run.model(), run.edits(), question);
    const std::int64_t T = left->shape()[1];
    const double scale =
        run.model().stages().branch_scale(attention_place(a, attention), TensorId::attn_out).value_or(1.0);
    Tensor directions(Shape{T, a.D});
    for (std::int64_t i = 0; i < T; ++i) {
        cancel.check();
        Tensor direction = at_the_end.of(table, Tensor(Shape{1, 1, a.D}, row_of(*left, i)), cancel).direction;
        for (auto norm = norms.rbegin(); norm != norms.rend(); ++norm)
            FrozenNorm(row_of(*norm->read, i), norm->norm, norm->weight).turn_back(direction);
        scale_by(direction, scale);
        std::ranges::copy(direction.values(), directions.data() + i * a.D);
    }

    const Problem problem = way.edited(attention);
    const TensorPtr values =
        values_of(problem, problem.has_source() ? *problem.x_kv : *problem.x, cpu, cancel);
    const TensorPtr gates = head_gates(problem, 0, T);
    return parts_by_source(problem, *run.weights(attention), *values, gates.get(), head, directions);
}

} // namespace headscope::analysis
