#pragma once

#include "core/attention/problem.h"
#include "core/trace/attention_set.h"
#include "core/trace/trace.h"

#include <string>
#include <vector>

namespace headscope::analysis {

/// The weights of one batch entry of a problem as a set of one layer without a number. Immutable; any thread
/// may use every member.
class TracedWeights final : public AttentionSet {
public:
    /// trace: of the problem, with the weights; b in [0, B).
    TracedWeights(const Problem& problem, const Trace& trace, std::int64_t b);

    const AttentionInfo& info() const override { return info_; }
    const std::vector<std::string>& query_tokens(std::int64_t) const override { return queries_; }
    const std::vector<std::string>& key_tokens(std::int64_t) const override {
        return info_.cross ? keys_ : queries_;
    }
    TensorPtr layer(std::int64_t) const override { return weights_; }
    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override;

private:
    AttentionInfo info_;
    std::vector<std::string> queries_, keys_;
    TensorPtr weights_; ///< (1, H, Tq, Tk)
};

} // namespace headscope::analysis
