#pragma once

#include "core/base/progress.h"
#include "core/engine/cpu/head_scores.h"

#include <cstdint>
#include <vector>

namespace headscope::cpu {

constexpr std::int64_t keys_at_once = 512; ///< whose scores are made together; whole panels of all kernels

/// One pass over the keys for a block of query rows of one head. The keys are divided into runs of `cells`
/// keys each; for every row it finds the softmax, and what its weights in each run add up to and are at most.
/// The scores themselves are never held together: sums are taken against the largest score so far and
/// corrected once a larger one comes (Milakov and Gimelshein 2018, "Online normalizer calculation for
/// softmax"). The memory is kept from one block to the next. For one thread.
class RowRuns {
public:
    static constexpr std::int64_t numbers = 3; ///< kept for each run of each row

    /// Reads rows [first, first + rows). Throws what HeadScores::compute throws, Error(input) for a masked
    /// score of plus infinity, Error(cancelled).
    void read(const HeadScores& scores, std::int64_t first, std::int64_t rows, std::int64_t cells,
              const Progress& cancel);

    /// One for each row that was read.
    const RowSoftmax* softmax() const { return softmax_.data(); }
    /// largest[p] becomes the largest weight of row r in run p where that is larger. Once for each row.
    void add_largest(std::int64_t r, float* largest);
    /// Adds the sum of the weights of row r in run p to sums[p]. Once for each row.
    void add_sums(std::int64_t r, double* sums);

private:
    struct Row {
        float largest = no_score;
        double sum = 0;                  ///< of exp(score - largest)
        std::int64_t begin = 0, end = 0; ///< keys outside are not allowed
    };
    void read_row(std::int64_t r, float* scores_of_row, std::int64_t col, std::int64_t end);
    std::size_t at(std::int64_t r, std::int64_t run) const {
        return static_cast<std::size_t>(r * runs_ + run);
    }

    const Kernels* kernels_ = nullptr;
    std::int64_t cells_ = 1, runs_ = 0;
    std::vector<float> tile_;
    std::vector<Row> rows_;
    std::vector<RowSoftmax> softmax_;
    /// (rows, runs): the largest score, the sum of exp(score - reference), and the reference.
    std::vector<float> largest_, sums_, references_;
};

} // namespace headscope::cpu
