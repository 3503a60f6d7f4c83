#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::analysis {

/// The mean of several heads' weights, row by row over those heads that read something there: a row of zeros
/// takes no part, so that rows of the mean sum to 1 where the heads' do. What is no finite number stays so.
class MeanWeights {
public:
    MeanWeights(std::int64_t Tq, std::int64_t Tk);

    /// One head, row-major (Tq, Tk).
    void add(std::span<const float> head);
    /// (Tq, Tk), rows of zeros where no head read anything.
    void write(std::span<float> to) const;

private:
    std::int64_t Tq_, Tk_;
    std::vector<double> sums_;          ///< (Tq, Tk)
    std::vector<std::int64_t> counted_; ///< Tq: heads that read something
};

} // namespace headscope::analysis
