#pragma once

#include "core/export/script_part.h"
#include "core/trace/stage_set.h"

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

/// A part of a graph as a Python 3 script for PyTorch 1.13 or later. The script holds the part's numbers bit
/// for bit, computes each node with the lines of its operation, prints the nodes, and exits with 1 unless the
/// compared nodes agree with Headscope's numbers. Where torch.nn.MultiheadAttention can express the
/// attention, the script lets it compute the same and holds it to the same numbers. `title` says in the
/// script what the part is; any text. UTF-8.
std::string pytorch_script(const ScriptPart& part, const std::string& title);

/// The same for the clipboard. Throws Error(input) when it is longer than longest_copied_script bytes, saying
/// to save it instead.
std::string pytorch_clipboard(const ScriptPart& part, const std::string& title);

/// Where export_pytorch puts the numbers of a script: "FOLDER/NAME.numbers.safetensors" for "FOLDER/NAME.py".
std::string pytorch_numbers_path(const std::string& script_path);

/// Writes the script, and the file of its numbers where it has one, both whole or neither. "-": standard
/// output, all numbers inside. Throws Error(input) when a file cannot be written, and when the second one's
/// name belongs to a file that no export wrote.
void export_pytorch(const ScriptPart& part, const std::string& title, const std::string& path);

} // namespace headscope::exporting
