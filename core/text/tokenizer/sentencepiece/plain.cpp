#include "core/text/tokenizer/sentencepiece/plain.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/tokenizer/sentencepiece/merges.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

using nlohmann::json;
using Kind = SentencePieceModel::Kind;

bool is_searched(PieceType type) {
    return type == PieceType::normal || type == PieceType::user_defined;
}

/// The unknown piece by its type, or else by its id.
TokenId unknown_of(const SentencePieceModel& model) {
    const auto found = std::ranges::find(model.pieces, PieceType::unknown, &SentencePiece::type);
    return static_cast<TokenId>(found == model.pieces.end() ? model.unknown : found - model.pieces.begin());
}

Model model_of(const SentencePieceModel& model, const std::shared_ptr<const Vocabulary>& vocabulary) {
    if (model.kind == Kind::bpe) {
        std::vector<ScoredPiece> pieces;
        for (std::size_t id = 0; id < model.pieces.size(); ++id)
            if (is_searched(model.pieces[id].type))
                pieces.push_back({model.pieces[id].text, model.pieces[id].score, static_cast<TokenId>(id)});
        return bpe_model({.merges = merges_by_score(pieces),
                          .unknown = unknown_of(model),
                          .fuses_unknown = true,
                          .byte_fallback = model.byte_fallback},
                         vocabulary);
    }
    UnigramPieces pieces;
    for (const SentencePiece& piece : model.pieces) {
        pieces.scores.push_back(piece.score);
        pieces.types.push_back(piece.type);
    }
    pieces.unknown = unknown_of(model);
    pieces.byte_fallback = model.byte_fallback;
    return unigram_model(std::move(pieces), vocabulary);
}

} // namespace

void require_splitting_kind(const SentencePieceModel& model, const std::string& name) {
    if (model.kind != Kind::unigram && model.kind != Kind::bpe)
        fail_input(
            tr("sentencepiece.kind",
               "{} splits a text into words or characters, and only unigram and byte-pair models can be "
               "read; give token ids with --ids",
               name));
}

void refuse_charsmap(const std::string& name, const std::string& wanted) {
    fail_input(
        tr("sentencepiece.charsmap", "the precompiled_charsmap of {} cannot be used: {}", name, wanted));
}

std::shared_ptr<const Vocabulary> vocabulary_of(std::vector<std::string> texts) {
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->reserve(texts.size());
    for (std::size_t id = 0; id < texts.size(); ++id)
        vocabulary->add(std::move(texts[id]), static_cast<TokenId>(id));
    return vocabulary;
}

Decoder sentencepiece_decoder(bool removes_blank) {
    json steps = json::array();
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}});
    steps.push_back({{"type", "ByteFallback"}});
    steps.push_back({{"type", "Fuse"}});
    if (removes_blank)
        steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1U}, {"stop", 0U}});
    const json sequence{{"type", "Sequence"}, {"decoders", steps}};
    return read_decoder(JsonField(sequence, "decoder"));
}

TokenizerParts sentencepiece_parts(const SentencePieceModel& model, const std::string& name) {
    require_splitting_kind(model, name);
    SentencePieceNormalization rules;
    if (!model.charsmap.empty())
        rules.charsmap = std::make_shared<const Charsmap>(
            model.charsmap, [&](const std::string& wanted) { refuse_charsmap(name, wanted); });
    rules.adds_blank = model.adds_blank;
    rules.blank_as_suffix = model.blank_as_suffix;
    rules.removes_extra_blanks = model.removes_extra_blanks;
    rules.marks_blanks = model.marks_blanks;
    std::vector<std::string> texts;
    for (const SentencePiece& piece : model.pieces) {
        texts.push_back(piece.text);
        if (piece.type == PieceType::user_defined)
            rules.kept.push_back(piece.text);
    }
    if (model.kind == Kind::bpe && !rules.kept.empty())
        fail_input(
            tr("sentencepiece.user_defined",
               "{} is a byte-pair model with user-defined pieces, which can only be read for a known kind of "
               "tokenizer; add its tokenizer_config.json with tokenizer_class",
               name));
    TokenizerParts parts;
    parts.name = name;
    parts.vocabulary = vocabulary_of(std::move(texts));
    parts.normalizer = sentencepiece_normalizer(std::move(rules));
    parts.model = model_of(model, parts.vocabulary);
    parts.decoder = sentencepiece_decoder(model.adds_blank);
    return parts;
}

} // namespace headscope::text
