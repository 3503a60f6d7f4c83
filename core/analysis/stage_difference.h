#pragma once

#include "core/trace/trace.h"

#include <span>
#include <vector>

namespace headscope::analysis {

/// How far two numbers lie apart. Equal infinities are 0 apart; anything else that is not finite is
/// infinitely far.
double cell_distance(float a, float b);

/// The largest of the absolute values that are finite; 0 when none is.
double largest_finite(std::span<const float> values);

/// The cell of a stage in which two traces differ most.
struct StageDifference {
    TensorId stage;
    double largest = 0;   ///< cell_distance of that cell
    Index at{};           ///< its address
    double magnitude = 0; ///< largest_finite of the first trace's stage, to compare with
};

/// For every stage that both traces of one problem hold, in the order of the stages. Throws Error(internal)
/// when their shapes differ.
std::vector<StageDifference> stage_differences(const Trace& a, const Trace& b);

} // namespace headscope::analysis
