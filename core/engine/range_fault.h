#pragma once

#include "core/tensor/dims.h"
#include "core/trace/stage.h"

#include <cstdint>
#include <string>

namespace headscope::engine {

// What engines say of numbers that leave float32's range: Error(input) with the same sentence from each.

/// Of column c of token i of batch entry b in q, k, v or output.
[[noreturn]] void fail_projection(TensorId stage, std::int64_t b, std::int64_t i, std::int64_t c);
/// Of a stage that is made head by head from q or k.
[[noreturn]] void fail_head_rows(TensorId stage);
/// Of query i of head h, in the person's language. `what`: "the score of key 3", "the output"; remedy: "make
/// X, W_Q or W_K smaller".
[[noreturn]] void fail_row(const std::string& what, const Dims& dims, std::int64_t b, std::int64_t h,
                           std::int64_t i, const std::string& remedy);

/// Of the scaled score that query i of head h has with key j.
[[noreturn]] void fail_score(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
                             std::int64_t j);
/// Of the largest score of query i of head h, once the mask is added.
[[noreturn]] void fail_masked_score(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i);

} // namespace headscope::engine
