#pragma once

#include "core/base/progress.h"
#include "core/engine/cpu/head_scores.h"

#include <cstdint>
#include <vector>

namespace headscope::cpu {

/// scores computed together; a multiple of every kernel's panel width
constexpr std::int64_t keys_at_once = 512;

/// One pass over the keys for a block of query rows of one head. The keys are divided into runs of `cells`
/// keys; the pass finds the softmax of every row, and the sum and the largest of its weights in each run. The
/// scores are never all in memory at once: sums are relative to the largest score so far and corrected when a
/// larger one follows (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"). The memory
/// is reused from block to block. For one thread.
class RowRuns {
public:
    static constexpr std::int64_t numbers = 3; ///< stored for each run of each row

    /// Reads rows [first, first + rows). Throws what HeadScores::compute throws, Error(input) for a masked
    /// score of plus infinity, Error(cancelled).
    void read(const HeadScores& scores, std::int64_t first, std::int64_t rows, std::int64_t cells,
              const Progress& cancel);

    /// The softmax of each row that was read.
    const RowSoftmax* softmax() const { return softmax_.data(); }
    /// Raises largest[p] to the largest weight of row r in run p. Call once for each row.
    void add_largest(std::int64_t r, float* largest);
    /// Adds the sum of the weights of row r in run p to sums[p]. Call once for each row.
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
