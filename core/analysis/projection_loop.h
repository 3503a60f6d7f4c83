#pragma once

#include "core/attention/problem.h"

#include <string>
#include <vector>

namespace headscope::analysis {

/// One projection of X made in two ways: a small product for each head, and one product whose columns are
/// dealt out afterwards.
struct ProjectionPair {
    TensorId whole = TensorId::q; ///< q, k or v
    std::int64_t heads = 0;       ///< H, or Hkv for keys and values
    Shape x;                      ///< (T, D) of batch entry 0
    Shape slice;                  ///< one head's columns of the matrix
    Shape matrix;                 ///< all of them
    double difference = 0;        ///< the largest absolute one between the two results, head by head
    /// The same against a view straight to (heads, T, width), which forgets the transpose.
    double without_transpose = 0;
};

/// Computes Q, K and V of batch entry 0 by a loop over heads and by one product each, and compares.
std::vector<ProjectionPair> compare_projections(const Problem& problem);

} // namespace headscope::analysis
