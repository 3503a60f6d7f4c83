#include "core/engine/range_fault.h"

#include "core/base/error.h"
#include "core/base/message.h"

namespace headscope::engine {

void fail_projection(std::string_view name, std::string_view weight, std::int64_t b, std::int64_t i,
                     std::int64_t c) {
    fail_input(tr("range_fault.leaves_float32s_range_make",
                  "{}[{}, {}, {}] leaves float32's range; make X or {} smaller", name, b, i, c, weight));
}

void fail_head_rows(std::string_view name) {
    fail_input(tr("range_fault.number_leaves_float32s_range",
                  "a number of {} leaves float32's range; make X, W_Q or W_K smaller", name));
}

void fail_head_rows(TensorId stage) {
    fail_head_rows(tensor_info(stage).name);
}

void fail_row(const std::string& what, const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
              const std::string& remedy) {
    fail_input(dims.B > 1 ? tr("range_fault.head_query_batch_entry",
                               "{} of head {} for query {} in batch entry {} leaves float32's range; {}",
                               what, h, i, b, remedy)
                          : tr("range_fault.head_query_leaves_float32s",
                               "{} of head {} for query {} leaves float32's range; {}", what, h, i, remedy));
}

void fail_score(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    fail_row(tr("common.score_key", "the score of key {}", j), dims, b, h, i,
             tr("common.raise_temperature_make_x", "raise the temperature, or make X, W_Q or W_K smaller"));
}

void fail_masked_score(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i) {
    fail_row(tr("range_fault.largest_masked_score", "the largest masked score"), dims, b, h, i,
             tr("common.make_additive_mask_smaller", "make the additive mask smaller"));
}

std::string layer_name(const graph::Node& node) {
    return node.name.substr(0, node.prefix == 0 ? 0 : node.prefix - 1);
}

} // namespace headscope::engine
