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

// A project of a checkpoint: a patch file (core/checkpoint/model/patch_file.h) that also says where the model
// lies, what it reads and how it was looked at. The format is told in assets/manual/project-file.md.

/// Of the metadata entry with the JSON that makes a patch a project.
inline constexpr std::string_view checkpoint_key = "headscope.checkpoint";
inline constexpr std::int64_t checkpoint_project_format = 1;

/// Where the model of a project lies.
struct ModelPlace {
    std::string packaged = {}; ///< name of a model that comes with the program; empty: it lies at `path`
    std::string path = {};     ///< of its folder or GGUF file, absolute
    std::string relative = {}; ///< the same from the folder of the project on; empty: not known
};

/// A number around attention that the user set in place of the computed one.
struct SetActivation {
    std::int64_t attention = 0; ///< see stacks.h
    TensorId at{};
    std::int64_t row = 0, column = 0;
    float value = 0;
    bool operator==(const SetActivation&) const = default;
};

/// All of a project of a checkpoint but its edits, which only the model can tell.
struct CheckpointProject {
    ModelPlace model;
    std::string model_name = {}; ///< for people
    std::string text = {};       ///< as it was typed, and what was written
    std::string text_pair = {};  ///< the second of two texts; empty: none
    std::string decoder_text = {};
    std::vector<std::int64_t> ids = {};         ///< tokens of the text; of an encoder-decoder the encoder's
    std::vector<std::int64_t> decoder_ids = {}; ///< of an encoder-decoder, with the start token
    std::int64_t written = 0;                   ///< of the tokens: how many, the last, the model wrote
    std::vector<SetActivation> activations = {};
    std::string questions = {}; ///< what was asked, text that means nothing here; may be empty
    std::string view = {};      ///< how it was looked at, likewise
    std::string program = {};   ///< the version that wrote it
    std::map<std::string, std::string> metadata = {}; ///< all entries, other programs' too
};

/// A path as `place` for a project that is saved at `project_path`.
ModelPlace place_of(const std::string& model_path, const std::string& project_path);

/// The bytes of a project; `program` and `model_name` are filled in. `metadata`: further entries. Throws
/// Error(input) for edits that do not fit the model, and when the checkpoint cannot be read any more.
std::string checkpoint_project_bytes(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                     const CheckpointProject& project);
/// Writes a project whole or not at all. Throws likewise and like write_file_atomically.
void save_checkpoint_project(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                             const CheckpointProject& project, const std::string& path);

bool is_checkpoint_project(const format::Safetensors& file);

/// A project that was read, and the file that has its edits.
struct OpenedCheckpointProject {
    CheckpointProject project;
    format::Safetensors file;
};
/// Also a patch file, of which the place of the model is not known, and the text only where something was
/// asked of it (`questions`). Throws Error(input), one sentence, when the file is neither, newer than this
/// program, or damaged.
OpenedCheckpointProject open_checkpoint_project(const std::string& path);
OpenedCheckpointProject parse_checkpoint_project(std::string bytes, const std::string& source);

/// The edits, activations that were set among them. Throws Error(input) like checkpoint::read_patch: also
/// where the model is not the one that the project was saved with.
checkpoint::ModelEdits edits_of_project(const checkpoint::Model& model,
                                        const OpenedCheckpointProject& opened);

/// Where the model is now: where it was, else in the same place seen from the project, else beside the
/// project, else among `others` (paths of checkpoints that are known on this machine). Nothing when no such
/// place has a model that could be it.
std::optional<std::string> find_model(const OpenedCheckpointProject& opened, const std::string& project_path,
                                      const std::vector<std::string>& others);
/// Whether a checkpoint looks like the model of the project, before anything of it is opened.
bool could_be_model(const OpenedCheckpointProject& opened, const std::string& model_path);
/// The sentence for a model that is nowhere, without what to do.
std::string missing_model(const CheckpointProject& project, const std::string& project_path);

} // namespace headscope::project
