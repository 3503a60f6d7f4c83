#include "core/analysis/survey/pieces.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::analysis {

namespace {

/// Of the special tokens those that stand before this text; the tokenizer gives them no characters.
std::size_t count_before(const text::Encoding& encoding, const std::vector<text::TokenId>& special) {
    std::size_t before = 0;
    while (before < special.size() && before < encoding.ids.size() &&
           encoding.ids[before] == special[before] && encoding.offsets[before] == text::TextSpan{})
        ++before;
    return before;
}

} // namespace

PieceCutter::PieceCutter(checkpoint::TextModelPtr model, std::int64_t length)
    : model_(std::move(model)), length_(length) {
    if (model_->tokenizer == nullptr)
        fail_input(
            tr("pieces.cannot_read_texts", "{} cannot read texts: {}", model_->name(), model_->no_tokenizer));
    special_ = model_->tokenizer->encode("").ids;
    const auto least = std::ssize(special_) + 1;
    if (length_ < least)
        fail_input(tr("pieces.pieces_tokens_hold_nothing",
                      "pieces of {} tokens have no room for text; {} needs at least {}", length_,
                      model_->name(), least));
}

std::vector<Piece> PieceCutter::cut(const Corpus::Text& text) const {
    text::Encoding encoding;
    try {
        encoding = model_->tokenizer->encode(text.text);
    } catch (const Error& fault) {
        fail_input(tr("pieces.line", "line {}: {}", text.line, fault.what()));
    }
    const std::size_t before = count_before(encoding, special_), after = special_.size() - before;
    const auto own = std::ssize(encoding.ids) - std::ssize(special_);
    const std::int64_t at_once = length_ - std::ssize(special_);
    std::vector<Piece> pieces;
    for (std::int64_t begin = 0; begin < own; begin += at_once) {
        // One token left over attends to nothing but itself and the special tokens: its scores would say
        // where texts were cut.
        if (begin > 0 && at_once > 1 && own - begin == 1)
            break;
        Piece piece{.name = {text.line, std::ssize(pieces)}, .begin = begin, .ids = {}};
        const auto first = encoding.ids.begin() + static_cast<std::ptrdiff_t>(before) + begin;
        piece.ids.assign(special_.begin(), special_.begin() + static_cast<std::ptrdiff_t>(before));
        piece.ids.insert(piece.ids.end(), first, first + std::min(at_once, own - begin));
        piece.ids.insert(piece.ids.end(), special_.end() - static_cast<std::ptrdiff_t>(after),
                         special_.end());
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

std::vector<std::string> PieceCutter::tokens_of(const Piece& piece) const {
    std::vector<std::string> tokens;
    for (const std::int64_t id : piece.ids)
        tokens.emplace_back(model_->tokenizer->token_text(static_cast<text::TokenId>(id)));
    return tokens;
}

} // namespace headscope::analysis
