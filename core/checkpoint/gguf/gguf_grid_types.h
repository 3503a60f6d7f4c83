#pragma once

#include "core/checkpoint/gguf/gguf_block.h"

#include <span>

namespace headscope::checkpoint {

// Blocks of 256 numbers whose groups of 8 (or 4) are rows of a table: ggml's block_iq1_s .. block_iq3_s
// (ggml-common.h), computed in the order of ggml's dequantize_row functions.

void decode_iq2_xxs(GgufBlock block, std::span<float, 256> to);
void decode_iq2_xs(GgufBlock block, std::span<float, 256> to);
void decode_iq2_s(GgufBlock block, std::span<float, 256> to);
void decode_iq3_xxs(GgufBlock block, std::span<float, 256> to);
void decode_iq3_s(GgufBlock block, std::span<float, 256> to);
void decode_iq1_s(GgufBlock block, std::span<float, 256> to);
void decode_iq1_m(GgufBlock block, std::span<float, 256> to);

} // namespace headscope::checkpoint
