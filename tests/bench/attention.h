#pragma once

namespace headscope::bench {

/// Measures the grid of heads: frames with software GL, opening, the program's time for a click, memory.
/// Prints one line for each, or JSON.
void bench_attention(bool json);

} // namespace headscope::bench
