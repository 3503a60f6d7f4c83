#pragma once

#include "core/checkpoint/families/architecture.h"
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

// One function per family, each in a file of its own; families.cpp lists them by model_type.
Architecture read_gpt2(const ConfigReader& reader);
Architecture read_bert(const ConfigReader& reader);
Architecture read_distilbert(const ConfigReader& reader);
Architecture read_roberta(const ConfigReader& reader);
Architecture read_llama(const ConfigReader& reader);
Architecture read_mistral(const ConfigReader& reader);
Architecture read_qwen2(const ConfigReader& reader);
Architecture read_smollm3(const ConfigReader& reader);
Architecture read_phi3(const ConfigReader& reader);
Architecture read_opt(const ConfigReader& reader);
Architecture read_gpt_neo(const ConfigReader& reader);
Architecture read_gpt_neox(const ConfigReader& reader);
Architecture read_phi(const ConfigReader& reader);
Architecture read_gptj(const ConfigReader& reader);
Architecture read_falcon(const ConfigReader& reader);

} // namespace headscope::checkpoint
