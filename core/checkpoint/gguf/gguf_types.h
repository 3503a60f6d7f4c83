#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

/// One row of the table of tensor types that are read from GGUF files. The numbers of a row of a tensor lie
/// in blocks of equally many numbers and bytes. Layouts: ggml's block_q4_0 .. block_q6_K (ggml-common.h).
struct GgufType {
    std::uint32_t id;
    std::string_view name; ///< "Q4_K"
    std::size_t numbers;   ///< of a block
    std::size_t bytes;     ///< of a block
    /// Turns whole blocks, at any address, into float32, by the formulas and in the order of operations of
    /// ggml's dequantize_row functions. What float32 cannot hold becomes an infinity.
    void (*decode)(std::span<const char> blocks, std::span<float> to);
};

/// Null when the type is not read here.
const GgufType* find_gguf_type(std::uint32_t id);
/// What ggml calls a type, read here or not; "type 99" where the number has no name.
std::string gguf_type_name(std::uint32_t id);
/// "F32, F16, Q4_0, ...": the types that are read here.
std::string gguf_type_names();

} // namespace headscope::checkpoint
