#pragma once

#include "core/attention/problem.h"
#include "core/format/safetensors.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::project {

/// Where a problem made of tensors comes from.
struct CaseSource {
    /// A safetensors file ("-": standard input) with X (B,Tq,D), or (Tq,D) for B = 1; X_kv likewise when keys
    /// and values have their own source; W_Q, W_K, W_V, W_O; b_Q, b_K, b_V, b_O or some of them; mask.allowed
    /// ((Tq,Tk), (B,Tq,Tk) or (B,H,Tq,Tk)) and mask.add when there are masks. Others are ignored. The
    /// metadata "tokens", and "kv_tokens" beside X_kv, are lists of strings in JSON: what the tokens are
    /// called.
    std::string path;
    std::int64_t H = 0;
    std::optional<std::int64_t> Hkv;              ///< absent: H
    std::optional<std::string> weights_path = {}; ///< a second file for the W and b that the first lacks
    /// Combined with those of the file. Additive rules that hold null stand for the file's mask.add.
    Mask mask = {};
};

/// Throws Error(input) naming the file and the tensor at fault. The problem is validated.
Problem load_case(const CaseSource& source);

/// Whether a file holds a problem by itself: X, W_Q, W_K, W_V and W_O.
bool is_case(const format::Safetensors& file);

struct CaseHeads {
    std::int64_t H = 1, Hkv = 1;
    bool told = false; ///< by the file; else the fewest that its weights can have
};
/// H by the metadata "heads", else by a tensor over heads (expect.weights and the like, a mask for each
/// head); Hkv by the metadata "kv_heads", else as wide as those of Q. Reads the header alone. Throws
/// Error(input) for metadata that are no numbers of heads.
CaseHeads heads_of_case(const format::Safetensors& file);

} // namespace headscope::project
