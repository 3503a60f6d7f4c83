#pragma once

#include "core/checkpoint/files/config_reader.h"
#include "core/text/tokenizer/tokenizer.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headscope::checkpoint {

/// Purposes of reading a vocabulary.
enum class GgufVocabularyUse : std::uint8_t {
    texts, ///< splits texts as the model needs it
    names  ///< only names tokens
};

/// The tokenizer that the keys tokenizer.ggml.* of a GGUF file describe, as the content of a tokenizer.json:
/// model gpt2 (byte-level BPE, whose pattern `pre` names), llama (SentencePiece's BPE: of two merges the one
/// whose piece has the higher score comes first) or bert (WordPiece). Throws Error(input) naming the key for
/// what is missing, malformed or, for texts, of another kind.
nlohmann::json gguf_tokenizer_description(const ConfigReader& metadata,
                                          GgufVocabularyUse use = GgufVocabularyUse::texts);

/// The tokenizer of a model: of a GGUF file, or what text::load_tokenizer reads. Throws Error(input)
/// likewise.
std::unique_ptr<text::Tokenizer> load_model_tokenizer(const std::string& path);

/// The vocabulary of a GGUF file whose tokenizer is not read: it names tokens, but splits texts otherwise
/// than the model needs it. Null for other files, and where the file has no tokens.
std::unique_ptr<text::Tokenizer> load_model_vocabulary(const std::string& path);

} // namespace headscope::checkpoint
