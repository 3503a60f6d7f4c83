#pragma once

#include "core/text/tokenizer/added_tokens.h"
#include "core/text/tokenizer/decoder.h"
#include "core/text/tokenizer/models/model.h"
#include "core/text/tokenizer/normalizers/normalizer.h"
#include "core/text/tokenizer/post_processor.h"
#include "core/text/tokenizer/pre_tokenizer.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// The parts of a tokenizer that does not come from a tokenizer.json. Parts other than the vocabulary and
/// the model may be empty.
struct TokenizerParts {
    std::string name; ///< of the file, for messages
    std::shared_ptr<const Vocabulary> vocabulary;
    std::shared_ptr<const nlohmann::json> added_tokens; ///< entries as in a tokenizer.json; null: none
    Normalizer normalizer;
    PreTokenizer pre_tokenizer;
    Model model;
    PostProcessor post_processor;
    Decoder decoder;
};

/// Throws Error(input) for a malformed added token.
std::unique_ptr<Tokenizer> build_tokenizer(TokenizerParts parts);

} // namespace headscope::text
