#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/files/config_reader.h"

#include <string>
#include <string_view>

namespace headscope::checkpoint {

/// What config.json of a Hugging Face checkpoint says; `source` names the text in messages. Missing keys take
/// the defaults of Hugging Face's configuration class of the family. Both spellings are read: that of
/// transformers 4 (rope_theta, rope_scaling, torch_dtype) and of transformers 5 (rope_parameters, dtype).
/// Throws Error(input) naming the key, what it has and what it should have; for a model_type that is not
/// known; and what require_supported throws.
Architecture read_architecture(std::string_view text, const std::string& source);

/// For messages: "gpt2, bert, ...".
std::string family_names();

} // namespace headscope::checkpoint
