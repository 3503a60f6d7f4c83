#include "core/analysis/heads/model_heads.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::analysis {

std::vector<MeasuredHead> layer_heads(const Trace& trace, std::int64_t layer, const HeadTokens& tokens) {
    std::vector<MeasuredHead> rows;
    for (std::int64_t b = 0; b < trace.dims.B; ++b) {
        const auto all = head_metrics(trace, b, {}, tokens);
        for (std::int64_t h = 0; h < trace.dims.H; ++h)
            rows.push_back({.sequence = trace.dims.B > 1 ? std::optional(b) : std::nullopt,
                            .layer = layer,
                            .head = h,
                            .metrics = all[static_cast<std::size_t>(h)]});
    }
    return rows;
}

std::vector<MeasuredHead> text_heads(const checkpoint::TextModel& model,
                                     const checkpoint::ModelInputs& inputs, std::int64_t repeated,
                                     const checkpoint::ForwardOptions& options, run::Backend* backend,
                                     Progress& progress, bool hide_first) {
    const bool own = options.stack.value_or(checkpoint::Stack::own) == checkpoint::Stack::own;
    const checkpoint::ModelInputs& keys = own ? inputs : inputs.source.front();
    if (std::ranges::find(keys.attention_mask, 0) != keys.attention_mask.end())
        fail_input(
            tr("model_heads.inputs_padding_whose_rows",
               "the inputs have padding, whose rows would count in every score; give the tokens of one "
               "sequence with --text or --ids"));
    // Without a tokenizer the labels are numbers, of which no class of tokens can be told.
    const HeadTokens tokens{.keys = model.tokenizer == nullptr ? std::vector<std::string>() : keys.tokens,
                            .ids = keys.ids,
                            .repeated = repeated,
                            .hide_first = hide_first};
    std::vector<MeasuredHead> rows;
    checkpoint::ForwardOptions one_by_one = options;
    one_by_one.logits = false;
    one_by_one.take = [&](const checkpoint::LayerRun& layer) {
        std::ranges::move(layer_heads(layer.trace, layer.place.layer, tokens), std::back_inserter(rows));
    };
    checkpoint::run_model(*model.model, inputs, one_by_one, backend, progress);
    return rows;
}

std::vector<MeasuredHead> mean_heads(const std::vector<std::vector<MeasuredHead>>& texts) {
    std::vector<MeasuredHead> means = texts.front();
    for (std::size_t row = 0; row < means.size(); ++row) {
        std::vector<HeadMetrics> of_head;
        for (const std::vector<MeasuredHead>& text : texts)
            of_head.push_back(text[row].metrics);
        means[row].metrics = mean_of(of_head);
    }
    return means;
}

} // namespace headscope::analysis
