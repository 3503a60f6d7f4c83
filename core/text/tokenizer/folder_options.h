#pragma once

#include "core/text/tokenizer/json_field.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::text {

/// The tokens that a folder's tokenizer has before the small files add theirs.
struct KnownTokens {
    std::function<std::optional<std::uint64_t>(const std::string& text)> id_of;
    std::function<bool(const std::string& text)> is_added; ///< as an added token; empty: none is
    std::uint64_t next = 0;                                ///< id of the first new token
};

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
    /// The entries of "added_tokens", with their ids, that come on top of a vocabulary. Usual tokens that no
    /// file names count only where the vocabulary has them, because the model has no row for others.
    nlohmann::json added_tokens(const KnownTokens& known, std::span<const UsualToken> usual) const;
    /// Whether the folder has a file that says what kind of tokenizer it is.
    bool is_named() const { return named_; }

private:
    struct Files;
    std::optional<JsonField> named(const char* key) const;

    std::string folder_;
    bool named_ = false;
    std::shared_ptr<const Files> files_;
};

} // namespace headscope::text
