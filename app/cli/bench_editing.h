#pragma once

#include <vector>

namespace headscope::cli {

/// Processor seconds that the program's own thread takes for each frame while a number of W_O is dragged at D
/// 512, H 8, T 64, without GL's part: the command, the history, and drawing the output page.
std::vector<double> editing_frames();

} // namespace headscope::cli
