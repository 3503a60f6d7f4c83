#include "core/analysis/reading_options.h"

#include "core/base/message.h"

#include <algorithm>

namespace headscope::analysis {

namespace {

using R = ReadingOptions;

constexpr std::array<bool R::*, 3> further_heads{&R::means, &R::rollout, &R::flow};

} // namespace

const std::array<ReadingInfo, 7>& readings() {
    static constexpr std::array<ReadingInfo, 7> table{
        {{.option = &R::norm_weighted,
          .id = "norm weighted",
          .title = translatable("reading_options.norm_weighted", "Norm-weighted"),
          .does = translatable("reading_options.multiplies_each_weight",
                               "Multiplies each weight by the norm of what its key adds to the output and "
                               "divides each row by its sum: the weights themselves are no longer visible"),
          .note = translatable("reading_options.weighted_length_each_key",
                               "weighted by the norm of what each key adds"),
          .suffix = "-norm-weighted",
          .lacks = translatable("reading_options.weights_alone_no_values", "only weights, no values"),
          .renormalises = true},
         {.option = &R::hide_first_token,
          .id = "hide first token",
          .title = translatable("reading_options.first_token_hidden", "First token hidden"),
          .does = translatable("reading_options.takes_out_weights_key",
                               "Removes the weights on key 0 and divides each row by the rest: the weight on "
                               "the first token is no longer visible"),
          .note = translatable("reading_options.first_token_hidden_2", "first token hidden"),
          .suffix = "-first-hidden",
          .lacks = translatable("reading_options.one_key_alone", "only one key"),
          .renormalises = true},
         {.option = &R::hide_special_tokens,
          .id = "hide special tokens",
          .title = translatable("reading_options.special_tokens_hidden", "Special tokens hidden"),
          .does = translatable("reading_options.takes_out_rows_columns",
                               "Removes the rows and columns of special tokens such as [CLS] and <s> and "
                               "divides each row by the rest: the weight on them is no longer visible"),
          .note = translatable("reading_options.special_tokens_hidden_2", "special tokens hidden"),
          .suffix = "-specials-hidden",
          .lacks = translatable("reading_options.no_tokens_like_cls", "no tokens like [CLS] or <s>"),
          .renormalises = true},
         {.option = &R::merge_words,
          .id = "merge words",
          .title = translatable("reading_options.pieces_merged_words", "Pieces merged into words"),
          .does = translatable("reading_options.adds_up_weights_pieces",
                               "Sums the weights on the pieces of a word and averages the rows of its "
                               "pieces: which piece reads or is read is no longer visible"),
          .note = translatable("reading_options.words_merged", "words merged"),
          .suffix = "-words-merged",
          .lacks = translatable("reading_options.no_token_marked_piece",
                                "no token that is marked as a piece of a word")},
         {.option = &R::means,
          .id = "means",
          .title = translatable("reading_options.means_board", "Means in the grid"),
          .does = translatable("reading_options.adds_average_over_heads",
                               "Adds the mean over the heads of each layer, over the layers of each head, "
                               "and over all: none of them shows what a single head does"),
          .note = {},
          .suffix = "-with-means",
          .lacks = translatable("reading_options.one_head_one_layer", "one head of one layer")},
         {.option = &R::rollout,
          .id = "rollout",
          .title = translatable("reading_options.rollout_board", "Rollout in the grid"),
          .does = translatable("reading_options.adds_each_layer_how",
                               "Adds to each layer how much of each input token reaches a row through all "
                               "layers so far, if half of a row is its own input and all heads count "
                               "equally: values, norms and MLPs are ignored"),
          .note = {},
          .suffix = "-with-rollout",
          .lacks =
              translatable("reading_options.one_layer_other_keys",
                           "one layer, keys that are not its queries, or too many weights for a rollout")},
         {.option = &R::flow,
          .id = "flow",
          .title = translatable("reading_options.flow_board", "Flow in the grid"),
          .does =
              translatable("reading_options.adds_each_layer_largest",
                           "Adds to each layer the maximum flow from each input token to a row through all "
                           "layers so far, each row divided by its sum: values, norms and MLPs are ignored"),
          .note = {},
          .suffix = "-with-flow",
          .lacks = translatable("reading_options.one_layer_other_keys_2",
                                "one layer, keys that are not its queries, or more than 64 tokens")}}};
    return table;
}

ReadingOptions turned(ReadingOptions options, bool ReadingOptions::*option) {
    const bool on = !(options.*option);
    if (on && std::ranges::find(further_heads, option) != further_heads.end())
        for (bool R::*const other : further_heads)
            options.*other = false;
    options.*option = on;
    return options;
}

ReadingOptions both(const ReadingOptions& options, const ReadingOptions& possible) {
    ReadingOptions acting;
    for (const ReadingInfo& reading : readings())
        acting.*reading.option = options.*reading.option && possible.*reading.option;
    return acting;
}

bool ReadingOptions::renormalises() const {
    return std::ranges::any_of(readings(), [this](const ReadingInfo& reading) {
        return reading.renormalises && this->*reading.option;
    });
}

std::string reading_note(const ReadingOptions& options) {
    std::string note;
    const auto add = [&](std::string_view words, const char* between) {
        note += (note.empty() || words.empty() ? "" : between) + std::string(words);
    };
    for (const ReadingInfo& reading : readings())
        if (reading.renormalises && options.*reading.option)
            add(tr(reading.note), ", ");
    add(options.renormalises() ? tr("reading_options.rows_renormalised", "rows renormalized") : "", ", ");
    for (const ReadingInfo& reading : readings())
        if (!reading.renormalises && options.*reading.option)
            add(tr(reading.note), "; ");
    return note;
}

} // namespace headscope::analysis
