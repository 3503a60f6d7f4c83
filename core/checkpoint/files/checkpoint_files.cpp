#include "core/checkpoint/files/checkpoint_files.h"

#include "core/base/file.h"
#include "core/base/message.h"
#include "core/checkpoint/files/consolidated.h"
#include "core/checkpoint/files/state_dict.h"
#include "core/checkpoint/files/toy_model.h"

#include <utility>

namespace headscope::checkpoint {

CheckpointFiles open_checkpoint_files(const std::string& path) {
    if (is_consolidated(path)) {
        TensorFiles tensors = open_consolidated(path);
        const std::string source = path + "/params.json";
        std::string config = config_of_params(read_file(source), source, tensors);
        return {.tensors = std::move(tensors),
                .config = std::move(config),
                .config_source = source,
                .rotary_neighbours = true};
    }
    if (is_state_dict(path)) {
        StateDict opened = open_state_dict(path);
        return {.tensors = std::move(opened.tensors),
                .config = std::move(opened.config),
                .config_source = path,
                .assumed =
                    tr("checkpoint_files.assumed_activation",
                       "The file does not say which GELU the model uses; the one of the code that saves "
                       "such a file today is computed")};
    }
    if (is_toy_model(path)) {
        ToyModel opened = open_toy_model(path);
        return {.tensors = std::move(opened.tensors),
                .config = std::move(opened.config),
                .config_source = path,
                .assumed = std::move(opened.note)};
    }
    TensorFiles tensors = TensorFiles::open(path);
    if (tensors.gguf() != nullptr)
        return {.tensors = std::move(tensors), .config_source = path};
    return {.tensors = std::move(tensors),
            .config = read_config(path),
            .config_source = settings_folder(path) + "/config.json"};
}

std::string checkpoint_config(const std::string& path) {
    return is_consolidated(path) || is_state_dict(path) || is_toy_model(path)
               ? open_checkpoint_files(path).config
           : is_gguf(path) ? ""
                           : read_config(path);
}

} // namespace headscope::checkpoint
