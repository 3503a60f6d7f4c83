#pragma once

#include "core/checkpoint/run/forward_pass.h"
#include "core/engine/cpu/dense.h"

#include <optional>
#include <vector>

namespace headscope::analysis {

struct LogitQuestion;

/// The logit that a question means as a linear function of what the output table multiplies, x of D numbers:
/// direction . x + bias.
struct TableReading {
    std::vector<double> direction;
    double bias = 0;

    double of(const Tensor& x) const;
};
TableReading table_reading(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                           const LogitQuestion& question);

/// The same logit at one position as a linear function of what the last layer leaves there, norms held at
/// their scale.
struct LogitDirection {
    TensorPtr head_in;                ///< (1, 1, D): what the output table multiplies at the position
    Tensor direction;                 ///< (D, 1): before the final norm
    std::optional<double> final_bias; ///< what the final norm's bias adds; none: the norm has no bias
    double bias = 0;                  ///< what the head adds, whatever it reads
};

/// left: (1, 1, D), what the last layer leaves at the position. A head with a dense layer of its own is held
/// at each unit's share activation(z) / z. Throws Error(cancelled).
LogitDirection logit_direction(const checkpoint::Model& model, const checkpoint::ForwardPass& pass,
                               const TableReading& table, const Tensor& left, cpu::CpuDense& cpu,
                               const Progress& cancel);

} // namespace headscope::analysis
