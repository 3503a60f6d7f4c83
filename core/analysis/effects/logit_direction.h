#pragma once

#include "core/checkpoint/run/from_rows.h"
#include "core/checkpoint/run/model_run.h"

#include <memory>
#include <optional>
#include <string>
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
    TensorPtr head_in;                ///< (1, 1, d_embed): what the output table multiplies at the position
    Tensor direction;                 ///< (D, 1): before the final norm
    std::optional<double> final_bias; ///< what the final norm's bias adds; none: the norm has no bias
    double bias = 0;                  ///< what the head adds, whatever it reads
};

/// Behind the last layer of a run: from what it leaves at one position to the logits. For one thread at a
/// time.
class LogitDirections {
public:
    explicit LogitDirections(const checkpoint::ModelRun& run);

    /// left: (1, 1, D), what the last layer leaves at the position. A head with a dense layer of its own is
    /// held at each unit's share activation(z) / z. Throws Error(cancelled).
    LogitDirection of(const TableReading& table, const Tensor& left, const Progress& cancel);
    /// (1, 1, vocab): the logits there. Throws likewise.
    TensorPtr logits(const Tensor& left, const Progress& cancel);

private:
    const checkpoint::ModelRun& run_;
    std::shared_ptr<checkpoint::Workshop> workshop_ = std::make_shared<checkpoint::Workshop>();
    checkpoint::FromRows end_, logits_;
};

} // namespace headscope::analysis
