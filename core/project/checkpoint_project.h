#pragma once

#include "core/checkpoint/model/model_edits.h"
#include "core/format/safetensors.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::project {

// A project of a checkpoint: a patch file (core/checkpoint/model/patch_file.h) that also records the location
// of the model, its input and the state of the view. assets/manual/project-file.md describes the format.

/// The key of the metadata entry with the JSON that makes a patch a project.
inline constexpr std::string_view checkpoint_key = "headscope.checkpoint";
inline constexpr std::int64_t checkpoint_project_format = 1;

/// The location of a project's model.
struct ModelLocation {
    std::string packaged = {}; ///< name of a model that ships with the program; empty: the model is at `path`
    std::string path = {};     ///< absolute path of its folder or GGUF file
    std::string relative = {}; ///< the same path, relative to the project's folder; empty if not known
};

/// A value around attention that the user set in place of the computed one.
struct ActivationEdit {
    std::int64_t attention = 0; ///< see stacks.h
    TensorId at{};
    std::int64_t row = 0, column = 0;
    float value = 0;
    bool operator==(const ActivationEdit&) const = default;
};

/// The content of a checkpoint project except its edits, which can be read only with the model.
struct CheckpointProject {
    ModelLocation model;
    std::string model_name = {}; ///< display name
    std::string text = {};       ///< the text as typed, followed by generated text
    std::string text_pair = {};  ///< the second of two texts; empty: none
    std::string decoder_text = {};
    std::vector<std::int64_t> ids = {}; ///< tokens of the text; of the encoder's text in an encoder-decoder
    std::vector<std::int64_t> decoder_ids = {}; ///< for an encoder-decoder, with the start token
    std::int64_t generated_count = 0;           ///< number of generated tokens, at the end of the tokens
    std::vector<ActivationEdit> activations = {};
    std::string questions = {}; ///< questions of the user, as text that is not interpreted here; may be empty
    std::string view = {};      ///< state of the view, also not interpreted here
    std::string program = {};   ///< the version that wrote it
    std::map<std::string, std::string> metadata = {}; ///< all entries, including those of other programs
};

/// The location of a model for a project that is saved at `project_path`.
ModelLocation model_location(const std::string& model_path, const std::string& project_path);

/// The bytes of a project; fills in `program` and `model_name`. `metadata`: further entries. Throws
/// Error(input) for edits that do not match the model, and if the checkpoint can no longer be read.
std::string checkpoint_project_bytes(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                     const CheckpointProject& project);
/// Writes a project completely or not at all. Throws the same, and like write_file_atomically.
void save_checkpoint_project(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                             const CheckpointProject& project, const std::string& path);

bool is_checkpoint_project(const format::Safetensors& file);

/// A loaded project and the file with its edits.
struct OpenedCheckpointProject {
    CheckpointProject project;
    format::Safetensors file;
};
/// Opens a project or a patch file. For a patch file, the location of the model is unknown, and the text is
/// known only if `questions` is not empty. Throws Error(input), one sentence, if the file is neither, newer
/// than this program, or damaged.
OpenedCheckpointProject open_checkpoint_project(const std::string& path);
OpenedCheckpointProject parse_checkpoint_project(std::string bytes, const std::string& source);

/// The edits, including activations that the user set. Throws Error(input) like checkpoint::read_patch, also
/// if the model is not the one that the project was saved with.
checkpoint::ModelEdits edits_of_project(const checkpoint::Model& model,
                                        const OpenedCheckpointProject& opened);

/// The current location of the model: its original path, else the same path relative to the project, else the
/// project's folder, else one of `others` (paths of checkpoints that are known on this machine). Nothing if
/// none of them has a matching model.
std::optional<std::string> find_model(const OpenedCheckpointProject& opened, const std::string& project_path,
                                      const std::vector<std::string>& others);
/// Returns true if a checkpoint looks like the model of the project, without opening it.
bool matches_model(const OpenedCheckpointProject& opened, const std::string& model_path);
/// The sentence for a model that cannot be found, without a remedy.
std::string missing_model_message(const CheckpointProject& project, const std::string& project_path);

} // namespace headscope::project
