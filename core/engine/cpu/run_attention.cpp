#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/cpu/run.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

namespace headscope::cpu {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr std::int64_t most_rows = 48;             ///< of a tile
constexpr std::int64_t scores_in_cache = 96 << 10; ///< numbers; a tile of scores fits into the L2 cache
constexpr std::int64_t keys_in_cache = 256;        ///< keys per block of values while they are summed
/// bytes of weights from which stores bypass the caches
constexpr std::size_t cache_bypass_bytes = std::size_t{8} << 20;

/// The number of rows of a tile: tiles of about equal size, in multiples of the kernels' rows.
std::int64_t tile_rows(const Kernels& kernels, std::int64_t Tq, std::int64_t key_stride) {
    const std::int64_t most = std::clamp(scores_in_cache / key_stride, kernels.rows, most_rows);
    const std::int64_t tiles = (Tq + most - 1) / most, rows = (Tq + tiles - 1) / tiles;
    return std::min(Tq, (rows + kernels.rows - 1) / kernels.rows * kernels.rows);
}

} // namespace

StageSet steps_up_to(TensorId last) {
    using enum TensorId;
    StageSet steps;
    for (const TensorId step : {scores, scaled, masked, weights, head_out, concat, contributions}) {
        steps = steps.with(step);
        if (step == last)
            break;
    }
    return steps;
}

void CpuRun::store_rows(TensorId id, const Tile& tile, const float* rows, std::int64_t stride) {
    if (!is_stored(id, tile.h))
        return;
    Tensor& tensor = *own(id);
    const std::int64_t cols = tensor.shape()[3];
    for (std::int64_t r = 0; r < tile.rows; ++r)
        std::copy_n(rows + r * stride, cols, row_of(tensor, tile, r));
}

/// Loads rows of the previous trace as the starting point.
void CpuRun::load_rows(TensorId id, const Tile& tile, float* rows, std::int64_t stride) const {
    const Tensor& tensor = *previous_->stage(id);
    const std::int64_t cols = tensor.shape()[3];
    for (std::int64_t r = 0; r < tile.rows; ++r)
        std::copy_n(tensor.data() + tensor.offset(tile.b, tile.h, tile.first + r, 0), cols,
                    rows + r * stride);
}

/// Computes scores of all keys if they are stored, else of the keys that a row of the tile may attend to.
/// Scores that are not stored are scaled at once.
void CpuRun::score(const Tile& tile, Scratch& scratch) {
    using enum TensorId;
    const bool all = is_stored(scores, tile.h) || is_stored(scaled, tile.h);
    const std::int64_t begin = all ? 0 : tile.begin / kernels_.panel * kernels_.panel;
    const std::int64_t end = all ? key_stride_ : whole_panels(kernels_, tile.end);
    const Block Q = queries(tile.b, tile.h, tile.first, tile.rows);
    for (std::int64_t r = 0; r < tile.rows; ++r)
        std::copy_n(Q.data + r * Q.stride, d_.dk, scratch.queries + r * d_.dk);
    Product product{.A = scratch.queries,
                    .A_stride = d_.dk,
                    .B = packed_.keys(tile.b * d_.Hkv + d_.kv_head(tile.h)) + begin * d_.dk,
                    .B_stride = kernels_.panel,
                    .panel_stride = kernels_.panel * d_.dk,
                    .C = scratch.scores + begin,
                    .C_stride = key_stride_,
                    .rows = tile.rows,
                    .depth = d_.dk,
                    .cols = end - begin};
    product.factor = is_stored(scores, tile.h) ? 1.0F : factor_;
    if (product.cols > 0 && !kernels_.multiply(product))
        fail_scores(tile, scratch.scores);
    store_rows(scores, tile, scratch.scores, key_stride_);
}

/// Adds the mask. Stored scores of masked keys become minus infinity; the softmax reads only allowed keys.
void CpuRun::apply_masks(const Tile& tile, Scratch& scratch) {
    for (std::int64_t r = 0; r < tile.rows && !mask_.empty(); ++r) {
        const MaskRow mask = mask_.row(tile.b, tile.h, tile.first + r);
        float* const s = scratch.scores + r * key_stride_;
        if (mask.add != nullptr)
            for (std::int64_t j = mask.begin; j < mask.end; ++j)
                s[j] += mask.add[j];
        if (mask.allowed != nullptr)
            for (std::int64_t j = mask.begin; j < mask.end; ++j)
                s[j] = mask.allowed[j] == 0 ? minus_infinity : s[j];
        if (is_stored(TensorId::masked, tile.h)) {
            std::fill(s, s + mask.begin, minus_infinity);
            std::fill(s + mask.end, s + d_.Tk, minus_infinity);
        }
    }
    store_rows(TensorId::masked, tile, scratch.scores, key_stride_);
}

/// Works in place on the allowed keys. Subtracting the largest score prevents exp from overflowing.
void CpuRun::softmax(const Tile& tile, Scratch& scratch) {
    Tensor* const kept = is_stored(TensorId::weights, tile.h) ? own(TensorId::weights).get() : nullptr;
    const bool bypass_caches =
        kept != nullptr && static_cast<std::size_t>(kept->count()) * sizeof(float) >= cache_bypass_bytes;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
        const std::int64_t i = tile.first + r;
        const MaskRow mask = mask_.row(tile.b, tile.h, i);
        float* const s = scratch.scores + r * key_stride_;
        float* const out = kept == nullptr ? nullptr : row_of(*kept, tile, r);
        const std::int64_t count = mask.end - mask.begin;
        float largest = kernels_.largest(s + mask.begin, count);
        if (largest == -minus_infinity)
            engine::fail_row(tr("common.masked_score_key", "the masked score of key {}",
                                std::max_element(s, s + mask.end) - s),
                             d_, tile.b, tile.h, i,
                             tr("common.make_additive_mask_smaller", "make the additive mask smaller"));
        if (largest == minus_infinity) {
            scratch.fully_masked.push_back({tile.b, tile.h, i});
            std::fill(s + tile.begin, s + tile.end, 0.0F);
            if (out != nullptr)
                std::fill_n(out, d_.Tk, 0.0F);
        } else {
            const float sink =
                parts_.sink ? problem_.weights.sink->at(tile.h) : minus_infinity; // exp of it adds 0
            largest = std::max(largest, sink);
            const float factor =
                1.0F / (kernels_.exponentials(s + mask.begin, count, largest) + std::exp(sink - largest));
            std::fill(s + tile.begin, s + mask.begin, 0.0F);
            std::fill(s + mask.end, s + tile.end, 0.0F);
            if (out != nullptr) {
                std::fill(out, out + mask.begin, 0.0F);
                std::fill(out + mask.end, out + d_.Tk, 0.0F);
            }
            kernels_.scale_row(s + mask.begin, count, factor, out == nullptr ? nullptr : out + mask.begin,
                               bypass_caches);
        }
    }
}

/// A block of values stays in the L1 cache while all rows of the tile read it.
void CpuRun::sum_values(const Tile& tile, Scratch& scratch) {
    if (tile.begin == tile.end)
        std::fill_n(scratch.out, tile.rows * d_.dv, 0.0F);
    Product product{.A = nullptr,
                    .A_stride = key_stride_,
                    .B = nullptr,
                    .B_stride = kernels_.panel,
                    .panel_stride = kernels_.panel * packed_.capacity,
                    .C = scratch.out,
                    .C_stride = d_.dv,
                    .rows = tile.rows,
                    .cols = d_.dv};
    const float* const V = packed_.values(tile.b * d_.Hkv + d_.kv_head(tile.h));
    bool finite = true;
    for (std::int64_t j = tile.begin; j < tile.end; j += keys_in_cache) {
        product.A = scratch.scores + j;
        product.B = V + j * kernels_.panel;
        product.depth = std::min(keys_in_cache, tile.end - j);
        product.accumulate = j > tile.begin;
        product.last = j + product.depth == tile.end;
        finite = kernels_.multiply(product);
    }
    if (!finite)
        fail_rows(tile, scratch.out, d_.dv, tr("common.output", "the output"),
                  tr("common.make_x_w_v", "make X, W_V or the head gain smaller"));
    store_rows(TensorId::head_out, tile, scratch.out, d_.dv);
}

/// Multiplies the head's output by its gain, copies it to its columns of the concatenation, and multiplies it
/// by its rows of W_O.
void CpuRun::write_head_output(const Tile& tile, Scratch& scratch) {
    using enum TensorId;
    if (const float times = problem_.gain(tile.h); times != 1.0F) {
        bool finite = true;
        for (std::int64_t n = 0; n < tile.rows * d_.dv; ++n) {
            scratch.out[n] *= times;
            finite = finite && std::isfinite(scratch.out[n]);
        }
        if (!finite)
            fail_rows(tile, scratch.out, d_.dv, tr("common.output", "the output"),
                      tr("common.make_x_w_v", "make X, W_V or the head gain smaller"));
    }
    if (dirty_.has(concat, tile.h) && own(concat) != nullptr)
        for (std::int64_t r = 0; r < tile.rows; ++r)
            std::copy_n(scratch.out + r * d_.dv, d_.dv,
                        own(concat)->data() + own(concat)->offset(tile.b, tile.first + r, tile.h * d_.dv));
    if (is_stored(contributions, tile.h)) {
        float* const rows = row_of(*own(contributions), tile, 0);
        const Block W{problem_.weights.W_O->data() + tile.h * d_.dv * d_.D, d_.D, d_.dv, d_.D};
        if (!multiply_block(kernels_, {scratch.out, d_.dv, tile.rows, d_.dv}, W, nullptr, rows, d_.D,
                            scratch.panels))
            fail_rows(tile, rows, d_.D, tr("common.contribution", "the contribution"),
                      tr("common.make_x_w_v_2", "make X, W_V, W_O or the head gain smaller"));
    }
}

/// The dirty stages are the end of the chain scores, scaled, masked, weights, head_out, concat and
/// contributions; the first of them reads its input from the previous trace.
void CpuRun::attend(const Tile& tile, Scratch& scratch) {
    using enum TensorId;
    const auto is_dirty = [&](TensorId id) { return dirty_.has(id, tile.h); };
    float* const s = scratch.scores;
    if (is_dirty(scores))
        score(tile, scratch);
    if (is_dirty(scaled)) {
        if (!is_dirty(scores))
            load_rows(scores, tile, s, key_stride_);
        if (!is_dirty(scores) || is_stored(scores, tile.h)) {
            bool finite = true;
            for (std::int64_t r = 0; r < tile.rows; ++r)
                for (float& score : std::span(s + r * key_stride_, static_cast<std::size_t>(d_.Tk))) {
                    score *= factor_;
                    finite = finite && std::isfinite(score);
                }
            if (!finite)
                fail_scores(tile, s);
        }
        if (parts_.soft_cap)
            for (std::int64_t r = 0; r < tile.rows; ++r)
                cap_scores({s + r * key_stride_, static_cast<std::size_t>(d_.Tk)}, problem_.score_cap);
        store_rows(scaled, tile, s, key_stride_);
    }
    if (is_dirty(masked)) {
        if (!is_dirty(scaled))
            load_rows(scaled, tile, s, key_stride_);
        apply_masks(tile, scratch);
    }
    if (is_dirty(weights)) {
        if (!is_dirty(masked))
            load_rows(masked, tile, s, key_stride_);
        softmax(tile, scratch);
    }
    if (is_dirty(head_out)) {
        if (!is_dirty(weights))
            load_rows(weights, tile, s, key_stride_);
        sum_values(tile, scratch);
    } else if (previous_ != nullptr) {
        load_rows(head_out, tile, scratch.out, d_.dv);
    } else {
        return; // a part of an earlier stage
    }
    write_head_output(tile, scratch);
}

/// Computes all per-head, per-row stages, from the scores on.
void CpuRun::attend_all(Trace& trace) {
    using enum TensorId;
    for (const TensorId id : {scores, scaled, masked, weights, head_out, concat, contributions})
        if ((wants(id) || (id == concat && wants(output))) && stages_.has(id))
            make(id);
    std::vector<std::int64_t>& heads = machine_.heads;
    heads.clear();
    const StageSet chain = steps_up_to(contributions);
    for (std::int64_t h = 0; h < d_.H; ++h)
        if (!(dirty_.heads[static_cast<std::size_t>(h)] & chain).empty())
            heads.push_back(h);
    const auto count = static_cast<std::int64_t>(heads.size());
    const std::int64_t rows = tile_rows(kernels_, part_.rows, key_stride_),
                       tiles = (part_.rows + rows - 1) / rows;
    const std::int64_t tasks = part_.batches * count * tiles;
    const std::int64_t flops = 2 * part_.batches * count * effective_rows(part_.rows) *
                               (d_.Tk * (d_.dk + d_.dv) + (wants(contributions) ? d_.dv * d_.D : 0));
    const auto rounded = [](std::int64_t numbers) { return (numbers + 15) / 16 * 16; };
    const std::int64_t score_space = rows * key_stride_, query_space = rounded(rows * d_.dk),
                       out_space = rounded(rows * d_.dv);
    const std::int64_t space = rounded(score_space) + query_space + out_space + pack_scratch_size(kernels_);
    float* const memory = machine_.scratch_for(space);
    std::vector<Scratch> scratch;
    scratch.reserve(static_cast<std::size_t>(machine_.pool.threads()));
    for (int worker = 0; worker < machine_.pool.threads(); ++worker) {
        float* const at = memory + worker * space;
        float* const q_at = at + rounded(score_space);
        scratch.push_back({at, q_at, q_at + query_space, q_at + query_space + out_space, {}});
    }
    std::atomic<std::int64_t> done{0};
    for_tasks(tasks, flops, [&](std::int64_t task, int worker) {
        const std::int64_t begun = task % tiles * rows, first = part_.row + begun, head = task / tiles;
        Tile tile{.b = part_.b + head / count,
                  .h = heads[static_cast<std::size_t>(head % count)],
                  .first = first,
                  .rows = std::min(rows, part_.rows - begun),
                  .begin = d_.Tk,
                  .end = 0};
        for (std::int64_t r = 0; r < tile.rows; ++r) {
            const MaskRow mask = mask_.row(tile.b, tile.h, first + r);
            if (mask.begin < mask.end) {
                tile.begin = std::min(tile.begin, mask.begin);
                tile.end = std::max(tile.end, mask.end);
            }
        }
        tile.begin = std::min(tile.begin, tile.end);
        attend(tile, scratch[static_cast<std::size_t>(worker)]);
        progress_.report(static_cast<float>(++done) / static_cast<float>(tasks));
    });
    if (previous_ != nullptr)
        std::ranges::copy_if(previous_->fully_masked, std::back_inserter(trace.fully_masked),
                             [this](const MaskedRow& row) { return !dirty_.has(weights, row.h); });
    for (const Scratch& s : scratch)
        trace.fully_masked.insert(trace.fully_masked.end(), s.fully_masked.begin(), s.fully_masked.end());
    std::ranges::sort(trace.fully_masked, {}, [](const MaskedRow& r) { return std::tuple(r.b, r.h, r.i); });
}

void CpuRun::fail_rows(const Tile& tile, const float* rows, std::int64_t cols, const std::string& what,
                       const std::string& remedy) const {
    const float* const bad =
        std::find_if(rows, rows + tile.rows * cols, [](float v) { return !std::isfinite(v); });
    engine::fail_row(what, d_, tile.b, tile.h, tile.first + (bad - rows) / cols, remedy);
}

/// rows: a tile of scores, scaled or not.
void CpuRun::fail_scores(const Tile& tile, const float* rows) const {
    for (std::int64_t r = 0; r < tile.rows; ++r)
        for (std::int64_t j = 0; j < d_.Tk; ++j) {
            if (std::isfinite(rows[r * key_stride_ + j]))
                continue;
            const Block Q = queries(tile.b, tile.h, tile.first + r, 1);
            const float* const K = packed_.keys(tile.b * d_.Hkv + d_.kv_head(tile.h)) +
                                   j / kernels_.panel * kernels_.panel * d_.dk + j % kernels_.panel;
            float score = 0;
            for (std::int64_t c = 0; c < d_.dk; ++c)
                score = std::fma(Q.data[c], K[c * kernels_.panel], score);
            const bool by_temperature = std::isfinite(score);
            engine::fail_row(tr("common.score_key", "the score of key {}", j), d_, tile.b, tile.h,
                             tile.first + r,
                             by_temperature ? tr("common.raise_temperature_make_x",
                                                 "raise the temperature, or make X, W_Q or W_K smaller")
                                            : tr("common.make_x_w_q", "make X, W_Q or W_K smaller"));
        }
    throw Error(ErrorKind::internal, "a score was called not finite, but is");
}

} // namespace headscope::cpu
