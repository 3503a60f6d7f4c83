#include "core/analysis/effects/score_terms.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

namespace headscope::analysis {

namespace {

using Kind = Writer::Kind;
using DoubleRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DoubleRow = Eigen::RowVectorXd;

void check(const checkpoint::ModelRun& run, const ScoreQuestion& question) {
    const checkpoint::ModelConfig& a = run.model().config();
    require_direct_projections(run.model());
    require_one_stream(run.model());
    if (has_relative_terms(run.model()))
        fail_input(tr("score_terms.relative_terms",
                      "scores of this {} model have terms by relative position besides the product of query "
                      "and key, which cannot be split into residual stream components here; look at the "
                      "stages c2p and p2c",
                      a.family));
    require_number(question.attention, attention_count(a), Numbered::layer);
    if (attention_place(a, question.attention).stack != checkpoint::Stack::own ||
        question.attention < attention_number(a, {checkpoint::Stack::own, 0}))
        fail_input(tr("score_terms.score_taken_apart_writers",
                      "a score splits into residual stream components only where queries and keys read the "
                      "same residual stream; choose a decoder's self-attention or a model with one stack"));
    require_attention(a, attention_place(a, question.attention));
    require_number(question.head, a.H, Numbered::head);
    require_number(question.query, run.inputs().T, Numbered::position);
    require_number(question.key, run.inputs().T, Numbered::position);
}

DoubleRow floats(const TensorPtr& tensor, std::int64_t first, std::int64_t count) {
    return ConstRow(tensor->data() + first, count).cast<double>();
}

/// One side of a score: which weights make it, and of which head they are.
struct Side {
    const TensorPtr& W;
    const TensorPtr& b;
    const TensorPtr& norm;     ///< (dk)
    const TensorPtr& norm_all; ///< (heads dk)
    std::int64_t head, position;
};

/// What the writers wrote of one side.
struct WrittenSide {
    std::vector<Writer> writers;
    DoubleRows rows; ///< (writers, dk)
};

/// (writers, dk) before the rotation: what each writer's vector becomes in the head's queries or keys.
DoubleRows projected(const Problem& problem, const Side& side, const StreamWriters& stream,
                     const std::optional<FrozenNorm>& norm1, const TensorPtr& norm1_bias) {
    const Dims& d = problem.dims;
    const ConstRows W(side.W->data(), d.D, side.W->shape()[1]);
    const std::int64_t first = side.head * d.dk;
    Tensor columns(Shape{d.D, d.dk});
    MutableRows(columns.data(), d.D, d.dk) = W.middleCols(first, d.dk);
    if (norm1)
        norm1->turn_back(columns);
    const Tensor along = stream.along(std::move(columns));
    const std::int64_t written = along.shape()[0];
    DoubleRows rows(written + 2, d.dk);
    rows.topRows(written) = ConstRows(along.data(), written, d.dk).cast<double>();
    rows.row(written).setZero();
    if (norm1_bias != nullptr)
        rows.row(written) = floats(norm1_bias, 0, d.D) * W.middleCols(first, d.dk).cast<double>();
    rows.row(written + 1) = side.b == nullptr ? DoubleRow::Zero(d.dk) : floats(side.b, first, d.dk);
    if (const auto limit = static_cast<double>(problem.qkv_limit); limit != 0.0) {
        const DoubleRow sum = rows.colwise().sum();
        rows *= sum.unaryExpr([limit](double v) { return std::abs(v) > limit ? limit / std::abs(v) : 1.0; })
                    .asDiagonal();
    }
    if (side.norm == nullptr && side.norm_all == nullptr)
        return rows;
    DoubleRow normed = rows.colwise().sum();
    if (side.norm_all != nullptr) {
        normed = ConstRow(problem.x->data() + problem.x->offset(0, side.position, 0), d.D).cast<double>() *
                 W.cast<double>();
        if (side.b != nullptr)
            normed += floats(side.b, 0, normed.size());
    }
    const double scale = 1.0 / std::sqrt(normed.squaredNorm() / static_cast<double>(normed.size()) +
                                         static_cast<double>(problem.norm_eps));
    rows *= (scale * (side.norm != nullptr ? floats(side.norm, 0, d.dk) : floats(side.norm_all, first, d.dk)))
                .asDiagonal();
    return rows;
}

/// Each row turned to a position.
DoubleRows turned(const DoubleRows& rows, const Rotary& rotary, std::int64_t position) {
    const std::int64_t dk = rows.cols(), half = dk / 2;
    DoubleRows partner(rows.rows(), dk);
    partner << -rows.rightCols(half), rows.leftCols(half);
    const auto row = [&](const TensorPtr& table) { return floats(table, position * dk, dk); };
    return rows * row(rotary.cos).asDiagonal() + partner * row(rotary.sin).asDiagonal();
}

std::vector<RotationPair> pairs_of(const DoubleRow& q, const DoubleRow& k, const DoubleRow& q_turned,
                                   const DoubleRow& k_turned, const Rotary& rotary, double scale) {
    const std::int64_t half = q.size() / 2;
    const bool second = rotary.cos->shape()[1] > 1;
    std::vector<RotationPair> pairs;
    for (std::int64_t p = 0; p < half; ++p) {
        const auto of = [&](const DoubleRow& left, const DoubleRow& right) {
            return scale * (left[p] * right[p] + left[p + half] * right[p + half]);
        };
        // The angle of one token, which the table has between its first two positions.
        const auto angle_at = [&](std::int64_t position) {
            return std::atan2(static_cast<double>(rotary.sin->at(0, position, p)),
                              static_cast<double>(rotary.cos->at(0, position, p)));
        };
        const double angle = second ? angle_at(1) - angle_at(0) : 0.0;
        pairs.push_back({of(q_turned, k_turned), of(q, k),
                         angle == 0.0 ? 0.0 : 2.0 * std::numbers::pi / std::abs(angle)});
    }
    return pairs;
}

} // namespace

ScoreTerms score_terms(const checkpoint::ModelRun& run, const ScoreQuestion& question,
                       const Progress& cancel) {
    check(run, question);
    const checkpoint::ModelConfig& a = run.model().config();
    const checkpoint::AttentionPlace place = attention_place(a, question.attention);
    const checkpoint::LayerEdits* const edits = checkpoint::edits_of(run.edits(), question.attention);
    const Problem problem = with_edits(run.problem(question.attention), edits);
    const checkpoint::WeightSet weights = with_edits(run.model().layer(question.attention), edits);
    const bool has_norm = run.model().stages().has_norm_before(place);
    const Weights& w = problem.weights;
    const Dims& d = problem.dims;
    const std::vector<StreamWriters> streams =
        StreamWriters::at(run, {question.query, question.key}, question.attention, false, cancel);
    const auto side = [&](const Side& of, const StreamWriters& stream) {
        std::vector<Writer> writers = stream.writers();
        writers.push_back({Kind::norm1_bias, place.stack, place.layer, -1});
        writers.push_back({.kind = Kind::projection_bias});
        std::optional<FrozenNorm> norm1;
        if (has_norm) {
            const Tensor& x = *run.stream(question.attention);
            norm1.emplace(x.values().subspan(static_cast<std::size_t>(of.position * d.D),
                                             static_cast<std::size_t>(d.D)),
                          *run.model().stages().norm(place, TensorId::norm1),
                          weights[TensorId::norm1_weight]);
        }
        return WrittenSide{std::move(writers), projected(problem, of, stream, norm1,
                                                         has_norm ? weights[TensorId::norm1_bias] : nullptr)};
    };
    const WrittenSide at_query =
        side({w.W_Q, w.b_Q, w.q_norm, w.q_norm_all, question.head, question.query}, streams[0]);
    const WrittenSide at_key =
        side({w.W_K, w.b_K, w.k_norm, w.k_norm_all, d.kv_head(question.head), question.key}, streams[1]);
    DoubleRows q = at_query.rows;
    if (problem.query_scale != nullptr)
        q *= static_cast<double>(problem.query_scale->values()[static_cast<std::size_t>(question.query)]);
    const DoubleRows& k = at_key.rows;
    ScoreTerms out;
    out.writers = at_query.writers;
    out.scale = 1.0 / (std::sqrt(static_cast<double>(d.dk)) * static_cast<double>(problem.temperature));
    const DoubleRows left = problem.rotary ? turned(q, *problem.rotary, question.query) : q,
                     right = problem.rotary ? turned(k, *problem.rotary, question.key) : k;
    const DoubleRows terms = out.scale * left * right.transpose();
    out.scaled = terms.sum();
    out.capped = out.scaled;
    if (const auto cap = static_cast<double>(problem.score_cap); cap != 0.0)
        out.capped = cap * std::tanh(out.scaled / cap);
    if (problem.rotary)
        out.pairs = pairs_of(q.colwise().sum(), k.colwise().sum(), left.colwise().sum(),
                             right.colwise().sum(), *problem.rotary, out.scale);
    // Biases that the model does not have are no writers.
    std::vector<std::int64_t> kept;
    for (std::int64_t n = 0; n < terms.rows(); ++n)
        if (n + 2 < terms.rows() || !q.row(n).isZero(0.0) || !k.row(n).isZero(0.0))
            kept.push_back(n);
    std::vector<Writer> writers;
    std::ranges::transform(kept, std::back_inserter(writers),
                           [&](std::int64_t n) { return out.writers[static_cast<std::size_t>(n)]; });
    out.writers = std::move(writers);
    out.terms = Tensor(Shape{std::ssize(kept), std::ssize(kept)});
    MutableRows(out.terms.data(), std::ssize(kept), std::ssize(kept)) = terms(kept, kept).cast<float>();
    return out;
}

} // namespace headscope::analysis
