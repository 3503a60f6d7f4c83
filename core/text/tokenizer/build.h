#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// A tokenizer from the content of a tokenizer.json; messages call the file `name`.
std::unique_ptr<Tokenizer> build_tokenizer(const nlohmann::json& description, const std::string& name);

/// How the token before the first of two texts stands before the second.
enum class SecondBegin : bool { without, again };
/// A post-processor that puts tokens, each ["text", id] or null, before and after a text, and after the
/// second of two.
nlohmann::json end_tokens(const nlohmann::json& before, const nlohmann::json& after, SecondBegin second);

/// Whether the tokenizer in a folder tells a model which of two texts a token belongs to; see
/// Encoding::types.
bool gives_token_types(const std::string& folder);

/// Why load_tokenizer refuses the kind of tokenizer in a folder, told without reading its vocabulary; empty
/// when it does not.
std::string tokenizer_problem(const std::string& folder);

} // namespace headscope::text
