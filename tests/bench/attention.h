#pragma once

namespace headscope::bench {

/// Measures the board of heads: frames under software GL, opening, the program's own work for a click,
/// memory. Prints one line for each, or JSON.
void bench_attention(bool json);

} // namespace headscope::bench
