#pragma once

#include "core/analysis/reading_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::app {

// The names of choices of the view on the command line, in the order of their enums.

inline constexpr std::array<std::string_view, 4> weights_view_names{"heatmap", "arcs", "text", "graph"};
inline constexpr std::array<std::string_view, 3> heads_view_names{"each", "difference", "mean"};
inline constexpr std::array<std::string_view, 5> colour_map_names{"head", "neutral", "viridis", "cividis",
                                                                  "magma"};
inline constexpr std::array<std::string_view, 3> score_scale_names{"row", "head", "all"};

/// Returns the choice called `name`, which must be one of the names.
template<class Choice, std::size_t Count>
Choice choice_called(std::string_view name, const std::array<std::string_view, Count>& names) {
    return static_cast<Choice>(std::ranges::find(names, name) - names.begin());
}
template<class Choice, std::size_t Count>
std::string_view choice_name(Choice choice, const std::array<std::string_view, Count>& names) {
    return names.at(static_cast<std::size_t>(choice));
}

/// The option that turns a reading of weights on, such as "--hide-first-token".
inline std::string flag_of(const analysis::ReadingInfo& reading) {
    std::string flag = "--" + std::string(reading.id);
    std::ranges::replace(flag, ' ', '-');
    return flag;
}

} // namespace headscope::app
