#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// A file of the assets folder by its path there, for example "theme/tokens.json". The copy inside the
/// program, or the one below the folder that the environment variable HEADSCOPE_ASSETS names where it has
/// one. Throws Error(internal) for a name that does not exist.
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
