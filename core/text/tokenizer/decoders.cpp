#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/text/tokenizer/byte_level.h"
#include "core/text/tokenizer/decoder.h"
#include "core/text/tokenizer/pattern.h"
#include "core/text/tokenizer/unicode.h"

#include <array>
#include <charconv>
#include <limits>

namespace headscope::text {

namespace {

using Texts = std::vector<std::string>;

std::string replaced(std::string_view text, const Pattern& pattern, std::string_view content) {
    std::string out;
    std::size_t end = 0;
    for (const ByteRange& match : pattern(text)) {
        out += text.substr(end, match.begin - end);
        out += content;
        end = match.end;
    }
    return out += text.substr(end);
}

Texts decode_byte_level(const Texts& tokens) {
    std::string bytes;
    for (const std::string& token : tokens)
        bytes += bytes_of_byte_level_text(token).value_or(token);
    return {to_utf8_lossy(bytes)};
}

/// Removes spaces before punctuation and in contractions, as Hugging Face's WordPiece decoder does.
std::string cleaned(std::string text) {
    constexpr std::array<std::pair<const char*, const char*>, 11> repairs{{{" .", "."},
                                                                           {" ?", "?"},
                                                                           {" !", "!"},
                                                                           {" ,", ","},
                                                                           {" ' ", "'"},
                                                                           {" n't", "n't"},
                                                                           {" 'm", "'m"},
                                                                           {" do not", " don't"},
                                                                           {" 's", "'s"},
                                                                           {" 've", "'ve"},
                                                                           {" 're", "'re"}}};
    for (const auto& [from, to] : repairs)
        text = replaced(text, literal_pattern(from), to);
    return text;
}

Decoder read_word_piece_decoder(const JsonField& field) {
    return [prefix = field.string_or("prefix", "##"),
            clean = field.boolean_or("cleanup", true)](Texts tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (i > 0)
                tokens[i] = tokens[i].starts_with(prefix) ? tokens[i].substr(prefix.size()) : " " + tokens[i];
            if (clean)
                tokens[i] = cleaned(tokens[i]);
        }
        return tokens;
    };
}

Decoder read_metaspace_decoder(const JsonField& field) {
    const auto named = field.find("replacement");
    const std::string mark = named ? named->character() : "\u2581";
    const bool prefixed = field.find("prepend_scheme") ? field.at("prepend_scheme").string() != "never"
                                                       : field.boolean_or("add_prefix_space", true);
    return [pattern = literal_pattern(mark), prefixed](Texts tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = replaced(tokens[i], pattern, i == 0 && prefixed ? "" : " ");
        return tokens;
    };
}

Decoder read_replace_decoder(const JsonField& field) {
    return
        [pattern = read_pattern(field.at("pattern")), content = field.at("content").string()](Texts tokens) {
            for (std::string& token : tokens)
                token = replaced(token, pattern, content);
            return tokens;
        };
}

/// The byte that a token such as <0x0A> represents.
std::optional<char> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>')
        return std::nullopt;
    unsigned value = 0;
    const char* const end = token.data() + 5;
    const auto [stop, fault] = std::from_chars(token.data() + 3, end, value, 16);
    if (fault != std::errc() || stop != end)
        return std::nullopt;
    return static_cast<char>(value);
}

Texts decode_bytes(const Texts& tokens) {
    Texts out;
    std::string bytes;
    const auto flush = [&] {
        // A run that is not valid UTF-8 as a whole becomes one U+FFFD per byte.
        if (bytes == to_utf8_lossy(bytes) && !bytes.empty())
            out.push_back(bytes);
        else
            out.insert(out.end(), bytes.size(), "\uFFFD");
        bytes.clear();
    };
    for (const std::string& token : tokens) {
        if (const auto byte = byte_of(token)) {
            bytes += *byte;
            continue;
        }
        flush();
        out.push_back(token);
    }
    flush();
    return out;
}

/// Removes up to `start` copies of a character from the front of each token and up to `stop` from its end.
Decoder read_strip_decoder(const JsonField& field) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return [content = field.at("content").character(), start = field.at("start").integer(most),
            stop = field.at("stop").integer(most)](Texts tokens) {
        for (std::string& token : tokens) {
            std::string_view rest = token;
            for (std::int64_t i = 0; i < start && rest.starts_with(content); ++i)
                rest.remove_prefix(content.size());
            for (std::int64_t i = 0; i < stop && rest.ends_with(content); ++i)
                rest.remove_suffix(content.size());
            token = std::string(rest);
        }
        return tokens;
    };
}

Decoder read_sequence_decoder(const JsonField& field) {
    std::vector<Decoder> steps;
    for (const JsonField& step : field.at("decoders").elements())
        steps.push_back(read_decoder(step));
    return [steps](Texts tokens) {
        for (const Decoder& step : steps)
            tokens = step(std::move(tokens));
        return tokens;
    };
}

} // namespace

Decoder read_decoder(const JsonField& field) {
    const std::string type = field.at("type").string();
    if (type == "Sequence")
        return read_sequence_decoder(field);
    if (type == "ByteLevel")
        return decode_byte_level;
    if (type == "WordPiece")
        return read_word_piece_decoder(field);
    if (type == "Metaspace")
        return read_metaspace_decoder(field);
    if (type == "Replace")
        return read_replace_decoder(field);
    if (type == "ByteFallback")
        return decode_bytes;
    if (type == "Fuse")
        return [](const Texts& tokens) { return Texts{joined(tokens, {}, "")}; };
    if (type == "Strip")
        return read_strip_decoder(field);
    field.at("type").fail(tr("decoders.program_knows_no_such",
                             "this program does not support this decoder, only ByteLevel, WordPiece, "
                             "Metaspace, Replace, ByteFallback, Fuse, Strip and Sequence"));
}

} // namespace headscope::text
