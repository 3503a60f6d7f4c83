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

/// The tokens of a folder's tokenizer without those of the option files.
struct KnownTokens {
    std::function<std::optional<std::uint64_t>(const std::string& text)> id_of;
    std::function<bool(const std::string& text)> is_added; ///< as an added token; empty: there are none
    std::uint64_t next = 0;                                ///< id of the first new token
};

/// A special token that a kind of tokenizer has even if no file names it.
struct DefaultSpecialToken {
    const char* key; ///< such as "mask_token"; empty for an additional special token
    std::string_view text;
    bool lstrip = false;   ///< includes the white space before it
    bool appended = false; ///< belongs to the tokenizer even if its vocabulary lacks the token
};

/// The tokenizer options in the small files of a folder: tokenizer_config.json, special_tokens_map.json,
/// added_tokens.json and config.json, with Hugging Face's order of precedence.
class FolderOptions {
public:
    explicit FolderOptions(const std::string& folder);

    /// Hugging Face's name for the tokenizer, without the suffix "Fast": the name in a file, else the usual
    /// one of the model's family; empty if neither is known.
    std::string tokenizer_class() const;
    /// The content of tokenizer_config.json.
    JsonField config() const;
    /// A flag of tokenizer_config.json; null counts as false, and `otherwise` is the value of a missing flag.
    bool flag(const char* key, bool otherwise) const;
    /// A special token; `otherwise` if no file names it.
    std::string token(const char* key, std::string_view otherwise) const;
    /// The entries of "added_tokens", with their ids, in addition to a vocabulary. Usual tokens that no file
    /// names are included only if the vocabulary has them or they are `appended`, because the model has no
    /// row for others.
    nlohmann::json added_tokens(const KnownTokens& known, std::span<const DefaultSpecialToken> usual) const;
    /// Returns true if the folder has a file that gives the kind of tokenizer.
    bool has_tokenizer_files() const { return named_; }

private:
    struct Files;
    std::optional<JsonField> named(const char* key) const;

    std::string folder_;
    bool named_ = false;
    std::shared_ptr<const Files> files_;
};

} // namespace headscope::text
