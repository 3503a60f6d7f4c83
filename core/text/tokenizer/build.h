#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// A tokenizer from the content of a tokenizer.json; messages call the file `name`.
std::unique_ptr<Tokenizer> build_tokenizer(const nlohmann::json& description, const std::string& name);

} // namespace headscope::text
