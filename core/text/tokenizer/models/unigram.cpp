#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/tokenizer/models/byte_tokens.h"
#include "core/text/tokenizer/models/model.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

/// The double that Hugging Face's library reads from the shortest decimal form of `value`: all digits as one
/// integer, rounded, times or divided by a power of ten, rounded again. A score can therefore differ from
/// `value` in its last bit, which decides between paths of equal score.
double as_library_reads(double value) {
    std::array<char, 32> text{};
    const char* const end =
        std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::scientific)
            .ptr;
    std::uint64_t digits = 0;
    int exponent = 0;
    const char* at = text.data();
    for (bool fraction = false; *at != 'e'; ++at)
        if (*at == '.') {
            fraction = true;
        } else {
            digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
            exponent -= fraction ? 1 : 0;
        }
    const std::string power(at[1] == '+' ? at + 2 : at + 1, end);
    exponent += std::stoi(power);
    constexpr int largest = std::numeric_limits<double>::max_exponent10;
    if (std::abs(exponent) > largest)
        return value;
    const double scale = std::stod("1e" + std::to_string(std::abs(exponent)));
    const double whole = static_cast<double>(digits);
    return std::copysign(exponent < 0 ? whole / scale : whole * scale, value);
}

/// A trie of byte strings. The children of a node are adjacent, in the order of their bytes.
class PieceTree {
public:
    struct Piece {
        std::string_view text;
        TokenId id = 0;
    };

    /// No text may occur twice. The views are not stored.
    explicit PieceTree(std::vector<Piece> pieces) {
        std::ranges::sort(pieces, {}, &Piece::text);
        struct Range {
            std::uint32_t begin, end;
        };
        nodes_.reserve(2 * pieces.size());
        nodes_.emplace_back();
        std::uint32_t node = 0;
        std::vector<Range> level{
            {0, static_cast<std::uint32_t>(pieces.size())}}; // the pieces below each node
        for (std::size_t depth = 0; !level.empty(); ++depth) {
            std::vector<Range> next_level;
            for (auto [begin, end] : level) {
                nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
                if (begin < end && pieces[begin].text.size() == depth)
                    nodes_[node].id = pieces[begin++].id;
                while (begin < end) {
                    const char byte = pieces[begin].text[depth];
                    std::uint32_t next = begin + 1;
                    while (next < end && pieces[next].text[depth] == byte)
                        ++next;
                    nodes_.push_back({.byte = static_cast<unsigned char>(byte)});
                    next_level.push_back({begin, next});
                    begin = next;
                }
                ++node;
            }
            level = std::move(next_level);
        }
        nodes_.push_back({.first_child = static_cast<std::uint32_t>(nodes_.size())});
    }

    /// Calls `visit(id, bytes)` for each piece that is a prefix of the text, shortest first.
    template<class Visit>
    void for_each_prefix(std::string_view text, const Visit& visit) const {
        std::size_t node = 0;
        for (std::size_t size = 1; size <= text.size(); ++size) {
            const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(nodes_[node].first_child);
            const auto end = nodes_.begin() + static_cast<std::ptrdiff_t>(nodes_[node + 1].first_child);
            const auto byte = static_cast<unsigned char>(text[size - 1]);
            const auto found = std::ranges::lower_bound(begin, end, byte, {}, &Node::byte);
            if (found == end || found->byte != byte)
                return;
            node = static_cast<std::size_t>(found - nodes_.begin());
            if (found->id >= 0)
                visit(found->id, size);
        }
    }

private:
    struct Node {
        std::uint32_t first_child = 0; ///< the children end before the first child of the next node
        TokenId id = -1;               ///< of the piece that ends here
        unsigned char byte = 0;
    };
    std::vector<Node> nodes_; ///< level by level; a last node marks the end of the last children
};

/// The last token of the best path to a position, and where that token begins.
struct BestStep {
    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    double score = 0; ///< of the whole path
    std::size_t begin = nowhere;
    TokenId id = 0;
};

/// The unigram language model (Kudo 2018), with the rules of Hugging Face's library for unknown characters.
/// With the types of the pieces: with the rules of SentencePiece.
class Unigram {
public:
    Unigram(UnigramPieces pieces, std::shared_ptr<const Vocabulary> vocabulary)
        : vocabulary_(std::move(vocabulary)), scores_(std::move(pieces.scores)),
          types_(std::move(pieces.types)), tree_(distinct_pieces()), unknown_(pieces.unknown) {
        constexpr double penalty = 10;
        unknown_score_ = lowest_score() - penalty;
        if (exact())
            unknown_score_ = static_cast<float>(unknown_score_);
        for (std::size_t id = 0; id < types_.size(); ++id)
            if (types_[id] == PieceType::normal)
                highest_score_ = std::max(highest_score_, scores_[id]);
        if (pieces.byte_fallback)
            bytes_ = ByteTokens(*vocabulary_);
    }

    void operator()(std::string_view word, std::vector<WordToken>& out) const {
        const std::vector<BestStep> best = best_steps(word);
        std::vector<WordToken> path; // from the last token to the first
        for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
            const BestStep& step = best[end];
            if (!path.empty() && step.id == unknown_ && path.back().id == unknown_)
                path.back().range.begin = step.begin;
            else
                path.push_back({step.id, {step.begin, end}});
        }
        for (auto token = path.rbegin(); token != path.rend(); ++token)
            append_known(word, *token, out);
    }

private:
    /// Returns true for SentencePiece's rules.
    bool exact() const { return !types_.empty(); }

    /// The lowest score: of all pieces, or by SentencePiece's rules of the normal ones.
    double lowest_score() const {
        double lowest = std::numeric_limits<double>::max();
        for (std::size_t id = 0; id < scores_.size(); ++id)
            if (!exact() || types_[id] == PieceType::normal)
                lowest = std::min(lowest, scores_[id]);
        return lowest == std::numeric_limits<double>::max() ? 0 : lowest;
    }

    std::vector<PieceTree::Piece> distinct_pieces() const {
        std::vector<PieceTree::Piece> pieces;
        pieces.reserve(scores_.size());
        for (TokenId id = 0; static_cast<std::size_t>(id) < scores_.size(); ++id) {
            const auto type = exact() ? types_[static_cast<std::size_t>(id)] : PieceType::normal;
            if (type != PieceType::normal && type != PieceType::user_defined)
                continue;
            if (const std::string_view text = vocabulary_->text(id);
                vocabulary_->is_distinct() || vocabulary_->find(text) == id)
                pieces.push_back({text, id});
        }
        return pieces;
    }

    /// SentencePiece prefers a user-defined piece to all others.
    double score_of(TokenId id, std::size_t size) const {
        const auto index = static_cast<std::size_t>(id);
        return exact() && types_[index] == PieceType::user_defined
                   ? static_cast<double>(static_cast<float>(size) * static_cast<float>(highest_score_)) - 0.1
                   : scores_[index];
    }

    /// The score of a path as it is stored: SentencePiece stores single precision.
    double stored(double score) const { return exact() ? static_cast<float>(score) : score; }

    /// The best step to each byte at which a character begins, and to the end (Viterbi). Among paths with
    /// equal scores the first one is kept: positions are visited from left to right, short pieces before long
    /// ones.
    std::vector<BestStep> best_steps(std::string_view word) const {
        std::vector<BestStep> best(word.size() + 1);
        for (std::size_t at = 0; at < word.size();) {
            const CodePoint letter = code_point_at(word, at).value_or(CodePoint{0xFFFD, 1});
            bool covered = false;
            tree_.for_each_prefix(word.substr(at), [&](TokenId id, std::size_t size) {
                covered = covered || size == letter.size;
                const double score = best[at].score + score_of(id, size);
                if (BestStep& step = best[at + size]; step.begin == BestStep::nowhere || score > step.score)
                    step = {stored(score), at, id};
            });
            const double score = best[at].score + unknown_score_;
            BestStep& next = best[at + letter.size];
            if (!covered && (next.begin == BestStep::nowhere || score > next.score))
                next = {stored(score), at,
                        unknown_ ? *unknown_ : refuse(word.substr(at, letter.size), letter.value)};
            at += letter.size;
        }
        return best;
    }

    [[noreturn]] static TokenId refuse(std::string_view text, char32_t letter) {
        std::array<char, 16> code{};
        std::snprintf(code.data(), code.size(), "U+%04X", static_cast<unsigned>(letter));
        fail_input(tr("unigram.tokenizer_no_token_character",
                      "the tokenizer has no token for the character \"{}\" ({}) and no unk_id for unknown "
                      "characters; leave the character out or give the model an unk_id",
                      text, code.data()));
    }

    /// Appends a token of the path. The text of an unknown token may be a piece as a whole; otherwise byte
    /// tokens may represent it.
    void append_known(std::string_view word, WordToken token, std::vector<WordToken>& out) const {
        const std::string_view text = word.substr(token.range.begin, token.range.end - token.range.begin);
        if (token.id != unknown_) {
            out.push_back(token);
        } else if (const auto id = exact() ? std::nullopt : vocabulary_->find(text)) {
            out.push_back({*id, token.range});
        } else if (bytes_.covers(text)) {
            for (const char byte : text)
                out.push_back({bytes_.token(byte), token.range});
        } else {
            token.displays_word_text = true;
            out.push_back(token);
        }
    }

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::vector<double> scores_;   ///< of each id
    std::vector<PieceType> types_; ///< of each id; empty: the rules of Hugging Face's library
    PieceTree tree_;
    double unknown_score_ = 0;
    double highest_score_ = std::numeric_limits<float>::lowest(); ///< of the normal pieces
    std::optional<TokenId> unknown_;
    ByteTokens bytes_;
};

} // namespace

Model unigram_model(UnigramPieces pieces, std::shared_ptr<const Vocabulary> vocabulary) {
    return [unigram = std::make_shared<const Unigram>(std::move(pieces), std::move(vocabulary))](
               std::string_view word, std::vector<WordToken>& out) { (*unigram)(word, out); };
}

Model read_unigram(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary) {
    UnigramPieces pieces;
    const JsonField vocab = field.at("vocab");
    pieces.scores.reserve(vocab.value().size());
    for (const nlohmann::json& piece : vocab.value())
        pieces.scores.push_back(as_library_reads(piece[1].get<double>()));
    if (const auto unknown = field.find("unk_id")) {
        if (pieces.scores.empty())
            unknown->fail(tr("unigram.vocab_empty_should_hold",
                             "its vocab is empty and should hold the unknown token"));
        pieces.unknown =
            static_cast<TokenId>(unknown->integer(static_cast<std::int64_t>(pieces.scores.size()) - 1));
    }
    pieces.byte_fallback = field.boolean_or("byte_fallback", false);
    return unigram_model(std::move(pieces), std::move(vocabulary));
}

} // namespace headscope::text
