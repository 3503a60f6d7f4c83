#pragma once

#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/head_parts.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// Who adds a vector to the residual stream.
struct Writer {
    enum class Kind : std::uint8_t {
        embedding,   ///< words and token types
        position,    ///< a learned or computed table of positions
        head,        ///< its rows of W_O times its output, gain included
        output_bias, ///< b_O
        mlp,
        delta, ///< a delta layer, in place of heads
        embedding_norm_bias,
        norm1_bias, ///< of norms that stand on the stream, or before a score
        norm2_bias,
        final_norm_bias,
        head_bias,      ///< what the language-model head adds to a logit whatever it reads
        projection_bias ///< b_Q and b_K of a score
    };
    Kind kind{};
    checkpoint::Stack stack = checkpoint::Stack::own; ///< of the attention
    std::int64_t layer = -1, head = -1;               ///< -1: it has none
    bool operator==(const Writer&) const = default;
    /// "embedding", "L0H3", "L0 mlp", "L0 delta", "L0 b_O", "final norm bias"; of a cross-attention "cross
    /// L0H3".
    std::string name() const;
};

/// The vectors whose sum the residual stream is at one position, up to some attention or to the end. All of
/// them are numbers of a run of the model's graph. A norm that replaces the residual stream, or that a branch
/// passes, has the scale that it had in the run, so that every vector passes it alone. Any thread may read
/// it.
class StreamWriters {
public:
    /// Up to what attention `until` reads before its norm (see stacks.h), or with attention_count up to what
    /// leaves the last layer, before the final norm. position: in [0, T). sources: whether by_source will be
    /// asked, for which the values of every layer are kept. Throws Error(cancelled), and what run::run
    /// throws.
    StreamWriters(const checkpoint::ModelRun& run, std::int64_t position, std::int64_t until, bool sources,
                  const Progress& cancel);
    /// The same for several positions, from one run. `positions` are not empty.
    static std::vector<StreamWriters> at(const checkpoint::ModelRun& run,
                                         const std::vector<std::int64_t>& positions, std::int64_t until,
                                         bool sources, const Progress& cancel);

    const std::vector<Writer>& writers() const { return writers_; }
    /// The D numbers of the stream.
    const std::vector<float>& stream() const { return stream_; }
    /// (writers, k): what each one's vector gives along each of the directions, (D, k), at the end.
    Tensor along(const Tensor& directions) const;
    /// For every writer that is a head the Tk parts of its number along one direction (D, 1), by the token
    /// that it reads from (Elhage et al. 2021: the sum over j of A[i,j] v_j W_O); nothing for other writers.
    std::vector<std::vector<float>> by_source(const Tensor& direction) const;

private:
    /// Vectors that are added, or a norm that all vectors before it pass.
    struct Step {
        std::size_t writer = 0;         ///< of the first row
        std::optional<Tensor> rows;     ///< (writers, D)
        std::optional<FrozenNorm> norm; ///< with rows: already applied to them, at the end of the branch
        std::optional<MixedValues> heads = {}; ///< whose the first H rows are
    };
    class Reading;
    StreamWriters(const Reading& run, std::int64_t position);
    void add(const std::vector<Writer>& writers, Tensor rows);
    void add_heads(const Reading& run, std::int64_t position, const graph::Node& attention);
    void pass_norm(const Reading& run, std::int64_t position, const graph::Node& norm);

    std::vector<Writer> writers_;
    std::vector<Step> steps_;
    std::vector<float> stream_;
};

} // namespace headscope::analysis
