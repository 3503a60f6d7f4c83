#pragma once

#include <vector>

namespace headscope::bench {

/// Returns the processor seconds of the program's own thread for each frame while a number of W_O is dragged
/// at D 512, H 8, T 64: the command, the history, and drawing the output screen, without GL.
std::vector<double> editing_frames();

} // namespace headscope::bench
