#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/stacks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// The difference B - A of two lists of numbers, in double precision.
struct NumberDifference {
    double norm = 0;       ///< Frobenius norm of A
    double difference = 0; ///< Frobenius norm of B - A
    double largest = 0;    ///< the largest absolute difference of two numbers

    /// difference / norm, the relative Frobenius norm; 0 if nothing differs, nothing if A is 0 and B is not.
    std::optional<double> relative() const;
    /// The difference of both lists together.
    NumberDifference with(const NumberDifference& other) const;
};

/// One tensor of two checkpoints.
struct ParameterDifference {
    std::string name; ///< in the files
    std::vector<std::int64_t> extents;
    NumberDifference numbers;
};

/// One head of two checkpoints: its columns of W_Q, W_K and W_V and its rows of W_O. Query heads that share a
/// key/value head have the same W_K and W_V.
struct HeadDifference {
    checkpoint::AttentionPlace place;
    std::int64_t head = 0;
    NumberDifference W_Q, W_K, W_V, W_O;
    NumberDifference all() const { return W_Q.with(W_K).with(W_V).with(W_O); }
};

/// Compares the heads of attention n of a model with these sizes in two sets of its parameters.
std::vector<HeadDifference> head_differences(const checkpoint::ModelConfig& config, std::int64_t n,
                                             const checkpoint::WeightSet& a, const checkpoint::WeightSet& b);

/// Two checkpoints of one shape; both must outlive it. A is the base, and B the one that was trained from it.
class CheckpointPair {
public:
    /// Throws Error(input) that names the sizes or the tensors whose shapes differ.
    CheckpointPair(const checkpoint::Model& a, const checkpoint::Model& b);

    const checkpoint::Model& a() const { return a_; }
    const checkpoint::Model& b() const { return b_; }
    /// The names of the tensors that both have and that a run reads, in alphabetical order.
    const std::vector<std::string>& names() const { return names_; }
    /// The names of such tensors that only one has.
    const std::vector<std::string>& only_a() const { return only_a_; }
    const std::vector<std::string>& only_b() const { return only_b_; }

    /// Compares tensors() one after the other. Throws Error(input) for NaN or infinite numbers, and
    /// Error(cancelled).
    std::vector<ParameterDifference> tensors(Progress& progress) const;
    /// Compares the heads of all attentions, those of layers without attention left out. Throws likewise.
    std::vector<HeadDifference> heads(Progress& progress) const;
    /// Returns the edits that turn A into B. Throws Error(input) if a parameter differs that cannot be
    /// edited, if only one of the two has a parameter, or if a setting differs that changes the computation.
    checkpoint::ModelEdits edits(Progress& progress) const;

private:
    const checkpoint::Model &a_, &b_;
    std::vector<std::string> names_, only_a_, only_b_;
};

} // namespace headscope::analysis
