#pragma once

#include "core/trace/trace.h"

#include <span>
#include <string>
#include <vector>

namespace headscope::analysis {

/// What one head measurably does in a trace, averaged over query rows that may attend to something.
struct HeadMetrics {
    float entropy = 0;        ///< nats, of a row of weights; ln(Tk) when it reads all keys alike
    float largest = 0;        ///< the largest weight of a row
    float previous_token = 0; ///< weight on the token before; rows without one are left out
    float next_token = 0;     ///< weight on the token after
    float itself = 0;         ///< weight on the token itself
    float first_token = 0;    ///< weight on the first key, over rows other than the first
    double output_norm = 0;   ///< Frobenius norm of its contribution
    float output_share = 0;   ///< output_norm over the sum of all heads'
    std::string label;        ///< "previous token", "itself", ... when a score reaches 0.5, else ""
};

/// One entry per head of batch entry b. Needs weights; output_share needs contributions (else 0).
/// Position scores are 0 when Tq differs from Tk.
std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b);

/// The same of one head's weights alone, row-major (Tq, Tk); rows of zeros may attend to nothing.
HeadMetrics head_metrics(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk);
/// The same for a trace that an engine computed from one with metrics `before`: only heads that were computed
/// anew (Trace::computed) are measured.
std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b, std::vector<HeadMetrics> before);

} // namespace headscope::analysis
