#include "app/state/opened_path.h"

#include "core/base/error.h"
#include "core/base/random_access_file.h"
#include "core/format/safetensors.h"
#include "core/project/case_file.h"
#include "core/project/project_file.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace headscope::app {

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

PathKind kind_of_content(const std::string& path) {
    const RandomAccessFile file(path);
    std::string start(std::min<std::size_t>(npy_magic.size(), file.size()), '\0');
    file.read(0, start);
    if (start == npy_magic)
        return PathKind::tensors;
    const format::Safetensors tensors = format::Safetensors::open_lazily(path);
    return project::is_project(tensors)                     ? PathKind::project
           : tensors.metadata().contains("headscope.patch") ? PathKind::patch
           : project::is_case(tensors)                      ? PathKind::problem
                                                            : PathKind::tensors;
}

} // namespace

bool is_checkpoint(const std::string& folder) {
    std::error_code none;
    return std::filesystem::is_regular_file(std::filesystem::path(folder) / "config.json", none);
}

PathKind kind_of_path(const std::string& path) {
    std::error_code fault;
    if (std::filesystem::is_directory(path, fault))
        return PathKind::folder;
    try {
        return kind_of_content(path);
    } catch (const Error&) {
        const std::string ending = std::filesystem::path(path).extension().string();
        if (ending == ".headscope")
            return PathKind::project;
        return ending == ".safetensors" || ending == ".npy" ? PathKind::tensors : PathKind::unknown;
    }
}

} // namespace headscope::app
