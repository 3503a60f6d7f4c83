#pragma once

#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The folder of a model in a Hugging Face cache (models--NAME, with snapshots in it) that has the revision
/// of its branch main, else of the newest revision with weights. Nothing for other folders.
std::optional<std::string> cached_revision(const std::string& folder);

/// The checkpoints that a folder stands for, each a folder or a GGUF file: itself, which may be a LoRA
/// adapter (see adapter.h); the revision of a model in a Hugging Face cache; the checkpoints that a trainer
/// saved in it (checkpoint-STEP, by step), where it has no weights of its own; its GGUF files but for those
/// of parts that read images (mmproj). Empty: it stands for none.
std::vector<std::string> checkpoints_of_folder(const std::string& folder);

/// The checkpoint that a path stands for: the path itself, unless it is a folder that stands for another
/// one. Throws Error(input) that names several, also for a folder with a model and an adapter.
std::string checkpoint_at(const std::string& path);

} // namespace headscope::checkpoint
