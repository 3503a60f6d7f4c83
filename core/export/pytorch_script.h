#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/run/block_trace.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <string>

namespace headscope::exporting {

/// From this many numbers on, a script written to a file has a safetensors file beside it.
inline constexpr std::int64_t most_numbers_in_script = 20'000;
/// A longer script does not go to the clipboard.
inline constexpr std::size_t longest_copied_script = 2'000'000;

/// The stages that a trace has to hold for its script.
constexpr StageSet script_stages() {
    return StageSet().with(TensorId::weights).with(TensorId::output);
}

/// Whether torch.nn.MultiheadAttention can express the problem: dk = dv = D / H, Hkv = H, gains and
/// temperature 1, heads that are columns of q and k, and not every query row closed by the mask in some head
/// (the module has NaN in such rows).
bool fits_torch_module(const Problem& problem, const Trace& trace);

/// A problem as a Python 3 script for PyTorch 1.13 or later. The script holds the problem's numbers bit for
/// bit, recomputes every stage with plain tensor operations, prints them, and exits with 1 unless `weights`
/// and `output` agree with those of the trace. Where torch.nn.MultiheadAttention can express the problem, the
/// script lets it compute the same and holds it to the same numbers. `title` says in the script what the
/// problem is; any text. UTF-8.
std::string pytorch_script(const Problem& problem, const Trace& trace, const std::string& title);

/// The same for the clipboard. Throws Error(input) when it is longer than longest_copied_script bytes, saying
/// to save it instead.
std::string pytorch_clipboard(const Problem& problem, const Trace& trace, const std::string& title);

/// Where export_pytorch puts the numbers of a script: "FOLDER/NAME.numbers.safetensors" for "FOLDER/NAME.py".
std::string pytorch_numbers_path(const std::string& script_path);

/// Writes the script, and the file of its numbers where it has one, both whole or neither. "-": standard
/// output, all numbers inside. With `layer`, the problem is the attention of that layer, and the script
/// computes the whole of it, from resid_in to what leaves it. Throws Error(input) when a file cannot be
/// written, and when the second one's name belongs to a file that no export wrote.
void export_pytorch(const Problem& problem, const Trace& trace, const std::string& title,
                    const std::string& path, const checkpoint::BlockTrace* layer = nullptr);

} // namespace headscope::exporting
