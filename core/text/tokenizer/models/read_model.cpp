#include "core/base/message.h"
#include "core/text/tokenizer/models/model.h"

#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

/// Files from before version 0.9 of the library have no "type".
std::string type_of_model(const JsonField& model) {
    if (const auto named = model.find("type"))
        return named->string();
    if (model.find("merges"))
        return "BPE";
    if (model.find("max_input_chars_per_word"))
        return "WordPiece";
    if (model.at("vocab").value().is_array())
        return "Unigram";
    return model.at("type").string();
}

} // namespace

Vocabulary read_vocabulary(const JsonField& model) {
    const JsonField vocab = model.at("vocab");
    return type_of_model(model) == "Unigram" ? Vocabulary::read_pieces(vocab) : Vocabulary::read(vocab);
}

Model read_model(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary) {
    const std::string type = type_of_model(field);
    if (type == "BPE")
        return read_bpe(field, std::move(vocabulary));
    if (type == "WordPiece")
        return read_word_piece(field, std::move(vocabulary));
    if (type == "Unigram")
        return read_unigram(field, std::move(vocabulary));
    field.at("type").fail(tr("read_model.program_knows_no_such",
                             "this program does not support this model, only BPE, WordPiece and Unigram"));
}

} // namespace headscope::text
