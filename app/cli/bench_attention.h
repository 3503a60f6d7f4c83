#pragma once

namespace headscope::cli {

/// Measures the board of heads: frames under software GL, opening, own work of a click, memory. Prints one
/// line each, or JSON.
void bench_attention(bool json);

} // namespace headscope::cli
