#include "core/format/tensor_entry.h"

#include "core/base/error.h"

namespace headscope::format {

std::string shape_text(const std::vector<std::int64_t>& extents) {
    std::string text = "(";
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
        text += (axis > 0 ? ", " : "") + std::to_string(extents[axis]);
    return text + ")";
}

Shape shape_of(const TensorEntry& entry, const std::string& source) {
    const auto& e = entry.extents;
    switch (e.size()) {
    case 0:
        return {};
    case 1:
        return {e[0]};
    case 2:
        return {e[0], e[1]};
    case 3:
        return {e[0], e[1], e[2]};
    case 4:
        return {e[0], e[1], e[2], e[3]};
    default:
        fail_input(source + ": tensor " + entry.name + " has " + std::to_string(e.size()) + " axes " +
                   entry.shape_text() + "; at most 4 can be used here");
    }
}

} // namespace headscope::format
