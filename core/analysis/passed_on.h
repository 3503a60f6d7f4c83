#pragma once

#include "core/base/progress.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace headscope::analysis {

/// What all layers up to one pass on together, from input tokens to rows of that layer (Abnar and Zuidema
/// 2020, section 3). Of layer l the mean over heads, A_l, is mixed with the row's own input:
/// M_l = (A_l + I), each row divided by its sum.
///
/// Rollout: R_l = M_l R_{l-1}, R_0 = M_0. Flow: the largest flow from row i of layer l down to input token j,
/// through edges from (l, i) to (l - 1, k) of capacity M_l[i, k]; each row is divided by its sum, as the
/// authors' code does. Both take heads for equal and leave out values, norms, MLPs and how large a residual
/// is beside what is added to it.
///
/// Keeps M and R of the layers it was asked for. Any thread may use every member; one at a time works.
class PassedOn {
public:
    /// The most tokens whose flow is computed: each pair of them is a flow of its own.
    static constexpr std::int64_t most_flow_tokens = 64;
    /// Gives the mean over heads of layer l, (T, T) row by row; rows of zeros where nothing is read.
    using MeanOf = std::function<void(std::int64_t l, std::span<float> to)>;

    PassedOn(std::int64_t T, MeanOf mean_of) : T_(T), mean_of_(std::move(mean_of)) {}

    /// (T, T), rows with a sum of 1. Throws what MeanOf throws.
    void rollout(std::int64_t l, std::span<float> to);
    /// Likewise; T at most most_flow_tokens. `stop`, where given, ends it with Error(cancelled).
    void flow(std::int64_t l, std::span<float> to, const Progress* stop);

private:
    using Numbers = std::vector<float>; ///< (T, T)

    const Numbers& mixed(std::int64_t l);

    std::int64_t T_;
    MeanOf mean_of_;
    std::mutex mutex_;
    std::vector<Numbers> mixed_, rolled_; ///< by layer
};

} // namespace headscope::analysis
