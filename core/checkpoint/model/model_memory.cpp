#include "core/checkpoint/model/model_memory.h"

#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

double bytes_of(const TensorName& row, const Architecture& architecture) {
    double bytes = sizeof(float);
    for (const std::int64_t extent : file_extents(row, architecture))
        bytes *= static_cast<double>(extent);
    return bytes;
}

/// The larger of the largest tensor outside the layers and of one layer. A layer's tensors are transposed one
/// by one while it is read, so that its largest tensor is in memory twice.
double least_bytes(const Architecture& architecture) {
    double table = 0, layer = 0, largest = 0;
    for (const auto* rows : {&architecture.names.body, &architecture.names.head})
        for (const TensorName& row : *rows) {
            if (!is_needed(row, architecture))
                continue;
            const double bytes = bytes_of(row, architecture);
            if (!is_per_layer(row.weight)) {
                table = std::max(table, bytes);
            } else {
                layer += bytes;
                largest = std::max(largest, bytes);
            }
        }
    return std::max(table, layer + largest);
}

} // namespace

void require_room_for(const Model& model) {
    double bytes = least_bytes(model.architecture());
    if (model.encoder() != nullptr)
        bytes = std::max(bytes, least_bytes(model.encoder()->architecture()));
    require_memory(static_cast<std::uint64_t>(std::min(bytes, 1e18)),
                   tr("model_memory.layer_table", "a layer or a table of {}", model.path()),
                   tr("model_memory.use_smaller_model", "use a smaller model"));
}

} // namespace headscope::checkpoint
