#include "core/engine/vulkan/head_map.h"

#include "core/engine/range_fault.h"
#include "core/engine/vulkan/unsigned.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace headscope::vulkan {

namespace {

constexpr std::int64_t run_keys = 256; ///< at most, so that there is enough work for all invocations
constexpr std::uint64_t runs_bytes = 64ULL << 20, pixels_bytes = 16ULL << 20;
constexpr std::int64_t few_rows = 32; ///< are always read together: fewer rows take as long

/// The mask of one head in the device's layout: rows of `stride` numbers, or one row for all queries.
template<class Number>
std::span<const Number> mask_of_head(std::span<const Number> all, const MaskRows::Strides& strides,
                                     std::int64_t b, std::int64_t h, const Dims& d) {
    return all.subspan(u64(b * strides.b + h * strides.h), u64((d.Tq - 1) * strides.i + d.Tk));
}

Scoring scoring_of_head(const Problem& problem, const MaskRows& masks) {
    const MaskRows::Stored stored = masks.stored();
    Dims dims = problem.dims;
    dims.B = dims.H = dims.Hkv = dims.D = dims.Dkv = dims.dv = 1;
    return {.dims = dims,
            .before = stored.reach_back,
            .after = stored.reach_ahead,
            .has_allowed = !stored.allowed.empty(),
            .has_add = !stored.add.empty(),
            .has_sink = problem.parts().sink,
            .allowed = stored.allowed_strides,
            .add = stored.add_strides,
            .scale = std::sqrt(static_cast<float>(problem.dims.dk)) * problem.temperature,
            .cap = problem.score_cap};
}

std::vector<float> padded_rows(const engine::HeadRows& rows, std::int64_t width) {
    std::vector<float> out(u64(rows.rows * padded(width)), 0.0F);
    for (std::int64_t i = 0; i < rows.rows; ++i)
        std::copy_n(rows.data + i * rows.stride, width, out.data() + i * padded(width));
    return out;
}

} // namespace

HeadMap::HeadMap(const Problem& problem, std::int64_t b, std::int64_t h, const engine::ProjectedHead& head,
                 Gpu& gpu, bool share)
    : dims_(problem.dims), b_(b), h_(h), masks_(problem.mask, problem.dims), gpu_(gpu), arena_(gpu),
      kernels_(gpu, arena_, share), scoring_(scoring_of_head(problem, masks_)),
      sink_(problem.weights.sink == nullptr ? -std::numeric_limits<float>::infinity()
                                            : problem.weights.sink->at(h)),
      has_softmax_(u64(dims_.Tq), 0) {
    const MaskRows::Stored stored = masks_.stored();
    std::vector<Arena::SlotRequest> wants{{Slot::nothing, 64},
                                          {Slot::faults, fault_count * sizeof(std::uint32_t)},
                                          {Slot::statistics, u64(dims_.Tq) * 2 * sizeof(float)}};
    const auto want = [&](Slot slot, std::uint64_t bytes) { wants.push_back({slot, (bytes + 3) / 4 * 4}); };
    for (const auto& [tensor, rows] : {std::pair(TensorId::q, dims_.Tq), std::pair(TensorId::k, dims_.Tk)})
        want(slot_of(tensor), u64(rows * padded(dims_.dk)) * sizeof(float));
    std::span<const std::uint8_t> allowed;
    std::span<const float> add;
    if (scoring_.has_allowed) {
        allowed = mask_of_head(stored.allowed, stored.allowed_strides, b, h, dims_);
        want(Slot::allowed, allowed.size_bytes());
    }
    if (scoring_.has_add) {
        add = mask_of_head(stored.add, stored.add_strides, b, h, dims_);
        want(Slot::add, add.size_bytes());
    }
    arena_.reserve(wants);
    for (const auto& [tensor, rows] :
         {std::pair(TensorId::q, &head.queries), std::pair(TensorId::k, &head.keys)}) {
        const std::vector<float> numbers = padded_rows(*rows, dims_.dk);
        arena_.upload(slot_of(tensor), std::as_bytes(std::span(numbers)));
    }
    if (scoring_.has_allowed)
        arena_.upload(Slot::allowed, std::as_bytes(allowed));
    if (scoring_.has_add)
        arena_.upload(Slot::add, std::as_bytes(add));
    arena_.fill(Slot::nothing, 0);
    arena_.fill(Slot::statistics, 0); // sum 0: a row without keys
    gpu_.finish();
}

/// The range [begin, end) of the keys that any of the rows may attend to. Both ends increase with the row.
std::pair<std::int64_t, std::int64_t> HeadMap::keys_of(std::int64_t first, std::int64_t rows) const {
    return {masks_.row(b_, h_, first).begin, masks_.row(b_, h_, first + rows - 1).end};
}

Runs HeadMap::runs_of(const MapPart& part, std::int64_t cells, std::int64_t first, std::int64_t rows) const {
    const auto [begin, stop] = keys_of(first, rows);
    Runs runs{
        .col = part.col, .end = part.col + part.cols, .cells = cells, .length = std::min(cells, run_keys)};
    const std::int64_t from = std::max(begin, runs.col) - runs.col, to = std::min(stop, runs.end) - runs.col;
    if (from < to) {
        runs.first = from / cells;
        runs.pixels = divide_rounding_up(to, cells) - runs.first;
    }
    return runs;
}

bool HeadMap::fits(const Piece& piece) const {
    const std::uint64_t bytes = u64(piece.slab.rows * piece.runs.count()) * 2 * sizeof(float);
    const bool one = piece.slab.rows == 1;
    return arena_.fits(bytes) && (one || bytes <= runs_bytes) && kernels_.fits(scoring_, piece.slab);
}

namespace {

double flops_of(const Slab& slab, const Runs& runs, const Dims& d) {
    return 2.0 * static_cast<double>(slab.rows * std::min(runs.pixels * runs.cells, d.Tk) * d.dk);
}

} // namespace

/// Splits the rows of the part into pieces that one dispatch can read. `to` is the destination of the first.
void HeadMap::add_pieces(std::vector<Piece>& pieces, const MapPart& part, std::int64_t cells,
                         const PixelRows& to) const {
    for (std::int64_t done = 0; done < part.rows;) {
        const auto piece_of = [&](std::int64_t rows) {
            const std::int64_t first = part.row + done;
            return Piece{.slab = {.row = first, .rows = rows},
                         .runs = runs_of(part, cells, first, rows),
                         .to = {.first_row = done, .width = to.width, .first = to.first}};
        };
        Piece piece = piece_of(1);
        if (!fits(piece))
            fail_keys(gpu_.info());
        for (std::int64_t rows = 2; piece.slab.rows < part.rows - done; rows *= 2) {
            const Piece larger = piece_of(std::min(rows, part.rows - done));
            if (!fits(larger) || (larger.slab.rows > few_rows &&
                                  flops_of(larger.slab, larger.runs, dims_) > flops_at_once(gpu_.info())))
                break;
            piece = larger;
        }
        done += piece.slab.rows;
        pieces.push_back(piece);
    }
}

bool HeadMap::all_have_softmax(std::int64_t first, std::int64_t rows) const {
    return std::find(has_softmax_.begin() + first, has_softmax_.begin() + first + rows, 0) ==
           has_softmax_.begin() + first + rows;
}

void HeadMap::read(const std::vector<Piece>& pieces, bool find, bool pool, Progress& progress) {
    std::uint64_t most = 0;
    for (const Piece& piece : pieces)
        most = std::max(most, u64(piece.slab.rows * piece.runs.count()));
    if (most == 0)
        return; // all keys are masked
    arena_.add({Slot::runs, most * 2 * sizeof(float)});
    arena_.fill(Slot::faults, no_fault);
    double work = 0;
    for (std::size_t n = 0; n < pieces.size(); ++n) {
        const auto& [slab, runs, to] = pieces[n];
        if (runs.pixels == 0)
            continue;
        kernels_.read_runs(scoring_, slab, runs);
        if (find && !all_have_softmax(slab.row, slab.rows))
            kernels_.find_softmax(scoring_, slab, runs, sink_);
        if (pool)
            kernels_.pool_runs(scoring_, slab, runs, to);
        if (work += flops_of(slab, runs, dims_); work > flops_at_once(gpu_.info())) {
            gpu_.finish();
            progress.check();
            progress.report(static_cast<float>(n + 1) / static_cast<float>(pieces.size()));
            work = 0;
        }
    }
    check_faults();
    if (find)
        for (const Piece& piece : pieces)
            std::fill_n(has_softmax_.begin() + piece.slab.row, piece.slab.rows, std::uint8_t{1});
}

void HeadMap::check_faults() {
    std::vector<std::uint32_t> found(fault_count);
    gpu_.download(arena_.buffer(Slot::faults), 0, std::as_writable_bytes(std::span(found)));
    const auto row_of = [&](Fault fault) { return found[static_cast<std::size_t>(fault)]; };
    for (const auto& [fault, stage] :
         {std::pair(Fault::score, TensorId::scores), std::pair(Fault::scaled, TensorId::scaled)})
        if (row_of(fault) != no_fault)
            fail_score(stage, row_of(fault));
    if (row_of(Fault::masked) != no_fault)
        engine::fail_masked_score(dims_, b_, h_, row_of(Fault::masked));
}

void HeadMap::fail_score(TensorId stage, std::int64_t i) {
    const Tensor row = recompute(gpu_, arena_, kernels_, scoring_, stage, {.row = i}, 0, dims_.Tk);
    const auto bad = std::ranges::find_if(row.values(), [](float score) { return !std::isfinite(score); });
    engine::fail_score(dims_, b_, h_, i, bad - row.values().begin());
}

void HeadMap::compute_new_softmax(const MapPart& part, Progress& progress) {
    std::vector<Piece> pieces;
    for (std::int64_t i = part.row; i < part.row + part.rows;) {
        std::int64_t count = 0;
        const auto is_new = [&](std::int64_t row) {
            return row < part.row + part.rows && has_softmax_[u64(row)] == 0 &&
                   runs_of(part, 1, row, 1).pixels > 0;
        };
        while (is_new(i + count))
            ++count;
        if (count > 0)
            add_pieces(pieces, {i, 0, count, dims_.Tk}, run_keys, {});
        i += std::max<std::int64_t>(count, 1);
    }
    read(pieces, true, false, progress);
}

Tensor HeadMap::weights(const MapPart& part, Progress& progress) {
    Tensor out(Shape{part.rows, part.cols}, 0.0F);
    std::vector<Piece> pieces;
    add_pieces(pieces, part, 1, {});
    for (std::size_t n = 0; n < pieces.size(); ++n) {
        const auto& [slab, runs, to] = pieces[n];
        if (runs.pixels == 0)
            continue;
        progress.check();
        const Tensor some = recompute(gpu_, arena_, kernels_, scoring_, TensorId::weights, slab,
                                      part.col + runs.first, runs.pixels);
        for (std::int64_t r = 0; r < slab.rows; ++r)
            std::copy_n(some.data() + r * runs.pixels, runs.pixels,
                        out.data() + (to.first_row + r) * part.cols + runs.first);
        progress.report(static_cast<float>(n + 1) / static_cast<float>(pieces.size()));
    }
    return out;
}

std::vector<float> HeadMap::pool(const std::vector<MapPart>& parts, std::int64_t cells, bool find,
                                 Progress& progress) {
    PixelRows to{.width = divide_rounding_up(parts.front().cols, cells)};
    std::vector<Piece> pieces;
    for (const MapPart& part : parts) {
        add_pieces(pieces, part, cells, to);
        to.first += divide_rounding_up(part.rows, cells);
    }
    std::vector<float> pixels(u64(2 * to.first * to.width));
    arena_.add({Slot::pixels, std::span(pixels).size_bytes()});
    arena_.fill(Slot::pixels, 0);
    read(pieces, find, true, progress);
    gpu_.download(arena_.buffer(Slot::pixels), 0, std::as_writable_bytes(std::span(pixels)));
    return pixels;
}

std::int64_t HeadMap::rows_of_pixels(std::int64_t width) const {
    const std::uint64_t most = std::min(pixels_bytes, gpu_.info().binding_bytes);
    return std::max<std::int64_t>(static_cast<std::int64_t>(most / (2 * sizeof(float))) / width, 1);
}

} // namespace headscope::vulkan
