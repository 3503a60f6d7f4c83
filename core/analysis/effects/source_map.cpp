#include "core/analysis/effects/source_map.h"

#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/head_parts.h"
#include "core/analysis/effects/logit_direction.h"
#include "core/analysis/effects/rows.h"
#include "core/base/message.h"
#include "core/checkpoint/run/forward_pass.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace headscope::analysis {

namespace {

using checkpoint::AttentionPlace;
using checkpoint::Stack;
using checkpoint::WeightId;

/// A norm that stands behind an attention, at every row.
struct PassedNorm {
    Tensor read; ///< (1, T, D)
    TensorPtr weight;
};

/// Goes from what the heads of an attention write to what leaves the last layer.
class WayToTheEnd {
public:
    WayToTheEnd(const checkpoint::ModelRun& run, cpu::CpuDense& cpu, const Progress& cancel)
        : run_(run), cpu_(cpu), cancel_(cancel), pass_(run.model(), run.inputs(), run.edits()) {
        pass_.watch([this](AttentionPlace, TensorId id, const Tensor& tensor) {
            if (id == TensorId::resid_mid)
                after_attention_ = copy_of(tensor);
            if (id == TensorId::resid_out)
                after_mlp_ = copy_of(tensor);
        });
    }

    const checkpoint::ForwardPass& pass() const { return pass_; }

    /// (1, T, D) of the last layer. `norms` gets those that a vector passes on the way from attention n, in
    /// their order.
    TensorPtr walk(std::int64_t n, std::vector<PassedNorm>& norms) {
        const checkpoint::Architecture& a = run_.model().architecture();
        const std::int64_t last = attention_count(a) - 1;
        if (a.norms.after_branch)
            norms.push_back(
                {copy_of(*output(n, edited(n), run_.problem(n))), layer(n)[WeightId::norm1_after_weight]});
        // Where no norm stands on the stream, what happens between this attention and the last one changes
        // nothing for a vector.
        TensorPtr left;
        for (std::int64_t m = a.norms.after_sum ? n : last; m <= last; ++m) {
            cancel_.check();
            const Problem whole = run_.problem(m);
            after_attention_.reset();
            after_mlp_.reset();
            left = pass_.step(
                cpu_, m, run_.stream(m), whole.x_kv,
                [&](std::int64_t, const Problem& problem) { return output(m, problem, whole); }, cancel_);
            if (!a.norms.after_sum)
                continue;
            norms.push_back({std::move(*after_attention_), layer(m)[WeightId::norm1_weight]});
            if (after_mlp_)
                norms.push_back({std::move(*after_mlp_), layer(m)[WeightId::norm2_weight]});
        }
        return left;
    }

    /// Attention n with the run's edits.
    Problem edited(std::int64_t n) const {
        return with_edits(run_.problem(n), checkpoint::edits_of(run_.edits(), n));
    }

private:
    checkpoint::WeightSet layer(std::int64_t n) const {
        return with_edits(run_.model().layer(n), checkpoint::edits_of(run_.edits(), n));
    }

    /// (1, T, D): what an attention adds, b_O included.
    TensorPtr output(std::int64_t n, const Problem& problem, const Problem& whole) const {
        const TensorPtr values = values_of(problem, whole.cross() ? *whole.x_kv : *whole.x, cpu_, cancel_);
        const Tensor concat = outputs_of_heads(problem, *run_.weights(n), *values);
        return cpu_.multiply(concat, *problem.weights.W_O, problem.weights.b_O.get(), cancel_);
    }

    const checkpoint::ModelRun& run_;
    cpu::CpuDense& cpu_;
    const Progress& cancel_;
    checkpoint::ForwardPass pass_;
    std::optional<Tensor> after_attention_, after_mlp_;
};

} // namespace

Tensor source_map(const checkpoint::ModelRun& run, const LogitQuestion& question, std::int64_t attention,
                  std::int64_t head, const Progress& cancel) {
    LogitQuestion anywhere = question;
    anywhere.position = 0;
    require_logit(run, anywhere);
    require_unpatched(run);
    const checkpoint::Architecture& a = run.model().architecture();
    require_number(attention, attention_count(a), Numbered::attention);
    require_number(head, a.H, Numbered::head);
    if (attention_place(a, attention).stack == Stack::encoder)
        fail_input(tr("source_map.heads_encoder_write_no",
                      "heads of an encoder do not write to the logits; choose a head of the decoder"));
    cpu::CpuDense cpu;
    WayToTheEnd way(run, cpu, cancel);
    std::vector<PassedNorm> norms;
    const TensorPtr left = way.walk(attention, norms);
    const TableReading table = table_reading(run.model(), run.edits(), question);
    const std::int64_t T = left->shape()[1];
    Tensor directions(Shape{T, a.D});
    for (std::int64_t i = 0; i < T; ++i) {
        cancel.check();
        Tensor direction = logit_direction(run.model(), way.pass(), table,
                                           Tensor(Shape{1, 1, a.D}, row_of(*left, i)), cpu, cancel)
                               .direction;
        for (auto norm = norms.rbegin(); norm != norms.rend(); ++norm)
            FrozenNorm(row_of(norm->read, i), a.norm, norm->weight, a.norm_eps).turn_back(direction);
        std::ranges::copy(direction.values(), directions.data() + i * a.D);
    }

    const Problem problem = way.edited(attention);
    const TensorPtr values = values_of(problem, problem.cross() ? *problem.x_kv : *problem.x, cpu, cancel);
    return parts_by_source(problem, *run.weights(attention), *values, head, directions, 0);
}

} // namespace headscope::analysis
