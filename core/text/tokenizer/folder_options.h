#pragma once

#include "core/text/tokenizer/json_field.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace headscope::text {

/// A special token that a kind of tokenizer has without a file that names it.
struct UsualToken {
    const char* key; ///< such as "mask_token"
    std::string_view text;
    bool lstrip = false; ///< takes the white space before it
};

/// What the small files of a folder say about its tokenizer: tokenizer_config.json, special_tokens_map.json,
/// added_tokens.json and config.json, with Hugging Face's order of precedence.
class FolderOptions {
public:
    explicit FolderOptions(const std::string& folder);

    /// Hugging Face's name for the tokenizer, without "Fast" at its end: the one in a file, else the usual
    /// one of the model's family; empty when neither is known.
    std::string tokenizer_class() const;
    /// The content of tokenizer_config.json.
    JsonField config() const;
    /// A switch of tokenizer_config.json; null counts as false.
    bool flag(const char* key, bool otherwise) const;
    /// A special token; `otherwise` when no file names it.
    std::string token(const char* key, std::string_view otherwise) const;
    /// The entries of "added_tokens" for a vocabulary, with their ids. Usual tokens that no file names count
    /// only where the vocabulary has them, because the model has no row for others.
    nlohmann::json added_tokens(const nlohmann::json& vocab, std::span<const UsualToken> usual) const;

private:
    struct Files;
    std::optional<JsonField> named(const char* key) const;

    std::string folder_;
    std::shared_ptr<const Files> files_;
};

} // namespace headscope::text
