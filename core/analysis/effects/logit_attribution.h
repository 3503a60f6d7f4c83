#pragma once

#include "core/analysis/effects/stream_writers.h"
#include "core/base/progress.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::analysis {

/// Whose logit, and from what it is counted.
struct LogitQuestion {
    enum class From : std::uint8_t {
        zero,
        token, ///< the logit of `against`
        mean   ///< the mean logit over the vocabulary
    };
    std::int64_t position = 0, token = 0;
    From from = From::mean;
    std::int64_t against = -1;
    bool sources = false; ///< whether each head is to be split by the token that it reads
    bool operator==(const LogitQuestion&) const = default;
};

/// A token's logit, or with `against` the difference of two.
inline LogitQuestion question_of(std::int64_t position, std::int64_t token,
                                 std::optional<std::int64_t> against) {
    return {.position = position,
            .token = token,
            .from = against ? LogitQuestion::From::token : LogitQuestion::From::zero,
            .against = against.value_or(-1)};
}

/// Throws Error(input) for a model without a head, for a token outside the vocabulary and a position outside
/// the text.
void require_logit(const checkpoint::ModelRun& run, const LogitQuestion& question);

/// What one writer of the residual stream adds to a logit.
struct LogitPart {
    Writer writer;
    double value = 0;
    std::vector<float> sources; ///< (Tk): the same by source token; empty unless asked for, and not of a head
};

struct LogitAttribution {
    double logit = 0;  ///< of the token, less what it is counted from; before a cap. The parts add up to it
    double capped = 0; ///< after the cap, where the model has one; else `logit`
    std::vector<LogitPart> parts; ///< in the order in which they are written
};

/// Direct logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): each
/// writer's vector c gives ((c - mean c) / sigma * gamma) . (u_t - u_s), with the run's own sigma of the
/// final norm and rows u of the output table; RMSNorm takes no mean off. Norms that stand on the stream or
/// behind a branch keep their scales as well. A head of a language model with a dense layer of its own is
/// held at each unit's share activation(z) / z. Throws what require_logit and require_one_stream throw;
/// Error(cancelled).
LogitAttribution logit_attribution(const checkpoint::ModelRun& run, const LogitQuestion& question,
                                   const Progress& cancel);

/// The sum of those parts that satisfy a condition.
template<class Condition>
double sum_of_parts(const LogitAttribution& attribution, const Condition& condition) {
    double sum = 0;
    for (const LogitPart& part : attribution.parts)
        sum += condition(part.writer) ? part.value : 0.0;
    return sum;
}

} // namespace headscope::analysis
