#pragma once

#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/tokenizer.h"

#include <memory>
#include <optional>
#include <unordered_map>

namespace headscope::text {

/// Finds tokens by text and by id. Immutable once it is shared.
class Vocabulary {
public:
    Vocabulary() = default;
    Vocabulary(Vocabulary&&) = default;
    Vocabulary& operator=(Vocabulary&&) = default;

    /// Reads an object {"token": id}. Throws Error(input) for an id that is not a whole number in [0, 2^31 -
    /// 1].
    static Vocabulary read(const JsonField& field);
    /// Reads a list of ["token", score]; the id of a token is its place, of a token that occurs twice its
    /// last. Throws Error(input) for an entry of another form.
    static Vocabulary read_pieces(const JsonField& field);

    /// Adds a token. If the id has a text already, text(id) returns the new one from now on.
    void add(std::string text, TokenId id);

    std::optional<TokenId> find(std::string_view text) const;
    /// Empty for an id without a token.
    std::string_view text(TokenId id) const;
    /// The number of tokens that were read and added.
    std::size_t size() const { return size_; }
    /// The length of the longest text in bytes.
    std::size_t longest() const { return longest_; }

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids_;
    std::unordered_map<TokenId, std::string_view> texts_; ///< views of the keys of ids_
    std::size_t size_ = 0;
    std::size_t longest_ = 0;
};

} // namespace headscope::text
