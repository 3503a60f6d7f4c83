#pragma once

#include "core/checkpoint/files/tensor_files.h"

#include <memory>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

// Models of courses: a small JSON file says which tensors of a file beside it are which. Described for users
// in assets/manual/toy-models.md.

/// Returns true for a JSON file that describes such a model: an object with "blocks", "block" or "layout".
bool is_toy_model(const std::string& path);

struct ToyModel {
    TensorFiles tensors;   ///< as the family toy names them
    std::string config;    ///< its config.json
    std::string note = {}; ///< a sentence about what is not shown; empty: nothing
};
/// Throws Error(input) naming the key, what it has and what it should have, or the tensor that does not fit.
ToyModel open_toy_model(const std::string& path);
/// The same of the text of a description, called `source` in messages, and the tensors that it names.
ToyModel read_toy_model(std::string_view description, const std::string& source,
                        std::shared_ptr<const TensorFiles> tensors);

} // namespace headscope::checkpoint
