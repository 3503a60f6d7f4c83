#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/dense.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace headscope::checkpoint {

// A text whose first tokens were run: their numbers stay, because a causal model reads no later token.

/// Whether `longer` is `shorter` with tokens behind it, in a causal model of one stack in which what was
/// computed of `shorter` stays as it is. One text each, without padding and token types.
bool goes_on(const Architecture& architecture, const ModelInputs& shorter, const ModelInputs& longer);

/// A text of t tokens that was run.
struct KnownText {
    const ForwardPass& pass;
    const Streams& streams;                ///< all of them
    const std::vector<TensorPtr>& weights; ///< of each attention, (1, H, t, t); null: not kept
    std::int64_t t;
};
/// The same of the text of T tokens that goes on with it.
struct LongerText {
    std::vector<TensorPtr> streams; ///< (1, T, D) each
    std::vector<TensorPtr> weights; ///< (1, H, T, T), as far as the known ones were kept; else null
};

/// Runs the tokens of `rest`, which begins at token t, with the edits of the known text. caches: one for each
/// attention; those that do not hold t tokens are filled first. kept_bytes: what the weights may take
/// together. Engine and `cpu` are of one machine. Throws what ForwardPass::run throws; the caches are then of
/// any length.
LongerText run_behind(const KnownText& known, const ForwardPass& rest, const ModelEdits& edits,
                      std::vector<cpu::KeyValueCache>& caches, std::size_t kept_bytes, cpu::CpuEngine& engine,
                      cpu::CpuDense& cpu, Progress& progress);

} // namespace headscope::checkpoint
