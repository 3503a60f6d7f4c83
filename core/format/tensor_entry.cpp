#include "core/format/tensor_entry.h"

#include "core/base/error.h"
#include "core/base/message.h"

namespace headscope::format {

Shape shape_of(const TensorEntry& entry, const std::string& source) {
    if (entry.extents.size() > Shape::max_rank)
        fail_input(tr("tensor_entry.tensor_axes_most_4",
                      "{}: tensor {} has {} axes {}; at most 4 can be used here", source, entry.name,
                      entry.extents.size(), entry.shape_text()));
    return Shape(entry.extents);
}

} // namespace headscope::format
