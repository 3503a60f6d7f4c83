#include "app/state/files/opened_path.h"

#include "core/base/error.h"
#include "core/base/random_access_file.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/model/patch_identity.h"
#include "core/format/arrays/circuitsvis_arrays.h"
#include "core/format/npy_header.h"
#include "core/format/npz.h"
#include "core/format/safetensors.h"
#include "core/format/torch/torch_file.h"
#include "core/project/case_file.h"
#include "core/project/checkpoint_project.h"
#include "core/project/project_file.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace headscope::app {

namespace {

constexpr std::string_view sqlite_magic = "SQLite format 3"; ///< the first bytes of every SQLite file

PathKind kind_of_content(const std::string& path) {
    const RandomAccessFile file(path);
    std::string start(std::min<std::size_t>(format::npy_magic.size(), file.size()), '\0');
    file.read(0, start);
    if (start == format::npy_magic)
        return PathKind::tensors;
    if (start == sqlite_magic.substr(0, format::npy_magic.size()))
        return PathKind::survey;
    if (format::is_npz_file(path)) // a checkpoint of torch.save is a ZIP archive too
        return PathKind::tensors;
    if (checkpoint::is_checkpoint(path))
        return PathKind::checkpoint;
    if (format::is_circuitsvis_file(path))
        return PathKind::tensors;
    const format::Safetensors tensors = format::Safetensors::open_lazily(path);
    return project::is_project(tensors) || project::is_checkpoint_project(tensors) ? PathKind::project
           : tensors.metadata().contains(checkpoint::patch_key)                    ? PathKind::patch
           : project::is_case(tensors)                                             ? PathKind::problem
                                                                                   : PathKind::tensors;
}

} // namespace

PathKind kind_of_ending(const std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    if (ending == ".md")
        return PathKind::lesson;
    if (ending == ".headscope")
        return PathKind::project;
    if (ending == ".gguf" || format::has_torch_ending(path))
        return PathKind::checkpoint;
    if (ending == ".db")
        return PathKind::survey;
    return ending == ".safetensors" || ending == ".npy" || ending == ".npz" ||
                   path.ends_with(".circuitsvis.json")
               ? PathKind::tensors
               : PathKind::unknown;
}

PathKind kind_of_path(const std::string& path) {
    std::error_code fault;
    if (std::filesystem::is_directory(path, fault))
        return checkpoint::is_checkpoint(path) || !checkpoint::checkpoints_of_folder(path).empty()
                   ? PathKind::checkpoint
                   : PathKind::folder;
    try {
        return kind_of_content(path);
    } catch (const Error&) {
        return kind_of_ending(path);
    }
}

bool is_checkpoint_work(const std::string& path) {
    try {
        return project::is_checkpoint_project(format::Safetensors::open_lazily(path));
    } catch (const Error&) {
        return false;
    }
}

} // namespace headscope::app
