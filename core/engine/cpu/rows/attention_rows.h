#pragma once

#include "core/attention/mask.h"
#include "core/base/progress.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/tensor/dims.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope::cpu {

struct CpuMachine;

/// Query rows of adjacent heads.
struct RowPart {
    std::int64_t b = 0, batches = 1;
    std::int64_t h = 0, heads = 1;
    std::int64_t row = 0, rows = 1;
};

/// The steps of attention that are computed tile by tile, each from the one before; contributions are
/// computed from head_out, as concat is.
enum class RowStage : std::uint8_t { scores, scaled, masked, weights, head_out, concat, contributions };
inline constexpr std::size_t row_stage_count = static_cast<std::size_t>(RowStage::contributions) + 1;

/// A set of RowStage, one bit each.
using RowStages = std::uint8_t;
constexpr RowStages bit_of(RowStage stage) {
    return static_cast<RowStages>(1U << static_cast<unsigned>(stage));
}
constexpr bool has_stage(RowStages stages, RowStage stage) {
    return (stages & bit_of(stage)) != 0;
}

/// The rows of heads inside a tensor: as columns of (B, T, H width), or as (B, H, T, width). The strides lead
/// from one batch entry, head and row to the next.
struct HeadVectors {
    const float* data = nullptr;
    std::int64_t of_entry = 0, of_head = 0, of_row = 0;
};

/// One multi-head attention from the scores on, in plain memory.
struct AttentionRows {
    const Dims& dims;
    RowPart part; ///< the rows to compute
    HeadVectors queries{};
    const PackedRows* packed = nullptr; ///< keys and values of all Tk tokens
    MaskRows::Stored mask{};
    /// (B, H, Tq, Tk) each: added to the products of queries and keys, in this order; null: nothing.
    std::array<const float*, 2> terms{};
    float factor = 1.0F;          ///< of the scores
    float score_cap = 0.0F;       ///< 0: no cap
    const float* sinks = nullptr; ///< (H), or null
    const float* gains = nullptr; ///< (H); null: all 1
    const float* W_O = nullptr;   ///< (H dv, D), for contributions
    /// For each head the stages to compute; H entries.
    std::span<const RowStages> computed{};
    /// The results; null for stages that are not stored.
    std::array<Tensor*, row_stage_count> stored{};
    /// The rows that the result of a stage has; absent: those of `part`. Not for concat.
    std::array<std::optional<RowPart>, row_stage_count> stored_parts{};
    /// Whole stages of an earlier run, read where a stage is computed from one that is not.
    std::array<const Tensor*, row_stage_count> earlier{};
    float progress_begin = 0.0F, progress_end = 1.0F; ///< part of the progress to report
};

/// Packs the rows of keys (dk) and values (dv) that the computed stages read, from row `first` on: row 0 of
/// `keys` is that of token `first`.
void pack_keys_and_values(const HeadVectors& keys, const HeadVectors& values, const AttentionRows& attention,
                          std::int64_t first, CpuMachine& machine, const Progress& progress);

/// Computes tiles of query rows; scores that are not stored stay in the caches. Appends the rows whose
/// softmax has no key to `fully_masked` and sorts it. Every number is one chain of operations in a fixed
/// order, so that the bits depend neither on the part nor on what is stored. Throws Error(input) for numbers
/// outside float32's range; Error(cancelled).
void compute_attention(const AttentionRows& attention, CpuMachine& machine, Progress& progress,
                       std::vector<MaskedRow>& fully_masked);

} // namespace headscope::cpu
