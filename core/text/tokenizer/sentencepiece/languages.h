#pragma once

#include <span>
#include <string_view>

namespace headscope::text {

// Tokens of languages that Hugging Face's classes add to the pieces of a SentencePiece model, in the order of
// their ids.

/// The 25 codes of mBART (Liu et al. 2020).
std::span<const std::string_view> mbart_languages();
/// The 52 codes of mBART-50 (Tang et al. 2020), which begin with those of mBART.
std::span<const std::string_view> mbart50_languages();
/// The 202 codes of NLLB-200 (Costa-jussa et al. 2022).
std::span<const std::string_view> nllb_languages();

} // namespace headscope::text
