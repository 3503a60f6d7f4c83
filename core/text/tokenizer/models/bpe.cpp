#include "core/base/message.h"
#include "core/text/tokenizer/models/byte_tokens.h"
#include "core/text/tokenizer/models/model.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <queue>

namespace headscope::text {

namespace {

/// The token that two adjacent tokens merge into, and the merge's rank: the lowest rank merges first.
struct Merge {
    std::uint32_t rank = 0;
    TokenId id = 0;
};

std::uint64_t pair_key(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
           static_cast<std::uint32_t>(right);
}

/// A token of the word, in a doubly linked list; a symbol with an empty range was merged into another.
struct Symbol {
    WordToken token;
    std::ptrdiff_t before = -1;
    std::ptrdiff_t after = -1;
};

/// A possible merge; it may be obsolete when it is processed.
struct Candidate {
    std::uint32_t rank;
    std::size_t at;
    TokenId id;
    /// Orders by rank, then from left to right.
    friend bool operator>(const Candidate& a, const Candidate& b) {
        return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
    }
};

/// Byte-pair encoding (Sennrich et al. 2016) with SentencePiece's byte fallback.
class Bpe {
public:
    Bpe(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary)
        : vocabulary_(std::move(vocabulary)), prefix_(field.string_or("continuing_subword_prefix", "")),
          suffix_(field.string_or("end_of_word_suffix", "")),
          fuse_unknown_(field.boolean_or("fuse_unk", false)),
          ignore_merges_(field.boolean_or("ignore_merges", false)) {
        if (const auto unknown = field.find("unk_token")) {
            unknown_ = vocabulary_->find(unknown->string());
            if (!unknown_)
                unknown->fail(tr("bpe.should_vocab", "it should be in vocab"));
        }
        if (field.boolean_or("byte_fallback", false))
            bytes_ = ByteTokens(*vocabulary_);
        read_letters();
        read_merges(field.at("merges"));
    }

    Bpe(const BpeMerges& merges, std::shared_ptr<const Vocabulary> vocabulary)
        : vocabulary_(std::move(vocabulary)), fuse_unknown_(merges.fuses_unknown), unknown_(merges.unknown) {
        if (merges.byte_fallback)
            bytes_ = ByteTokens(*vocabulary_);
        read_letters();
        merges_.reserve(merges.merges.size());
        for (std::uint32_t rank = 0; rank < merges.merges.size(); ++rank) {
            const TokenMerge& merge = merges.merges[rank];
            merges_.insert_or_assign(pair_key(merge.left, merge.right), Merge{rank, merge.both});
        }
    }

    void operator()(std::string_view word, std::vector<WordToken>& out) const {
        if (word.empty())
            return;
        if (ignore_merges_)
            if (const auto whole = vocabulary_->find(word)) {
                out.push_back({*whole, {0, word.size()}});
                return;
            }
        merge(symbols_of(word), out);
    }

private:
    void read_letters() {
        for (char32_t letter = 0; letter < letters_.size() && prefix_.empty() && suffix_.empty(); ++letter) {
            std::string text;
            append_utf8(text, letter);
            letters_[letter] = vocabulary_->find(text);
        }
    }

    void read_merges(const JsonField& field) {
        if (!field.value().is_array())
            field.fail(tr("bpe.should_list_pairs", "it should be a list of pairs"));
        merges_.reserve(field.value().size());
        for (std::uint32_t rank = 0; rank < field.value().size(); ++rank)
            add_merge(field, rank);
    }

    /// Reads a merge, "a b" or ["a", "b"]. Its path is formatted only for an error message: a file may have
    /// 300,000 merges.
    void add_merge(const JsonField& all, std::uint32_t rank) {
        const nlohmann::json& entry = all.value()[rank];
        const auto refuse = [&](const std::string& wanted) {
            JsonField(entry, all.path() + "[" + std::to_string(rank) + "]").fail(wanted);
        };
        std::string_view left, right;
        const auto text = [](const nlohmann::json& value) {
            return std::string_view(value.get_ref<const std::string&>());
        };
        if (entry.is_string() && text(entry).starts_with("#version"))
            return;
        if (entry.is_string() && std::ranges::count(text(entry), ' ') == 1) {
            left = text(entry).substr(0, text(entry).find(' '));
            right = text(entry).substr(left.size() + 1);
        } else if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
            left = text(entry[0]);
            right = text(entry[1]);
        } else {
            refuse(tr("bpe.should_two_tokens_b", "it should be two tokens, \"a b\" or [\"a\", \"b\"]"));
        }
        const auto first = vocabulary_->find(left), second = vocabulary_->find(right);
        const std::string_view rest = right.substr(std::min(prefix_.size(), right.size()));
        const auto both = vocabulary_->find(std::string(left) + std::string(rest));
        if (!first || !second || !both)
            refuse(tr("bpe.both_tokens_make_together", "both tokens and their merge should be in vocab"));
        merges_.insert_or_assign(pair_key(*first, *second), Merge{rank, *both});
    }

    /// The characters of the word as tokens: a character's own token, else its byte tokens, else the unknown
    /// token; a character without any of these is omitted. As in Hugging Face's library, an unknown token is
    /// added only before the next known character, so that byte tokens in between come before it.
    std::vector<Symbol> symbols_of(std::string_view word) const {
        std::vector<Symbol> symbols;
        symbols.reserve(word.size());
        std::optional<WordToken> waiting;
        const auto flush = [&] {
            if (waiting)
                symbols.push_back({.token = *waiting});
            waiting.reset();
        };
        for_each_code_point(word, [&](char32_t letter, std::size_t at, std::size_t size) {
            std::optional<TokenId> id = letter < letters_.size() ? letters_[letter] : std::nullopt;
            std::string text;
            if (!id) {
                text = spelled(word, at, at + size);
                id = vocabulary_->find(text);
            }
            if (id) {
                flush();
                symbols.push_back({.token = {*id, {at, at + size}}});
            } else if (bytes_.covers(text)) {
                for (std::size_t i = 0; i < text.size(); ++i) {
                    const std::size_t place = at + std::min(i, size - 1);
                    symbols.push_back({.token = {bytes_.token(text[i]), {place, place + 1}}});
                }
            } else if (unknown_) {
                if (!fuse_unknown_)
                    flush();
                waiting = WordToken{*unknown_, {waiting ? waiting->range.begin : at, at + size}};
            }
        });
        flush();
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            symbols[i].before = static_cast<std::ptrdiff_t>(i) - 1;
            symbols[i].after = i + 1 < symbols.size() ? static_cast<std::ptrdiff_t>(i) + 1 : -1;
        }
        return symbols;
    }

    std::string spelled(std::string_view word, std::size_t begin, std::size_t end) const {
        std::string text = begin > 0 ? prefix_ : "";
        text += word.substr(begin, end - begin);
        return end == word.size() ? text + suffix_ : text;
    }

    void merge(std::vector<Symbol> symbols, std::vector<WordToken>& out) const {
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
        const auto consider = [&](std::ptrdiff_t at) {
            if (at < 0 || symbols[static_cast<std::size_t>(at)].after < 0)
                return;
            const Symbol& left = symbols[static_cast<std::size_t>(at)];
            const Symbol& right = symbols[static_cast<std::size_t>(left.after)];
            if (const auto found = merges_.find(pair_key(left.token.id, right.token.id));
                found != merges_.end())
                queue.push({found->second.rank, static_cast<std::size_t>(at), found->second.id});
        };
        for (std::size_t i = 0; i < symbols.size(); ++i)
            consider(static_cast<std::ptrdiff_t>(i));
        while (!queue.empty()) {
            const Candidate next = queue.top();
            queue.pop();
            Symbol& left = symbols[next.at];
            if (gone(left) || left.after < 0)
                continue;
            Symbol& right = symbols[static_cast<std::size_t>(left.after)];
            const auto still = merges_.find(pair_key(left.token.id, right.token.id));
            if (still == merges_.end() || still->second.id != next.id)
                continue;
            left.token = {next.id, {left.token.range.begin, right.token.range.end}};
            right.token.range = {};
            left.after = right.after;
            if (left.after >= 0)
                symbols[static_cast<std::size_t>(left.after)].before = static_cast<std::ptrdiff_t>(next.at);
            consider(left.before);
            consider(static_cast<std::ptrdiff_t>(next.at));
        }
        for (const Symbol& symbol : symbols)
            if (!gone(symbol))
                out.push_back(symbol.token);
    }

    static bool gone(const Symbol& symbol) { return symbol.token.range == ByteRange{}; }

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::string prefix_, suffix_;
    bool fuse_unknown_ = false;
    bool ignore_merges_ = false;
    std::optional<TokenId> unknown_;
    ByteTokens bytes_;
    /// The tokens of the first code points, which include all byte-level characters. Used if a character has
    /// the same token at every position of a word.
    std::array<std::optional<TokenId>, 0x180> letters_;
    std::unordered_map<std::uint64_t, Merge> merges_;
};

} // namespace

Model bpe_model(const BpeMerges& merges, std::shared_ptr<const Vocabulary> vocabulary) {
    return [bpe = std::make_shared<const Bpe>(merges, std::move(vocabulary))](
               std::string_view word, std::vector<WordToken>& out) { (*bpe)(word, out); };
}

Model read_bpe(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary) {
    return [bpe = std::make_shared<const Bpe>(field, std::move(vocabulary))](
               std::string_view word, std::vector<WordToken>& out) { (*bpe)(word, out); };
}

} // namespace headscope::text
