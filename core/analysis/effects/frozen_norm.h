#pragma once

#include "core/checkpoint/graph/model_stages.h"
#include "core/graph/node.h"
#include "core/tensor/tensor.h"

#include <span>

namespace headscope::analysis {

/// A norm at one row with the scale that the row had in a run, so that it is linear (Elhage et al. 2021):
/// c becomes (c - mean c) * scale * weight, without the mean for RMSNorm. The norm's bias is not part of it.
class FrozenNorm {
public:
    /// x: the D numbers that the norm read. weight: (D), or null for ones.
    FrozenNorm(std::span<const float> x, const checkpoint::NormOfRows& norm, TensorPtr weight);

    /// The same for a norm of a graph, or a constant factor instead of one: c becomes c * factor, and x and
    /// weight are not read.
    static FrozenNorm of(const graph::Node& node, std::span<const float> x, TensorPtr weight);

    /// rows: (n, D), in place.
    void apply(Tensor& rows) const;
    /// directions: (D, k), in place: afterwards c · direction is what apply(c) · direction was.
    void turn_back(Tensor& directions) const;

private:
    explicit FrozenNorm(double scale) : scale_(scale) {}

    bool centered_ = false;
    double scale_;
    TensorPtr weight_;
};

/// rows: multiplied by the factor, in place.
void scale_by(Tensor& rows, double factor);

/// Takes each row of `rows` (T, D) through a norm at the scale that the same row of `read`, (B 1, T, D), had
/// in a run. weight: (D), or null for ones.
void pass_norm(Tensor& rows, const Tensor& read, const checkpoint::NormOfRows& norm, const TensorPtr& weight);

} // namespace headscope::analysis
