#include "core/engine/cpu/row_runs.h"

#include <algorithm>
#include <cmath>

namespace headscope::cpu {

namespace {

/// whose scores fit into the L2 cache; a multiple of every kernel's rows
constexpr std::int64_t rows_of_tile = 48;

} // namespace

/// `scores_of_row`: the scores of row r for the keys [col, end), which are overwritten.
void RowRuns::read_row(std::int64_t r, float* scores_of_row, std::int64_t col, std::int64_t end) {
    Row& row = rows_[static_cast<std::size_t>(r)];
    const std::int64_t from = std::max(col, row.begin), to = std::min(end, row.end);
    float* const s = scores_of_row - col;
    const auto for_runs = [&](const auto& visit) {
        for (std::int64_t j = from; j < to;) {
            const std::int64_t run = j / cells_, stop = std::min(to, (run + 1) * cells_);
            visit(at(r, run), s + j, stop - j);
            j = stop;
        }
    };
    float largest = row.largest;
    for_runs([&](std::size_t run, const float* scores, std::int64_t count) {
        const float one = kernels_->largest(scores, count);
        largest_[run] = std::max(largest_[run], one);
        largest = std::max(largest, one);
    });
    if (largest == no_score || !std::isfinite(largest))
        return void(row.largest = largest);
    row.sum *= static_cast<double>(std::exp(row.largest - largest));
    row.largest = largest;
    for_runs([&](std::size_t run, float* scores, std::int64_t count) {
        const float sum = kernels_->exponentials(scores, count, largest);
        sums_[run] = sum + (sums_[run] == 0 ? 0 : sums_[run] * std::exp(references_[run] - largest));
        references_[run] = largest;
        row.sum += static_cast<double>(sum);
    });
}

void RowRuns::read(const HeadScores& scores, std::int64_t first, std::int64_t rows, std::int64_t cells,
                   const Progress& cancel) {
    const std::int64_t Tk = scores.dims().Tk;
    kernels_ = &scores.kernels();
    cells_ = cells;
    runs_ = (Tk + cells - 1) / cells;
    const auto count = static_cast<std::size_t>(rows), all = static_cast<std::size_t>(rows * runs_);
    tile_.resize(static_cast<std::size_t>(rows_of_tile * keys_at_once));
    rows_.assign(count, Row());
    softmax_.assign(count, RowSoftmax());
    largest_.assign(all, no_score);
    sums_.assign(all, 0.0F);
    references_.assign(all, no_score);
    std::int64_t begin = Tk, end = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        Row& row = rows_[static_cast<std::size_t>(r)];
        const MaskRow mask = scores.mask(first + r);
        row.begin = mask.begin;
        row.end = mask.end;
        if (row.begin < row.end) {
            begin = std::min(begin, row.begin);
            end = std::max(end, row.end);
        }
    }
    for (std::int64_t col = begin / kernels_->panel * kernels_->panel; col < end; col += keys_at_once) {
        cancel.check();
        const std::int64_t width = std::min(keys_at_once, std::min(Tk, whole_panels(*kernels_, end)) - col);
        for (std::int64_t tile = 0; tile < rows; tile += rows_of_tile) { // the keys stay in the cache
            const std::int64_t tile_rows = std::min(rows_of_tile, rows - tile);
            scores.compute({first + tile, tile_rows, col, width}, tile_.data(), keys_at_once);
            for (std::int64_t r = 0; r < tile_rows; ++r)
                read_row(tile + r, tile_.data() + r * keys_at_once, col, col + width);
        }
    }
    for (std::size_t r = 0; r < count; ++r) {
        const Row& row = rows_[r];
        if (row.largest == no_score)
            continue;
        if (!std::isfinite(row.largest))
            scores.fail_masked_score(first + static_cast<std::int64_t>(r));
        const float sink = scores.sink(), largest = std::max(row.largest, sink);
        const double sum = row.sum * static_cast<double>(std::exp(row.largest - largest)) +
                           static_cast<double>(std::exp(sink - largest));
        softmax_[r] = {largest, static_cast<float>(1 / sum)};
    }
}

void RowRuns::add_largest(std::int64_t r, float* largest) {
    const auto [subtract, factor] = softmax_[static_cast<std::size_t>(r)];
    if (factor == 0)
        return;
    float* const scores = largest_.data() + at(r, 0);
    kernels_->exponentials(scores, runs_, subtract);
    std::transform(scores, scores + runs_, largest, largest,
                   [factor = factor](float e, float before) { return std::max(before, e * factor); });
}

void RowRuns::add_sums(std::int64_t r, double* sums) {
    const auto [subtract, factor] = softmax_[static_cast<std::size_t>(r)];
    if (factor == 0)
        return;
    float* const references = references_.data() + at(r, 0);
    kernels_->exponentials(references, runs_, subtract);
    for (std::int64_t run = 0; run < runs_; ++run)
        sums[run] += static_cast<double>(sums_[at(r, run)] * references[run] * factor);
}

} // namespace headscope::cpu
