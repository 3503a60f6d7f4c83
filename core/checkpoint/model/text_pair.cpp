#include "core/checkpoint/model/text_pair.h"

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/tensor_files.h"
#include "core/checkpoint/model/model.h"
#include "core/text/tokenizer/build.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

/// The byte offsets of the characters of a text, and its length.
std::vector<std::size_t> character_starts(const std::string& text) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < text.size(); ++at)
        if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U)
            starts.push_back(at);
    starts.push_back(text.size());
    return starts;
}

std::string without_blanks(const std::string& text, std::size_t begin, std::size_t end) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const std::size_t first = part.find_first_not_of(blanks);
    return first == std::string_view::npos
               ? std::string()
               : std::string(part.substr(first, part.find_last_not_of(blanks) + 1 - first));
}

} // namespace

PairForm pair_form(const text::Tokenizer& tokenizer, const Model& model, const std::string& path) {
    PairForm form;
    const Architecture& reading = in_stack(model.architecture(), Stack::encoder);
    form.types = reading.token_types > 1 && !reading.word_token_types &&
                 text::has_token_types(settings_folder(tokenizer_place(checkpoint_at(path))));
    form.known = form.types || tokenizer.separator().has_value();
    return form;
}

ModelInputs text_inputs(const text::Tokenizer& tokenizer, const PairForm& form, const std::string& text,
                        const std::string& second) {
    const text::Encoding encoding =
        second.empty() ? tokenizer.encode(text) : tokenizer.encode_pair(text, second);
    ModelInputs inputs;
    inputs.T = std::ssize(encoding.ids);
    inputs.ids.assign(encoding.ids.begin(), encoding.ids.end());
    if (form.types && std::ranges::any_of(encoding.types, [](std::int32_t type) { return type != 0; }))
        inputs.token_types.assign(encoding.types.begin(), encoding.types.end());
    return inputs;
}

std::optional<TextPair> typed_pair(const text::Tokenizer& tokenizer, const PairForm& form,
                                   const std::string& text) {
    const std::optional<text::TokenId> separator = tokenizer.separator();
    if (!form.types || !separator || text.find(tokenizer.token_text(*separator)) == std::string::npos)
        return std::nullopt;
    const text::Encoding encoding = tokenizer.encode(text), around = tokenizer.encode("");
    const std::vector<std::size_t> starts = character_starts(text);
    // Tokens that the post-processor adds have no characters of the text.
    const auto typed = [&](std::size_t token, text::TokenId id) {
        return token < encoding.ids.size() && encoding.ids[token] == id &&
               encoding.offsets[token].end > encoding.offsets[token].begin;
    };
    const auto byte_of = [&](std::int32_t character) {
        return starts.at(static_cast<std::size_t>(character));
    };
    std::size_t begin = 0;
    // Whoever types the separator may also type the tokens at both ends: "[CLS] a [SEP] b [SEP]".
    if (!around.ids.empty() && typed(1, around.ids.front()) && encoding.offsets[1].begin == 0)
        begin = byte_of(encoding.offsets[1].end);
    for (std::size_t at = 0; at < encoding.ids.size(); ++at) {
        if (!typed(at, *separator))
            continue;
        std::size_t end = text.size();
        for (std::size_t last = encoding.ids.size() - 1; last > at; --last)
            if (typed(last, *separator) &&
                without_blanks(text, byte_of(encoding.offsets[last].end), text.size()).empty())
                end = byte_of(encoding.offsets[last].begin);
        const std::size_t middle = byte_of(encoding.offsets[at].begin);
        TextPair pair{without_blanks(text, std::min(begin, middle), middle),
                      without_blanks(text, byte_of(encoding.offsets[at].end), end)};
        if (!pair.first.empty() && !pair.second.empty())
            return pair;
    }
    return std::nullopt;
}

} // namespace headscope::checkpoint
