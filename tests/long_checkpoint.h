#pragma once

#include "core/base/file.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>
#include <string>

namespace headscope::test {

/// Makes a checkpoint of two layers in the folder that supports 1,024 tokens. For a text of this length, the
/// four stages of scores take 134 MB.
inline std::string long_checkpoint(const TemporaryFolder& folder) {
    const std::string path = folder.file("long_llama");
    std::filesystem::copy(test_data("/models/llama_tiny_untied"), path);
    std::string config = read_file(path + "/config.json");
    const std::string few = "\"max_position_embeddings\": 64";
    config.replace(config.find(few), few.size(), "\"max_position_embeddings\": 1024");
    write_file_atomically(path + "/config.json", config);
    return path;
}

/// A text of 1,024 tokens for it.
inline std::string long_prompt() {
    std::string text;
    for (int n = 0; n < 1024; ++n)
        text += std::to_string(3 + n * n % 101) + " ";
    return text;
}

} // namespace headscope::test
