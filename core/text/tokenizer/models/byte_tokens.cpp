#include "core/text/tokenizer/models/byte_tokens.h"

#include <algorithm>

namespace headscope::text {

ByteTokens::ByteTokens(const Vocabulary& vocabulary) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < tokens_.size(); ++byte)
        tokens_[byte] =
            vocabulary.find(std::string{'<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'});
}

bool ByteTokens::covers(std::string_view text) const {
    return std::ranges::all_of(
        text, [&](char byte) { return tokens_[static_cast<unsigned char>(byte)].has_value(); });
}

} // namespace headscope::text
