#pragma once

#include "core/attention/problem.h"
#include "core/format/safetensors.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::project {

/// The source of a problem that consists of tensors.
struct CaseSource {
    /// A safetensors file ("-": standard input) with X (B,Tq,D), or (Tq,D) for B = 1; X_kv in the same form
    /// if keys and values have their own source; W_Q, W_K, W_V, W_O; optionally b_Q, b_K, b_V, b_O;
    /// optionally mask.allowed ((Tq,Tk), (B,Tq,Tk) or (B,H,Tq,Tk)) and mask.add. Other tensors are ignored.
    /// The metadata "tokens" and, for X_kv, "kv_tokens" are JSON lists of strings, the labels of the tokens.
    std::string path;
    std::int64_t H = 0;
    std::optional<std::int64_t> Hkv;              ///< absent: H
    std::optional<std::string> weights_path = {}; ///< a second file for the W and b that the first lacks
    /// Combined with the masks of the file. Additive rules without a tensor use the file's mask.add.
    Mask mask = {};
};

/// Loads a validated problem. Throws Error(input) with the file and the invalid tensor.
Problem load_case(const CaseSource& source);

/// Returns true if a file contains a whole problem: X, W_Q, W_K, W_V and W_O.
bool is_case(const format::Safetensors& file);

struct CaseHeads {
    std::int64_t H = 1, Hkv = 1;
    bool from_file = false; ///< given by the file; else the smallest number that its weights allow
};
/// Infers H from the metadata "heads", else from a tensor over heads (expect.weights and the like, a mask for
/// each head); Hkv from the metadata "kv_heads", else from a head width equal to Q's. Reads only the header.
/// Throws Error(input) for metadata that are not valid numbers of heads.
CaseHeads heads_of_case(const format::Safetensors& file);

} // namespace headscope::project
