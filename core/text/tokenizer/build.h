#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// Builds a tokenizer from the content of a tokenizer.json; messages call the file `name`.
std::unique_ptr<Tokenizer> build_tokenizer(const nlohmann::json& description, const std::string& name);

/// Controls whether the begin token is repeated before the second of two texts.
enum class SecondBeginToken : bool { omitted, repeated };
/// A post-processor that adds tokens, each ["text", id] or null, before and after a text, and after the
/// second of two.
nlohmann::json begin_end_post_processor(const nlohmann::json& before, const nlohmann::json& after,
                                        SecondBeginToken second);

/// Returns true if the tokenizer in a folder marks which of two texts a token belongs to; see
/// Encoding::types.
bool has_token_types(const std::string& folder);

/// The reason why load_tokenizer rejects the kind of tokenizer in a folder, determined without reading its
/// vocabulary; empty if it does not.
std::string unsupported_tokenizer_reason(const std::string& folder);

} // namespace headscope::text
