#include "core/engine/cpu/rows/attention_rows.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <atomic>
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

/// The memory of one worker for a tile of query rows.
struct Scratch {
    float *scores, *queries, *out, *panels;
    std::vector<MaskedRow> fully_masked;
};

struct Tile {
    std::int64_t b, h, first, rows;
    std::int64_t begin, end; ///< keys outside are not allowed for any of the rows
};

/// One run over all tiles.
class AttentionRun {
public:
    AttentionRun(const AttentionRows& in, CpuMachine& machine, Progress& progress)
        : in_(in), d_(in.dims), machine_(machine), progress_(progress),
          key_stride_(whole_panels(kernels_, d_.Tk)) {}

    void compute(std::vector<MaskedRow>& fully_masked);

private:
    bool computes(RowStage stage, std::int64_t head) const {
        return has_stage(in_.computed[static_cast<std::size_t>(head)], stage);
    }
    Tensor* stored(RowStage stage) const { return in_.stored[static_cast<std::size_t>(stage)]; }
    const RowPart& stored_part(RowStage stage) const {
        const std::optional<RowPart>& part = in_.stored_parts[static_cast<std::size_t>(stage)];
        return part ? *part : in_.part;
    }
    /// The rows of the tile, from its first one, that the result of a stage has.
    struct RowRange {
        std::int64_t first, end;
    };
    RowRange stored_rows(RowStage stage, const Tile& tile) const {
        const RowPart& part = stored_part(stage);
        return {std::max<std::int64_t>(part.row - tile.first, 0),
                std::min(part.row + part.rows - tile.first, tile.rows)};
    }
    bool is_stored(RowStage stage, const Tile& tile) const {
        if (stored(stage) == nullptr || !computes(stage, tile.h))
            return false;
        const RowPart& part = stored_part(stage);
        const RowRange rows = stored_rows(stage, tile);
        return tile.b >= part.b && tile.b < part.b + part.batches && tile.h >= part.h &&
               tile.h < part.h + part.heads && rows.first < rows.end;
    }
    void attend(const Tile& tile, Scratch& scratch);
    void score(const Tile& tile, Scratch& scratch);
    bool add_terms(const Tile& tile, float* scores) const;
    bool has_terms() const { return in_.terms[0] != nullptr; }
    void scale(const Tile& tile, Scratch& scratch);
    void apply_masks(const Tile& tile, Scratch& scratch);
    void softmax(const Tile& tile, Scratch& scratch);
    void sum_values(const Tile& tile, Scratch& scratch);
    void write_head_output(const Tile& tile, Scratch& scratch);
    void store_rows(RowStage stage, const Tile& tile, const float* rows, std::int64_t stride);
    void load_rows(RowStage stage, const Tile& tile, float* rows, std::int64_t stride) const;
    /// The queries of the tile's row r.
    const float* query(const Tile& tile, std::int64_t r) const {
        const HeadVectors& Q = in_.queries;
        return Q.data + tile.b * Q.of_entry + tile.h * Q.of_head + (tile.first + r) * Q.of_row;
    }
    MaskRow mask_row(const Tile& tile, std::int64_t r) const {
        return in_.mask.row(d_, tile.b, tile.h, tile.first + r);
    }
    /// The packed head that the tile's head reads.
    std::int64_t packed_head(const Tile& tile) const { return tile.b * d_.Hkv + d_.kv_head(tile.h); }
    /// The address of row r of the tile in the result of a stage, (batches, heads, rows, width).
    float* row_of(RowStage stage, const Tile& tile, std::int64_t r) const {
        const RowPart& part = stored_part(stage);
        Tensor& tensor = *stored(stage);
        return tensor.data() + tensor.offset(tile.b - part.b, tile.h - part.h, tile.first + r - part.row, 0);
    }
    [[noreturn]] void fail_scores(const Tile& tile, const float* rows) const;
    [[noreturn]] void fail_rows(const Tile& tile, const float* rows, std::int64_t cols,
                                const std::string& what, const std::string& remedy) const;

    const AttentionRows& in_;
    const Dims& d_;
    CpuMachine& machine_;
    Progress& progress_;
    const Kernels& kernels_ = machine_.kernels;
    std::int64_t key_stride_; ///< numbers per row of scores: Tk, rounded up to whole panels
};

void AttentionRun::store_rows(RowStage stage, const Tile& tile, const float* rows, std::int64_t stride) {
    if (!is_stored(stage, tile))
        return;
    const std::int64_t cols = stored(stage)->shape()[3];
    const RowRange range = stored_rows(stage, tile);
    for (std::int64_t r = range.first; r < range.end; ++r)
        std::copy_n(rows + r * stride, cols, row_of(stage, tile, r));
}

/// Loads rows of an earlier run as the starting point.
void AttentionRun::load_rows(RowStage stage, const Tile& tile, float* rows, std::int64_t stride) const {
    const Tensor& tensor = *in_.earlier[static_cast<std::size_t>(stage)];
    const std::int64_t cols = tensor.shape()[3];
    for (std::int64_t r = 0; r < tile.rows; ++r)
        std::copy_n(tensor.data() + tensor.offset(tile.b, tile.h, tile.first + r, 0), cols,
                    rows + r * stride);
}

/// Adds the terms to the scores of all keys. Returns false if a sum is not finite.
bool AttentionRun::add_terms(const Tile& tile, float* scores) const {
    bool finite = true;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
        float* const s = scores + r * key_stride_;
        for (const float* const term : in_.terms) {
            const std::int64_t row = (tile.b * d_.H + tile.h) * d_.Tq + tile.first + r;
            for (std::int64_t j = 0; term != nullptr && j < d_.Tk; ++j)
                s[j] += term[row * d_.Tk + j];
        }
        for (std::int64_t j = 0; j < d_.Tk; ++j)
            finite = finite && std::isfinite(s[j]);
    }
    return finite;
}

/// Computes scores of all keys if they are stored or have terms, else of the keys that a row of the tile may
/// attend to. Scores that are neither stored nor have terms are scaled at once.
void AttentionRun::score(const Tile& tile, Scratch& scratch) {
    using enum RowStage;
    const bool all = is_stored(scores, tile) || is_stored(scaled, tile) || has_terms();
    const std::int64_t begin = all ? 0 : tile.begin / kernels_.panel * kernels_.panel;
    const std::int64_t end = all ? key_stride_ : whole_panels(kernels_, tile.end);
    for (std::int64_t r = 0; r < tile.rows; ++r)
        std::copy_n(query(tile, r), d_.dk, scratch.queries + r * d_.dk);
    Product product{.A = scratch.queries,
                    .A_stride = d_.dk,
                    .B = in_.packed->keys(packed_head(tile)) + begin * d_.dk,
                    .B_stride = kernels_.panel,
                    .panel_stride = kernels_.panel * d_.dk,
                    .C = scratch.scores + begin,
                    .C_stride = key_stride_,
                    .rows = tile.rows,
                    .depth = d_.dk,
                    .cols = end - begin};
    product.factor = is_stored(scores, tile) || has_terms() ? 1.0F : in_.factor;
    if (product.cols > 0 && !kernels_.multiply(product))
        fail_scores(tile, scratch.scores);
    if (has_terms() && !add_terms(tile, scratch.scores))
        fail_scores(tile, scratch.scores);
    store_rows(scores, tile, scratch.scores, key_stride_);
}

/// Adds the mask. Stored scores of masked keys become minus infinity; the softmax reads only allowed keys.
void AttentionRun::apply_masks(const Tile& tile, Scratch& scratch) {
    for (std::int64_t r = 0; r < tile.rows && !in_.mask.empty; ++r) {
        const MaskRow mask = mask_row(tile, r);
        float* const s = scratch.scores + r * key_stride_;
        if (mask.add != nullptr)
            for (std::int64_t j = mask.begin; j < mask.end; ++j)
                s[j] += mask.add[j];
        if (mask.allowed != nullptr)
            for (std::int64_t j = mask.begin; j < mask.end; ++j)
                s[j] = mask.allowed[j] == 0 ? minus_infinity : s[j];
        if (is_stored(RowStage::masked, tile)) {
            std::fill(s, s + mask.begin, minus_infinity);
            std::fill(s + mask.end, s + d_.Tk, minus_infinity);
        }
    }
    store_rows(RowStage::masked, tile, scratch.scores, key_stride_);
}

/// Works in place on the allowed keys. Subtracting the largest score prevents exp from overflowing.
void AttentionRun::softmax(const Tile& tile, Scratch& scratch) {
    Tensor* const kept = is_stored(RowStage::weights, tile) ? stored(RowStage::weights) : nullptr;
    const RowRange kept_rows = kept == nullptr ? RowRange{0, 0} : stored_rows(RowStage::weights, tile);
    const bool bypass_caches =
        kept != nullptr && static_cast<std::size_t>(kept->count()) * sizeof(float) >= cache_bypass_bytes;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
        const std::int64_t i = tile.first + r;
        const MaskRow mask = mask_row(tile, r);
        float* const s = scratch.scores + r * key_stride_;
        float* const out =
            r < kept_rows.first || r >= kept_rows.end ? nullptr : row_of(RowStage::weights, tile, r);
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
            const float sink = in_.sinks != nullptr ? in_.sinks[tile.h] : minus_infinity; // exp of it adds 0
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
void AttentionRun::sum_values(const Tile& tile, Scratch& scratch) {
    if (tile.begin == tile.end)
        std::fill_n(scratch.out, tile.rows * d_.dv, 0.0F);
    Product product{.A = nullptr,
                    .A_stride = key_stride_,
                    .B = nullptr,
                    .B_stride = kernels_.panel,
                    .panel_stride = kernels_.panel * in_.packed->capacity,
                    .C = scratch.out,
                    .C_stride = d_.dv,
                    .rows = tile.rows,
                    .cols = d_.dv};
    const float* const V = in_.packed->values(packed_head(tile));
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
    store_rows(RowStage::head_out, tile, scratch.out, d_.dv);
}

/// Multiplies the head's output by its gain, copies it to its columns of the concatenation, and multiplies it
/// by its rows of W_O.
void AttentionRun::write_head_output(const Tile& tile, Scratch& scratch) {
    using enum RowStage;
    if (const float times = in_.gains == nullptr ? 1.0F : in_.gains[tile.h]; times != 1.0F) {
        bool finite = true;
        for (std::int64_t n = 0; n < tile.rows * d_.dv; ++n) {
            scratch.out[n] *= times;
            finite = finite && std::isfinite(scratch.out[n]);
        }
        if (!finite)
            fail_rows(tile, scratch.out, d_.dv, tr("common.output", "the output"),
                      tr("common.make_x_w_v", "make X, W_V or the head gain smaller"));
    }
    if (is_stored(concat, tile))
        for (std::int64_t r = 0; r < tile.rows; ++r)
            std::copy_n(scratch.out + r * d_.dv, d_.dv,
                        stored(concat)->data() +
                            stored(concat)->offset(tile.b, tile.first + r, tile.h * d_.dv));
    if (is_stored(contributions, tile)) {
        const RowRange range = stored_rows(contributions, tile);
        Tile some = tile;
        some.first += range.first;
        some.rows = range.end - range.first;
        float* const rows = row_of(contributions, some, 0);
        const Block W{in_.W_O + tile.h * d_.dv * d_.D, d_.D, d_.dv, d_.D};
        if (!multiply_block(kernels_, {scratch.out + range.first * d_.dv, d_.dv, some.rows, d_.dv}, W,
                            nullptr, rows, d_.D, scratch.panels))
            fail_rows(some, rows, d_.D, tr("common.contribution", "the contribution"),
                      tr("common.make_x_w_v_2", "make X, W_V, W_O or the head gain smaller"));
    }
}

/// Scales scores that are stored, loaded or have terms, and caps them.
void AttentionRun::scale(const Tile& tile, Scratch& scratch) {
    using enum RowStage;
    float* const s = scratch.scores;
    if (!computes(scores, tile.h) || is_stored(scores, tile) || has_terms()) {
        bool finite = true;
        for (std::int64_t r = 0; r < tile.rows; ++r)
            for (float& score : std::span(s + r * key_stride_, static_cast<std::size_t>(d_.Tk))) {
                score *= in_.factor;
                finite = finite && std::isfinite(score);
            }
        if (!finite)
            fail_scores(tile, s);
    }
    if (in_.score_cap != 0.0F)
        for (std::int64_t r = 0; r < tile.rows; ++r)
            cap_scores({s + r * key_stride_, static_cast<std::size_t>(d_.Tk)}, in_.score_cap);
    store_rows(scaled, tile, s, key_stride_);
}

/// A stage whose input is not computed reads it from an earlier run.
void AttentionRun::attend(const Tile& tile, Scratch& scratch) {
    using enum RowStage;
    const auto is_computed = [&](RowStage stage) { return computes(stage, tile.h); };
    float* const s = scratch.scores;
    if (is_computed(scores))
        score(tile, scratch);
    if (is_computed(scaled)) {
        if (!is_computed(scores))
            load_rows(scores, tile, s, key_stride_);
        scale(tile, scratch);
    }
    if (is_computed(masked)) {
        if (!is_computed(scaled))
            load_rows(scaled, tile, s, key_stride_);
        apply_masks(tile, scratch);
    }
    if (is_computed(weights)) {
        if (!is_computed(masked))
            load_rows(masked, tile, s, key_stride_);
        softmax(tile, scratch);
    }
    if (is_computed(head_out)) {
        if (!is_computed(weights))
            load_rows(weights, tile, s, key_stride_);
        sum_values(tile, scratch);
    } else if (is_computed(concat) || is_computed(contributions)) {
        load_rows(head_out, tile, scratch.out, d_.dv);
    } else {
        return;
    }
    write_head_output(tile, scratch);
}

void AttentionRun::compute(std::vector<MaskedRow>& fully_masked) {
    const RowPart& part = in_.part;
    std::vector<std::int64_t>& heads = machine_.heads;
    heads.clear();
    for (std::int64_t h = 0; h < d_.H; ++h)
        if (in_.computed[static_cast<std::size_t>(h)] != 0)
            heads.push_back(h);
    const auto count = static_cast<std::int64_t>(heads.size());
    const std::int64_t rows = tile_rows(kernels_, part.rows, key_stride_),
                       tiles = (part.rows + rows - 1) / rows;
    const std::int64_t tasks = part.batches * count * tiles;
    const std::int64_t flops =
        2 * part.batches * count * effective_rows(part.rows) *
        (d_.Tk * (d_.dk + d_.dv) + (stored(RowStage::contributions) != nullptr ? d_.dv * d_.D : 0));
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
    machine_.for_tasks(progress_, tasks, flops, [&](std::int64_t task, int worker) {
        const std::int64_t begun = task % tiles * rows, first = part.row + begun, head = task / tiles;
        Tile tile{.b = part.b + head / count,
                  .h = heads[static_cast<std::size_t>(head % count)],
                  .first = first,
                  .rows = std::min(rows, part.rows - begun),
                  .begin = d_.Tk,
                  .end = 0};
        for (std::int64_t r = 0; r < tile.rows; ++r) {
            const MaskRow mask = mask_row(tile, r);
            if (mask.begin < mask.end) {
                tile.begin = std::min(tile.begin, mask.begin);
                tile.end = std::max(tile.end, mask.end);
            }
        }
        tile.begin = std::min(tile.begin, tile.end);
        attend(tile, scratch[static_cast<std::size_t>(worker)]);
        const float fraction = static_cast<float>(++done) / static_cast<float>(tasks);
        progress_.report(in_.progress_begin + (in_.progress_end - in_.progress_begin) * fraction);
    });
    for (const Scratch& s : scratch)
        fully_masked.insert(fully_masked.end(), s.fully_masked.begin(), s.fully_masked.end());
    std::ranges::sort(fully_masked, {}, [](const MaskedRow& r) { return std::tuple(r.b, r.h, r.i); });
}

void AttentionRun::fail_rows(const Tile& tile, const float* rows, std::int64_t cols, const std::string& what,
                             const std::string& remedy) const {
    const float* const bad =
        std::find_if(rows, rows + tile.rows * cols, [](float v) { return !std::isfinite(v); });
    engine::fail_row(what, d_, tile.b, tile.h, tile.first + (bad - rows) / cols, remedy);
}

/// rows: a tile of scores, scaled or not.
void AttentionRun::fail_scores(const Tile& tile, const float* rows) const {
    for (std::int64_t r = 0; r < tile.rows; ++r)
        for (std::int64_t j = 0; j < d_.Tk; ++j) {
            if (std::isfinite(rows[r * key_stride_ + j]))
                continue;
            const float* const Q = query(tile, r);
            const float* const K = in_.packed->keys(packed_head(tile)) +
                                   j / kernels_.panel * kernels_.panel * d_.dk + j % kernels_.panel;
            float score = 0;
            for (std::int64_t c = 0; c < d_.dk; ++c)
                score = std::fma(Q[c], K[c * kernels_.panel], score);
            const bool by_temperature = std::isfinite(score);
            engine::fail_row(tr("common.score_key", "the score of key {}", j), d_, tile.b, tile.h,
                             tile.first + r,
                             by_temperature ? tr("common.raise_temperature_make_x",
                                                 "raise the temperature, or make X, W_Q or W_K smaller")
                                            : tr("common.make_x_w_q", "make X, W_Q or W_K smaller"));
        }
    throw Error(ErrorKind::internal, "a score was called not finite, but is");
}

} // namespace

void compute_attention(const AttentionRows& attention, CpuMachine& machine, Progress& progress,
                       std::vector<MaskedRow>& fully_masked) {
    AttentionRun(attention, machine, progress).compute(fully_masked);
}

void pack_keys_and_values(const HeadVectors& keys, const HeadVectors& values, const AttentionRows& attention,
                          std::int64_t first, CpuMachine& machine, const Progress& progress) {
    const Dims& d = attention.dims;
    const PackedRows& packed = *attention.packed;
    const auto is_read = [&](RowStage by, std::int64_t g) {
        for (std::int64_t h = 0; h < d.H; ++h)
            if (d.kv_head(h) == g && has_stage(attention.computed[static_cast<std::size_t>(h)], by))
                return true;
        return false;
    };
    const std::int64_t rows = d.Tk - first;
    const auto block = [rows, &d](const HeadVectors& from, std::int64_t n, std::int64_t width) {
        return Block{from.data + n / d.Hkv * from.of_entry + n % d.Hkv * from.of_head, from.of_row, rows,
                     width};
    };
    const std::int64_t numbers = packed.heads * rows * (packed.dk + packed.dv);
    machine.for_tasks(progress, 2 * packed.heads, 16 * numbers, [&](std::int64_t task, int) {
        const std::int64_t n = task / 2, g = n % d.Hkv;
        if (task % 2 == 0 && is_read(RowStage::scores, g))
            pack_transposed_panels(machine.kernels, block(keys, n, d.dk), packed.keys(n), first);
        if (task % 2 == 1 && is_read(RowStage::head_out, g))
            pack_rows(machine.kernels, block(values, n, d.dv), packed.values(n), first, packed.capacity);
    });
}

} // namespace headscope::cpu
