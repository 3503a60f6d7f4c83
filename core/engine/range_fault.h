#pragma once

#include "core/base/error.h"
#include "core/graph/node.h"
#include "core/tensor/dims.h"
#include "core/trace/stage.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::engine {

// Errors for numbers outside float32's range: Error(input), with the same sentence from every engine.

/// Reports column c of token i of batch entry b of a projection by that weight.
[[noreturn]] void fail_projection(std::string_view name, std::string_view weight, std::int64_t b,
                                  std::int64_t i, std::int64_t c);
/// Reports a stage that is computed per head from q or k.
[[noreturn]] void fail_head_rows(std::string_view name);
[[noreturn]] void fail_head_rows(TensorId stage);
/// Reports query i of head h, in the user's language. `what`: "the score of key 3", "the output"; remedy:
/// "make X, W_Q or W_K smaller".
[[noreturn]] void fail_row(const std::string& what, const Dims& dims, std::int64_t b, std::int64_t h,
                           std::int64_t i, const std::string& remedy);

/// Reports the scaled score of query i with key j in head h.
[[noreturn]] void fail_score(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
                             std::int64_t j);
/// Reports the largest score of query i in head h, after the mask is added.
[[noreturn]] void fail_masked_score(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i);

/// The name of the layer of a node: "layers.3"; empty outside layers.
std::string layer_name(const graph::Node& node);
/// Calls `call`. Puts the name of a layer, if there is one, before the sentence of an Error(input).
template<class Call>
void naming_layer(const std::string& layer, const Call& call) {
    try {
        call();
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::input || layer.empty())
            throw;
        fail_input(layer + ": " + fault.what());
    }
}

} // namespace headscope::engine
