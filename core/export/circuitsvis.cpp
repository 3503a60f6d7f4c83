#include "core/export/circuitsvis.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/export/collected_text.h"
#include "core/format/number_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

void check_layers(const std::vector<std::string>& tokens, const std::vector<CircuitsVisLayer>& layers) {
    if (layers.empty())
        fail_input(
            tr("circuitsvis_export.no_weights",
               "CircuitsVis shows attention weights, and none were asked for; add weights to --stages"));
    for (const CircuitsVisLayer& layer : layers) {
        const Shape& shape = layer.weights.shape();
        if (shape[0] != 1)
            fail_input(tr("circuitsvis_export.batch",
                          "CircuitsVis shows one text at a time, and these weights are of {}; write .npz, or "
                          "give one text",
                          shape[0]));
        if (shape[2] != shape[3])
            fail_input(tr("circuitsvis_export.two_texts",
                          "CircuitsVis shows queries and keys that are the same tokens, and here are {} "
                          "queries and {} keys; write .npz",
                          shape[2], shape[3]));
        if (std::ssize(tokens) != shape[2] && !tokens.empty())
            fail_input(tr("circuitsvis_export.tokens",
                          "CircuitsVis needs the token of each query, and {} of {} are known; write .npz",
                          tokens.size(), shape[2]));
    }
}

/// Appends the heads of one layer. Returns true if a weight above the diagonal is not 0.
bool append_heads(CollectedText& text, const SelectedStage& weights) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    const std::int64_t T = weights.shape()[3];
    std::int64_t at = 0;
    bool reads_later = false;
    weights.give([&](std::span<const float> numbers) {
        std::string& out = text.at_hand;
        for (const float number : numbers) {
            const std::int64_t column = at % T, row = at / T % T;
            if (!std::isfinite(number))
                fail_input(
                    tr("circuitsvis_export.not_finite",
                       "the weight of query {} and key {} of head {} is not finite, and JSON has no such "
                       "number; write .npz",
                       row, column, at / T / T + weights.first_head));
            out += column > 0 ? "," : row > 0 ? ",[" : at > 0 ? ",[[" : "[[";
            format::append_number(out, number);
            if (column + 1 == T)
                out += row + 1 == T ? "]]" : "]";
            reads_later = reads_later || (column > row && number != 0);
            ++at;
            text.pass_on(piece);
        }
    });
    return reads_later;
}

} // namespace

void write_circuitsvis(const std::vector<std::string>& tokens, const std::vector<CircuitsVisLayer>& layers,
                       const ByteSink& sink) {
    check_layers(tokens, layers);
    std::vector<std::string> shown = tokens, names;
    if (shown.empty()) // the component needs one for each row
        for (std::int64_t n = 0; n < layers.front().weights.shape()[2]; ++n)
            shown.push_back(std::to_string(n));
    for (const CircuitsVisLayer& layer : layers)
        for (std::int64_t h = 0; h < layer.weights.shape()[1]; ++h)
            names.push_back(layer.name + "H" + std::to_string(layer.weights.first_head + h));
    CollectedText text(sink);
    text.at_hand = "{\"tokens\":" + json_text(shown) + ",\"attention_head_names\":" + json_text(names) +
                   ",\"attention\":[";
    bool reads_later = false;
    for (const CircuitsVisLayer& layer : layers) {
        if (&layer != &layers.front())
            text.at_hand += ',';
        reads_later = append_heads(text, layer.weights) || reads_later;
    }
    text.at_hand += reads_later ? "],\"mask_upper_tri\":false}\n" : "]}\n";
    text.pass_on(0);
}

} // namespace headscope::exporting
