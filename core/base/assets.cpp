#include "core/base/assets.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace headscope {

std::string asset(std::string_view name) {
    if (const char* folder = std::getenv("HEADSCOPE_ASSETS"); folder != nullptr) {
        std::ifstream file(std::filesystem::path(folder) / name, std::ios::binary);
        if (file)
            return {std::istreambuf_iterator<char>(file), {}};
    }
    const auto rows = detail::embedded_assets();
    const auto row = std::ranges::find(rows, name, &detail::EmbeddedAsset::name);
    if (row == rows.end())
        throw Error(ErrorKind::internal, "the asset " + std::string(name) + " is not part of this program");
    return std::string(row->bytes);
}

std::vector<std::string> asset_names(std::string_view folder) {
    std::vector<std::string> names;
    for (const auto& row : detail::embedded_assets())
        if (row.name.starts_with(folder))
            names.emplace_back(row.name);
    std::ranges::sort(names);
    return names;
}

} // namespace headscope
