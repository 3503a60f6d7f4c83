#pragma once

#include "core/checkpoint/gguf/gguf_file.h"

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The paths of the language models in the GGUF files of a folder, ordered: of a model in several files the
/// first one that is there, and no parts that read images or sound (mmproj). A folder that cannot be read has
/// none.
std::vector<std::string> gguf_models_in(const std::string& folder);

/// All parts of a model in several files, of which `named`, at `path`, is one. The others are found in its
/// folder: by the usual names (NAME-00002-of-00005.gguf), else by what the files say themselves, which counts
/// if both differ. Throws Error(input) naming the first part that is missing.
GgufFile open_gguf_parts(GgufFile named, const std::string& path, VocabularyLists lists);

} // namespace headscope::checkpoint
