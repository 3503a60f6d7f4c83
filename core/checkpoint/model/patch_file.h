#pragma once

#include "core/checkpoint/model/model_edits.h"

#include <map>
#include <string>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::checkpoint {

// What a user changed in a checkpoint, as a small safetensors file of its own; described for users in
// assets/manual/checkpoints.md. Its metadata "headscope.patch" is JSON: the checkpoint's identity (SHA-256 of
// config.json and of the header of each tensor file, with its size), the gains, and of each changed tensor
// the SHA-256 of what the checkpoint has in its place. A tensor layers.{l}.{name} is whole; where few numbers
// differ, layers.{l}.{name}.at (I64, positions in row-major order) and layers.{l}.{name}.to (F32) are there
// instead. Of a table (W_E, W_P, W_type, W_U, what the experts have) there are these two alone, and the
// SHA-256 is that of the rows in which some number differs, as the checkpoint has them. {l} is the number of
// the attention (see stacks.h), that of the layer in a model of one stack; {name} is that of the weight in
// the stage table. The final norm of a stack, W_U and b_U stand with its last attention, W_E, W_P and W_type
// with the first one; a W_E that both stacks read stands with the encoder's. Numbers come back bit for bit.

/// The bytes of a patch, without patched rows, which belong to a text. questions: what the window was asked
/// about the checkpoint, text that is kept as the metadata "headscope.questions" and means nothing here; may
/// be empty. Throws Error(input) for edits that do not fit the model, and when the checkpoint cannot be read
/// any more.
std::string patch_bytes(const Model& model, const ModelEdits& edits, const std::string& questions = {});

/// The same with these entries of metadata beside the patch's own.
std::string patch_bytes_with(const Model& model, const ModelEdits& edits,
                             const std::map<std::string, std::string>& metadata);
inline constexpr const char* questions_key = "headscope.questions"; ///< of the metadata entry

/// Throws Error(input) for a path in the checkpoint's own folder: nothing is written there.
void refuse_checkpoint_folder(const Model& model, const std::string& path);
/// Writes a patch whole or not at all. Throws like patch_bytes, write_file_atomically and
/// refuse_checkpoint_folder.
void save_patch(const Model& model, const ModelEdits& edits, const std::string& path,
                const std::string& questions = {});

/// The edits of a patch that was made for this checkpoint. Throws Error(input) when it was made for another,
/// saying which part differs, and for what is no patch or is damaged.
ModelEdits read_patch(const Model& model, const format::Safetensors& file);
/// The same from a file.
ModelEdits load_patch(const Model& model, const std::string& path);
/// The questions of a patch file; empty when there are none. Throws Error(input) for what is no such file.
std::string patch_questions(const std::string& path);

} // namespace headscope::checkpoint
