#include "core/base/error.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace headscope;

namespace {

/// Checks that an accepted tokenizer splits any text into tokens, or refuses it.
void use(const text::Tokenizer& tokenizer, std::string_view text, std::int32_t letters) {
    const text::Encoding encoding = tokenizer.encode(text);
    fuzz::require(encoding.tokens.size() == encoding.ids.size() &&
                  encoding.offsets.size() == encoding.ids.size());
    for (const text::TextSpan& span : encoding.offsets)
        fuzz::require(0 <= span.begin && span.begin <= span.end && span.end <= letters);
    static_cast<void>(tokenizer.decode(encoding.ids, true));
    static_cast<void>(tokenizer.decode(encoding.ids, false));
}

/// Reads a tokenizer.json, and tries it on a fixed text and on its own source.
void read_tokenizer(std::string_view source) {
    fuzz::accepted([&] {
        const auto tokenizer = text::parse_tokenizer(source, "input");
        use(*tokenizer, "", 0);
        use(*tokenizer, "It's  1234 caf\u00e9 e\u0301\u0323, \u4e16\U0001F600<s>[MASK]\n", 33);
        use(*tokenizer, source, static_cast<std::int32_t>(source.size()));
    });
}

const fuzz::Registered tokenizer_target({.name = "tokenizer", .read = read_tokenizer});

} // namespace
