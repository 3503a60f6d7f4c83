#pragma once

#include "core/attention/problem.h"

namespace headscope {

/// The same parameters divided among H heads: W_Q, W_K, W_V and W_O stay as they are, dk and dv become H·dk /
/// H and H·dv / H of the new H, and as many query heads share a key/value head as before. Head gains are
/// removed. Throws Error(input) if H does not divide those widths or is not a multiple of such a group, and
/// if q_heads or k_heads are not plain columns of q and k.
Problem with_head_count(const Problem& problem, std::int64_t H);

/// Fewer key/value heads: the K and V columns (and biases) of each group of heads are averaged, as Ainslie et
/// al. 2023, "GQA: Training Generalized Multi-Query Transformer Models", section 2.1, convert a multi-head
/// model. Throws Error(input) if Hkv does not divide the problem's number of key/value heads.
Problem with_kv_head_count(const Problem& problem, std::int64_t Hkv);

} // namespace headscope
