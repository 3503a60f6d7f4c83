#include "core/text/tokenizer/sentencepiece/model_file.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/text/tokenizer/sentencepiece/wire_format.h"
#include "core/text/tokenizer/text_index.h"
#include "core/text/tokenizer/unicode.h"

#include <cmath>

namespace headscope::text {

namespace {

SentencePiece read_piece(MessageReader fields, std::size_t id, const std::string& file) {
    SentencePiece piece;
    while (fields.next())
        switch (fields.field()) {
        case 1:
            piece.text = fields.text();
            break;
        case 2:
            piece.score = fields.number();
            break;
        case 3: {
            constexpr auto first = static_cast<int>(PieceType::normal),
                           last = static_cast<int>(PieceType::byte);
            if (fields.integer() < first || fields.integer() > last)
                fail_input(tr("sentencepiece.piece_type",
                              "{}: piece {} has type {}, which should be from {} to {}; get the file again",
                              file, id, fields.integer(), first, last));
            piece.type = static_cast<PieceType>(fields.integer());
            break;
        }
        default:
            break;
        }
    if (piece.text.empty() || piece.text != to_utf8_lossy(piece.text))
        fail_input(tr("sentencepiece.piece_text", "{}: piece {} is empty or not UTF-8; get the file again",
                      file, id));
    if (!std::isfinite(piece.score))
        fail_input(tr("sentencepiece.piece_score",
                      "{}: the score of piece {} is not a finite number; get the file again", file, id));
    return piece;
}

void read_trainer(MessageReader fields, SentencePieceModel& model, const std::string& file) {
    while (fields.next())
        switch (fields.field()) {
        case 3: {
            using enum SentencePieceModel::Kind;
            if (fields.integer() < static_cast<int>(unigram) ||
                fields.integer() > static_cast<int>(character))
                fail_input(tr("sentencepiece.model_type",
                              "{} has model type {}, which should be from 1 to 4; get the file again", file,
                              fields.integer()));
            model.kind = static_cast<SentencePieceModel::Kind>(fields.integer());
            break;
        }
        case 24:
            model.blank_as_suffix = fields.flag();
            break;
        case 35:
            model.byte_fallback = fields.flag();
            break;
        case 40:
            model.unknown = fields.integer();
            break;
        case 45:
            model.unknown_piece = fields.text();
            break;
        default:
            break;
        }
}

void read_normalizer_fields(MessageReader fields, SentencePieceModel& model) {
    while (fields.next())
        switch (fields.field()) {
        case 2:
            model.charsmap = fields.text();
            break;
        case 3:
            model.adds_blank = fields.flag();
            break;
        case 4:
            model.removes_extra_blanks = fields.flag();
            break;
        case 5:
            model.marks_blanks = fields.flag();
            break;
        default:
            break;
        }
}

void check(const SentencePieceModel& model, const std::string& file) {
    if (model.pieces.empty())
        fail_input(tr("sentencepiece.no_pieces",
                      "{} has no pieces, so it is not a SentencePiece model; get the file again", file));
    TextIndex ids;
    ids.reserve(model.pieces.size());
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
        const std::string& text = model.pieces[id].text;
        if (const std::int32_t same = ids.find(text); same >= 0)
            fail_input(tr("sentencepiece.equal_pieces",
                          "{}: pieces {} and {} are both \"{}\"; get the file again", file, same, id, text));
        ids.add(text, static_cast<std::int32_t>(id));
    }
    if (model.unknown < 0 || model.unknown >= std::ssize(model.pieces))
        fail_input(tr("sentencepiece.unknown_id",
                      "{} names piece {} for unknown characters and has {} pieces; get the file again", file,
                      model.unknown, model.pieces.size()));
}

} // namespace

SentencePieceModel parse_sentencepiece(std::string_view bytes, const std::string& file) {
    SentencePieceModel model;
    MessageReader fields(bytes, file);
    while (fields.next())
        switch (fields.field()) {
        case 1:
            model.pieces.push_back(read_piece(fields.message(), model.pieces.size(), file));
            break;
        case 2:
            read_trainer(fields.message(), model, file);
            break;
        case 3:
            read_normalizer_fields(fields.message(), model);
            break;
        default: // tests of the trainer, and the rules for decoding, which only some Japanese models have
            break;
        }
    check(model, file);
    return model;
}

SentencePieceModel read_sentencepiece(const std::string& path) {
    constexpr std::uint64_t largest = std::uint64_t{256} << 20U;
    return parse_sentencepiece(read_file(path, largest), path);
}

} // namespace headscope::text
