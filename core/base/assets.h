#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// A file of the assets folder by its path there, for example "theme/tokens.json". If the environment
/// variable HEADSCOPE_ASSETS names a folder that has the file, that file is read; else the copy inside the
/// program. Throws Error(internal) for an unknown name.
std::string asset(std::string_view name);

/// The names of all embedded assets below a folder, sorted.
std::vector<std::string> asset_names(std::string_view folder);

namespace detail {
struct EmbeddedAsset {
    std::string_view name;
    std::string_view bytes;
};
std::span<const EmbeddedAsset> embedded_assets();
} // namespace detail

} // namespace headscope
