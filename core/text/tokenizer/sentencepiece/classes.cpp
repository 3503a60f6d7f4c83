#include "core/text/tokenizer/sentencepiece/classes.h"

#include "core/text/tokenizer/sentencepiece/languages.h"

#include <algorithm>
#include <array>

namespace headscope::text {

namespace {

using Token = DefaultSpecialToken;
using Order = SentencePieceClass::Order;
using Cleaning = SentencePieceClass::Cleaning;

constexpr std::array llama_tokens{Token{"bos_token", "<s>", false, true},
                                  Token{"eos_token", "</s>", false, true},
                                  Token{"unk_token", "<unk>", false, true},
                                  Token{"sep_token", ""},
                                  Token{"pad_token", ""},
                                  Token{"cls_token", ""},
                                  Token{"mask_token", ""}};
constexpr std::array code_llama_tokens{Token{"bos_token", "<s>", false, true},
                                       Token{"eos_token", "</s>", false, true},
                                       Token{"unk_token", "<unk>", false, true},
                                       Token{"sep_token", ""},
                                       Token{"pad_token", ""},
                                       Token{"cls_token", ""},
                                       Token{"mask_token", ""},
                                       Token{"prefix_token", "\u2581<PRE>", false, true},
                                       Token{"middle_token", "\u2581<MID>", false, true},
                                       Token{"suffix_token", "\u2581<SUF>", false, true},
                                       Token{"eot_token", "\u2581<EOT>", false, true}};
constexpr std::array gemma_tokens{Token{"bos_token", "<bos>", false, true},
                                  Token{"eos_token", "<eos>", false, true},
                                  Token{"unk_token", "<unk>", false, true},
                                  Token{"sep_token", ""},
                                  Token{"pad_token", "<pad>", false, true},
                                  Token{"cls_token", ""},
                                  Token{"mask_token", ""}};
constexpr std::array t5_tokens{Token{"bos_token", ""},
                               Token{"eos_token", "</s>", false, true},
                               Token{"unk_token", "<unk>", false, true},
                               Token{"sep_token", ""},
                               Token{"pad_token", "<pad>", false, true},
                               Token{"cls_token", ""},
                               Token{"mask_token", ""}};
constexpr std::array albert_tokens{
    Token{"bos_token", "[CLS]", false, true}, Token{"eos_token", "[SEP]", false, true},
    Token{"unk_token", "<unk>", false, true}, Token{"sep_token", "[SEP]", false, true},
    Token{"pad_token", "<pad>", false, true}, Token{"cls_token", "[CLS]", false, true},
    Token{"mask_token", "[MASK]", true, true}};
constexpr std::array fnet_tokens{Token{"bos_token", ""},
                                 Token{"eos_token", ""},
                                 Token{"unk_token", "<unk>", false, true},
                                 Token{"sep_token", "[SEP]", false, true},
                                 Token{"pad_token", "<pad>", false, true},
                                 Token{"cls_token", "[CLS]", false, true},
                                 Token{"mask_token", "[MASK]", true, true}};
constexpr std::array big_bird_tokens{
    Token{"bos_token", "<s>", false, true},   Token{"eos_token", "</s>", false, true},
    Token{"unk_token", "<unk>", false, true}, Token{"sep_token", "[SEP]", false, true},
    Token{"pad_token", "<pad>", false, true}, Token{"cls_token", "[CLS]", false, true},
    Token{"mask_token", "[MASK]", true, true}};
constexpr std::array deberta_tokens{
    Token{"bos_token", "[CLS]", false, true},  Token{"eos_token", "[SEP]", false, true},
    Token{"unk_token", "[UNK]", false, true},  Token{"sep_token", "[SEP]", false, true},
    Token{"pad_token", "[PAD]", false, true},  Token{"cls_token", "[CLS]", false, true},
    Token{"mask_token", "[MASK]", false, true}};
constexpr std::array xlnet_tokens{Token{"bos_token", "<s>", false, true},
                                  Token{"eos_token", "</s>", false, true},
                                  Token{"unk_token", "<unk>", false, true},
                                  Token{"sep_token", "<sep>", false, true},
                                  Token{"pad_token", "<pad>", false, true},
                                  Token{"cls_token", "<cls>", false, true},
                                  Token{"mask_token", "<mask>", true, true},
                                  Token{"", "<eop>", false, true},
                                  Token{"", "<eod>", false, true}};
constexpr std::array fairseq_tokens{
    Token{"bos_token", "<s>", false, true},   Token{"eos_token", "</s>", false, true},
    Token{"unk_token", "<unk>", false, true}, Token{"sep_token", "</s>", false, true},
    Token{"pad_token", "<pad>", false, true}, Token{"cls_token", "<s>", false, true},
    Token{"mask_token", "<mask>", true, true}};
constexpr std::array camembert_tokens{
    Token{"bos_token", "<s>", false, true},    Token{"eos_token", "</s>", false, true},
    Token{"unk_token", "<unk>", false, true},  Token{"sep_token", "</s>", false, true},
    Token{"pad_token", "<pad>", false, true},  Token{"cls_token", "<s>", false, true},
    Token{"mask_token", "<mask>", true, true}, Token{"", "<s>NOTUSED", false, true},
    Token{"", "</s>NOTUSED", false, true},     Token{"", "<unk>NOTUSED", false, true}};
constexpr std::array xglm_tokens{Token{"bos_token", "<s>", false, true},
                                 Token{"eos_token", "</s>", false, true},
                                 Token{"unk_token", "<unk>", false, true},
                                 Token{"sep_token", "</s>", false, true},
                                 Token{"pad_token", "<pad>", false, true},
                                 Token{"cls_token", "<s>", false, true},
                                 Token{"mask_token", ""}};

constexpr std::array<std::string_view, 7> xglm_words{"<madeupword0>", "<madeupword1>", "<madeupword2>",
                                                     "<madeupword3>", "<madeupword4>", "<madeupword5>",
                                                     "<madeupword6>"};

constexpr std::string_view bert_single = "[CLS]:0 $A:0 [SEP]:0",
                           bert_pair = "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1";
constexpr std::string_view roberta_single = "<s> $A </s>", roberta_pair = "<s> $A </s> </s> $B </s>";

const std::array classes{
    SentencePieceClass{.name = "LlamaTokenizer",
                       .cleaning = Cleaning::prefixed,
                       .single = "",
                       .special = llama_tokens,
                       .unknown = 0,
                       .byte_fallback = true,
                       .has_prefix_option = true},
    SentencePieceClass{.name = "CodeLlamaTokenizer",
                       .cleaning = Cleaning::prefixed,
                       .single = "",
                       .special = code_llama_tokens,
                       .unknown = 0,
                       .byte_fallback = true,
                       .has_prefix_option = true},
    SentencePieceClass{.name = "GemmaTokenizer",
                       .order = Order::gemma,
                       .cleaning = Cleaning::marked,
                       .single = "",
                       .special = gemma_tokens,
                       .unknown = 3,
                       .byte_fallback = true},
    SentencePieceClass{.name = "T5Tokenizer",
                       .single = "$A </s>",
                       .pair = "$A </s> $B </s>",
                       .special = t5_tokens,
                       .has_prefix_option = true},
    SentencePieceClass{.name = "MT5Tokenizer",
                       .single = "$A </s>",
                       .pair = "$A </s> $B </s>",
                       .special = t5_tokens,
                       .has_prefix_option = true},
    SentencePieceClass{.name = "AlbertTokenizer",
                       .cleaning = Cleaning::plain,
                       .single = bert_single,
                       .pair = bert_pair,
                       .special = albert_tokens,
                       .lower_case = true,
                       .keeps_accents = false,
                       .lowers_commas = true},
    SentencePieceClass{.name = "FNetTokenizer",
                       .cleaning = Cleaning::plain,
                       .single = bert_single,
                       .pair = bert_pair,
                       .special = fnet_tokens,
                       .lowers_commas = true},
    SentencePieceClass{.name = "XLNetTokenizer",
                       .cleaning = Cleaning::plain,
                       .single = "$A:0 <sep>:0 <cls>:2",
                       .pair = "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
                       .special = xlnet_tokens,
                       .keeps_accents = false,
                       .lowers_commas = true},
    SentencePieceClass{.name = "RemBertTokenizer",
                       .cleaning = Cleaning::collapsed,
                       .single = bert_single,
                       .pair = bert_pair,
                       .special = albert_tokens},
    SentencePieceClass{
        .name = "BigBirdTokenizer", .single = bert_single, .pair = bert_pair, .special = big_bird_tokens},
    SentencePieceClass{.name = "DebertaV2Tokenizer",
                       .cleaning = Cleaning::stripped,
                       .single = bert_single,
                       .pair = bert_pair,
                       .special = deberta_tokens},
    SentencePieceClass{.name = "XLMRobertaTokenizer",
                       .order = Order::fairseq,
                       .single = roberta_single,
                       .pair = roberta_pair,
                       .special = fairseq_tokens,
                       .appends_mask = true,
                       .unknown = 3},
    SentencePieceClass{.name = "CamembertTokenizer",
                       .order = Order::camembert,
                       .single = roberta_single,
                       .pair = roberta_pair,
                       .special = camembert_tokens,
                       .appends_mask = true,
                       .unknown = 3},
    SentencePieceClass{.name = "BarthezTokenizer",
                       .single = roberta_single,
                       .pair = roberta_pair,
                       .special = fairseq_tokens,
                       .unknown = 3},
    SentencePieceClass{.name = "XGLMTokenizer",
                       .order = Order::fairseq,
                       .single = "</s> $A",
                       .pair = "</s> $A </s> </s> $B",
                       .special = xglm_tokens,
                       .appended = xglm_words,
                       .unknown = 3},
    SentencePieceClass{.name = "MBartTokenizer",
                       .order = Order::fairseq,
                       .single = "$A </s> @",
                       .pair = "$A $B </s> @",
                       .special = fairseq_tokens,
                       .appended = mbart_languages(),
                       .appends_mask = true,
                       .unknown = 3,
                       .language = "en_XX"},
    SentencePieceClass{.name = "MBart50Tokenizer",
                       .order = Order::fairseq,
                       .single = "@ $A </s>",
                       .pair = "@ $A $B </s>",
                       .special = fairseq_tokens,
                       .appended = mbart50_languages(),
                       .appends_mask = true,
                       .unknown = 3,
                       .language = "en_XX"},
    SentencePieceClass{.name = "NllbTokenizer",
                       .order = Order::fairseq,
                       .single = "@ $A </s>",
                       .pair = "@ $A $B </s>",
                       .special = fairseq_tokens,
                       .appended = nllb_languages(),
                       .appends_mask = true,
                       .unknown = 3,
                       .language = "eng_Latn"}};

} // namespace

const SentencePieceClass* find_sentencepiece_class(std::string_view name) {
    const auto found = std::ranges::find(classes, name, &SentencePieceClass::name);
    return found == classes.end() ? nullptr : &*found;
}

} // namespace headscope::text
