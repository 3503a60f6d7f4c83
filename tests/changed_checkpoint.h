#pragma once

#include "core/base/file.h"
#include "core/checkpoint/files/tensor_files.h"
#include "core/format/safetensors.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace headscope::test {

/// Writes a copy of a checkpoint folder with changed numbers, as float32. change: called with each tensor's
/// name and numbers, row by row. Returns the folder.
inline std::string
changed_checkpoint(const std::string& from, const std::string& to,
                   const std::function<void(const std::string& name, std::vector<float>& numbers)>& change) {
    namespace fs = std::filesystem;
    fs::create_directories(to);
    for (const char* const name : {"config.json", "tokenizer.json", "tokenizer_config.json"})
        if (fs::exists(fs::path(from) / name))
            fs::copy_file(fs::path(from) / name, fs::path(to) / name, fs::copy_options::overwrite_existing);
    const checkpoint::TensorFiles files = checkpoint::TensorFiles::open(from);
    format::SafetensorsWriter writer;
    for (const format::TensorEntry* const entry : files.entries()) {
        const TensorPtr own = files.tensor(entry->name);
        std::vector<float> numbers(own->values().begin(), own->values().end());
        change(entry->name, numbers);
        writer.add(entry->name, make_tensor(own->shape(), numbers));
    }
    write_file_atomically(to + "/model.safetensors", [&](const ByteSink& sink) { writer.write_to(sink); });
    return to;
}

} // namespace headscope::test
