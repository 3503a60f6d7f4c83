#include "core/trace/find_stop.h"

namespace headscope {

std::optional<StageGroup> find_stop(std::string_view label) {
    for (int stop = 0; stop < stop_count; ++stop)
        if (const auto group = static_cast<StageGroup>(stop); group_info(group).label == label)
            return group;
    return std::nullopt;
}

} // namespace headscope
