#pragma once

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The names of the models that come with the program, "pocket".
std::vector<std::string> packaged_models();
/// Whether a text is one of these names, which then goes before a file called so.
bool is_packaged(const std::string& named);

/// The folder of a checkpoint by what a user calls it: of a packaged model by its name; of a model in the
/// Hugging Face cache by its name there, such as gpt2 or someone/tiny@v1, if no file is called so; of one of
/// a checkpoint's own files, config.json or the weights (model.safetensors, its parts, their index), or of a
/// LoRA adapter's, the folder that holds it; else the text itself. The files of a packaged model are written
/// into the user's cache folder when they are not there yet, whole or not at all; if it cannot be written,
/// into a folder of this user below the system's temporary folder. Throws Error(input) that names the folders
/// that were tried.
std::string model_folder(const std::string& named);

/// The error for a path where nothing is, which may be the name of a model that is not downloaded yet: says
/// how to download it. Empty if there is something, or if it cannot be such a name.
std::string not_downloaded_message(const std::string& named);

/// Whether a path lies where model_folder() writes packaged models: a place for nobody's own files.
bool is_unpacked(const std::string& path);

} // namespace headscope::checkpoint
