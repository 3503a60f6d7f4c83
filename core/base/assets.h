#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// The content of an embedded asset, by its path in the assets folder, for example "theme/tokens.json". If
/// the environment variable HEADSCOPE_ASSETS names a folder that contains the file, that file is read instead
/// of the copy in the program. Throws Error(internal) for an unknown name.
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
