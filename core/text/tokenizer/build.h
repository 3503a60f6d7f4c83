#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// A tokenizer from the content of a tokenizer.json; messages call the file `name`.
std::unique_ptr<Tokenizer> build_tokenizer(const nlohmann::json& description, const std::string& name);

/// Why load_tokenizer refuses the kind of tokenizer in a folder, told without reading its vocabulary; empty
/// when it does not.
std::string tokenizer_problem(const std::string& folder);

} // namespace headscope::text
