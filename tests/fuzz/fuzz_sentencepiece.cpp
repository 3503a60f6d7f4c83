#include "core/base/error.h"
#include "core/text/tokenizer/sentencepiece/from_folder.h"
#include "core/text/tokenizer/sentencepiece/plain.h"
#include "tests/fuzz/target.h"

#include <string>

using namespace headscope;

namespace {

/// Checks that an accepted tokenizer splits a text into tokens, or refuses it.
void cut(const text::Tokenizer& tokenizer, std::string_view text, std::int32_t letters) {
    const text::Encoding encoding = tokenizer.encode(text);
    fuzz::require(encoding.tokens.size() == encoding.ids.size() &&
                  encoding.offsets.size() == encoding.ids.size());
    for (const text::TextSpan& span : encoding.offsets)
        fuzz::require(0 <= span.begin && span.begin <= span.end && span.end <= letters);
    static_cast<void>(tokenizer.decode(encoding.ids, true));
}

/// Reads a SentencePiece model, and uses it by SentencePiece's rules and by those of several classes.
void read_model(std::string_view bytes) {
    fuzz::accepted([&] {
        const text::SentencePieceModel model = text::parse_sentencepiece(bytes, "input");
        const auto try_out = [](const text::Tokenizer& tokenizer) {
            cut(tokenizer, "", 0);
            cut(tokenizer, " It's  1234, caf\u00e9 e\u0301\u0323 \u4e16\U0001F600<s>[MASK]\n", 35);
        };
        static_cast<void>(fuzz::accepted(
            [&] { try_out(*text::build_tokenizer(text::sentencepiece_parts(model, "input"))); }));
        const text::FolderOptions options("no folder");
        for (const char* name :
             {"LlamaTokenizer", "T5Tokenizer", "XLMRobertaTokenizer", "AlbertTokenizer", "GemmaTokenizer"})
            static_cast<void>(fuzz::accepted([&] {
                try_out(*text::sentencepiece_tokenizer(*text::find_sentencepiece_class(name), model, options,
                                                       "input"));
            }));
    });
}

const fuzz::Registered sentencepiece_target({.name = "sentencepiece", .read = read_model});

} // namespace
