#pragma once

#include "core/graph/location.h"

namespace headscope {

using StageGroup = graph::Step;
using Page = graph::Page;

inline constexpr int group_count = 11; ///< steps that every attention has
inline constexpr int stop_count = graph::step_count;
/// Returns true if the step lies around attention, where only a checkpoint has steps.
constexpr bool is_around(StageGroup group) {
    return group >= StageGroup::embedding;
}
inline constexpr int page_count = static_cast<int>(Page::vocabulary) + 1;

} // namespace headscope
