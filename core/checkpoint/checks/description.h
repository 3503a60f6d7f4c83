#pragma once

#include "core/checkpoint/model/model.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::checkpoint {

/// The sizes of a model by the names of the command line, and what its layers have besides attention and one
/// MLP. Of an encoder-decoder those of the decoder; Model::encoder() has those of the encoder.
nlohmann::ordered_json described(const Model& model);

} // namespace headscope::checkpoint
