#include "core/engine/range_fault.h"

#include "core/base/error.h"

namespace headscope::engine {

void fail_projection(TensorId stage, std::int64_t b, std::int64_t i, std::int64_t c) {
    const TensorInfo& info = tensor_info(stage);
    fail_input(std::string(info.name) + "[" + std::to_string(b) + ", " + std::to_string(i) + ", " +
               std::to_string(c) + "] leaves float32's range; make X or " +
               std::string(tensor_info(info.inputs[1]).name) + " smaller");
}

void fail_head_rows(TensorId stage) {
    fail_input("a number of " + std::string(tensor_info(stage).name) +
               " leaves float32's range; make X, W_Q or W_K smaller");
}

void fail_row(const std::string& what, const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
              const std::string& remedy) {
    fail_input("the " + what + " of head " + std::to_string(h) + " for query " + std::to_string(i) +
               (dims.B > 1 ? " in batch entry " + std::to_string(b) : "") + " leaves float32's range; " +
               remedy);
}

} // namespace headscope::engine
