#include "app/draw/block/block_parts.h"
#include "app/draw/panels/guide_speaker.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using enum TensorId;

GuideText say_residual(const Shown& shown, TensorId id, std::int64_t i) {
    const auto length = [&](TensorId of) {
        return number(
            static_cast<double>(checkpoint::row_lengths(*shown.tensor(of))[static_cast<std::size_t>(i)]), 1);
    };
    const std::string token = say_query(shown.problem(), i);
    GuideText out{.heading = tr("guide_texts_around.one_vector_per_token",
                                "One vector per token, and everything is added to it")};
    const std::vector<TensorId> terms = made_from(shown, id);
    if (terms.empty()) {
        out.paragraphs.push_back(
            enters_cross(shown)
                ? tr("guide_texts_around.residual_stream_cross",
                     "This is the residual stream as the cross-attention gets it from the self-attention: a "
                     "row of {} numbers for each token.",
                     grouped(shown.dims().D))
                : tr("guide_texts_around.residual_stream_layer",
                     "This is the residual stream as the layer gets it: a row of {} numbers for "
                     "each token.",
                     grouped(shown.dims().D)));
        out.paragraphs.push_back(tr("guide_texts_around.row_length",
                                    "The row of {} has the length {}, the root of the sum of its squares.",
                                    token, length(id)));
        out.try_it = tr("guide_texts_around.press_page_down_how",
                        "Press Page Down: how does the length grow from layer to layer?");
        return out;
    }
    std::string sum;
    for (const TensorId term : terms) {
        // Translators: the first {} is the name of a stage: output has the length 3.1
        const std::string part =
            tr("guide_texts_around.length", "{} has the length {}", name_of(term), length(term));
        // Translators: joins two parts such as "output has the length 3.1"
        sum = sum.empty() ? part : tr("guide_texts_around.and", "{} and {}", sum, part);
    }
    out.paragraphs.push_back(tr("guide_texts_around.nothing_replaced_here",
                                "Nothing is replaced here. The output of the attention or the MLP is added, "
                                "number by number, to what was there."));
    // Translators: at a token, parts such as "output has the length 3.1"; the sum
    out.paragraphs.push_back(
        tr("guide_texts_around.sum_length", "At {}, {}; the sum has the length {}.", token, sum, length(id)));
    out.try_it = tr("guide_texts_around.point_cell_sum_parts",
                    "Hover over a cell of the sum: its terms light up above it.");
    return out;
}

GuideText say_norm(const Shown& shown, TensorId id, std::int64_t i) {
    const TensorId from = made_from(shown, id).front();
    const checkpoint::NormOfRows norm = *norm_at(shown, id);
    const NormNumbers numbers = norm_numbers(norm, row_of(shown, from, i));
    const bool layer_norm = norm.centered;
    GuideText out{.heading = tr("guide_texts_around.one_ruler_every_token", "One scale for every token")};
    out.paragraphs.push_back(layer_norm ? tr("guide_texts_around.norm_brings_each_row",
                                             "The norm brings each row to mean 0 and variance 1. A learned "
                                             "weight then scales each dimension, and a bias shifts it.")
                                        : tr("guide_texts_around.norm_brings_each_ro_2",
                                             "The norm brings each row to the root mean square 1. A learned "
                                             "weight then scales each dimension."));
    out.paragraphs.push_back(
        layer_norm ? tr("guide_texts_around.row_divided_after",
                        "The row of {} is divided by {}, after its mean {} was subtracted.",
                        say_query(shown.problem(), i), number(numbers.spread, 2), number(numbers.mean, 2))
                   : tr("guide_texts_around.row_divided", "The row of {} is divided by {}.",
                        say_query(shown.problem(), i), number(numbers.spread, 2)));
    out.paragraphs.push_back(
        tr("guide_texts_around.residual_stream",
           "The residual stream itself stays as it is: the next stage reads a normalized copy."));
    out.try_it =
        tr("guide_texts_around.click_tallest_bar_how",
           "Click the tallest bar. How much of it is left after the norm? Then drag its weight to 0.");
    if (shown.block->stages().is_stream(shown.block->place, id))
        out.paragraphs.back() =
            tr("guide_texts_around.normed_rows_take", "The normalized rows replace the sum.");
    return out;
}

GuideText say_mlp(const Shown& shown, TensorId id, std::int64_t i) {
    const std::int64_t d_ff = shown.dims().d_ff;
    GuideText out{.heading = tr("guide_texts_around.small_detectors", "{} small detectors", grouped(d_ff))};
    out.paragraphs.push_back(
        tr("guide_texts_around.each_unit_compares",
           "Each unit compares the row of a token with its own column of W_in. If they agree, the unit is "
           "active and adds a multiple of its row of W_out to the residual stream."));
    const std::span<const float> act = row_of(shown, mlp_act, i);
    const auto strongest = std::ranges::max_element(act, {}, [](float v) { return std::abs(v); });
    out.paragraphs.push_back(tr("guide_texts_around.unit_largest_number",
                                "At {}, unit {} has the activation of largest magnitude: {}.",
                                say_query(shown.problem(), i), strongest - act.begin(),
                                number(static_cast<double>(*strongest), 2)));
    if (shown.tensor(mlp_gate) != nullptr)
        out.paragraphs.push_back(
            tr("guide_texts_around.gate_goes_through",
               "Each number is multiplied by a gate, to which the activation function is applied."));
    out.paragraphs.push_back(tr("guide_texts_around.no_token_looks", "No token reads another one here."));
    out.try_it = is_output_of_mlp(shown, id)
                     ? tr("guide_texts_around.point_number",
                          "Hover over a number: the inspector lists the units that contribute to it.")
                     : tr("guide_texts_around.click_unit_weights",
                          "Click a unit to see its weights at the bottom of the view: which words does the "
                          "unit raise, and how does that change when you drag a weight?");
    return out;
}

GuideText say_experts(const Shown& shown, std::int64_t i) {
    const std::span<const float> fractions = row_of(shown, routing, i);
    const auto used = std::ranges::count_if(fractions, [](float fraction) { return fraction > 0; });
    GuideText out{.heading = tr("guide_texts_around.experts_of_token", "{} of {} experts for each token",
                                used, std::ssize(fractions))};
    out.paragraphs.push_back(
        tr("guide_texts_around.router_chooses",
           "The router multiplies the row of a token by its matrix: one number for each expert. The experts "
           "with the largest numbers compute; each is a small MLP of its own."));
    const auto most = std::ranges::max_element(fractions);
    const std::string token = say_query(shown.problem(), i), times = number(static_cast<double>(*most), 2);
    out.paragraphs.push_back(shown.block->stages().scales_expert_input(shown.block->place)
                                 ? tr("guide_texts_around.most_of_expert_input",
                                      "At {}, expert {} counts most: what it reads is multiplied by {}.",
                                      token, most - fractions.begin(), times)
                                 : tr("guide_texts_around.most_of_expert",
                                      "At {}, expert {} counts most: its output is multiplied by {}.", token,
                                      most - fractions.begin(), times));
    out.try_it = tr("guide_texts_around.click_an_expert",
                    "Click another token: does the router choose other experts there?");
    return out;
}

GuideText say_delta(const Shown& shown, TensorId id, std::int64_t i) {
    const std::string token = say_query(shown.problem(), i);
    GuideText out{.heading = tr("guide_texts_around.delta_heading", "A memory in place of attention")};
    if (id == delta_q) {
        out.paragraphs.push_back(tr(
            "guide_texts_around.delta_qkv",
            "Queries, keys and values are projections of the row, mixed with those of the last tokens by a "
            "convolution. Queries and keys have length 1."));
    } else if (id == delta_y) {
        const auto kept = row_of(shown, delta_decay, i), written = row_of(shown, delta_beta, i);
        out.paragraphs.push_back(
            tr("guide_texts_around.delta_state",
               "Each head keeps a matrix, its state. At every token the state decays, the key says where to "
               "write, and the value replaces what was stored there. The query reads the state."));
        out.paragraphs.push_back(
            tr("guide_texts_around.delta_numbers",
               "At {}, head 0 keeps {} percent of its state and replaces {} percent of what it had "
               "stored under the key.",
               token, number(100.0 * static_cast<double>(kept.front()), 1),
               number(100.0 * static_cast<double>(written.front()), 1)));
    } else {
        out.paragraphs.push_back(
            tr("guide_texts_around.delta_out",
               "What each head read is normalized, multiplied by silu(z), and W_out mixes the heads."));
    }
    out.paragraphs.push_back(tr("guide_texts_around.delta_no_weights",
                                "There are no attention weights: what a token reads of an earlier one is in "
                                "the state alone."));
    out.try_it =
        tr("guide_texts_around.delta_try", "Hover over a number: the inspector writes out its arithmetic.");
    return out;
}

GuideText say_copies(const Shown& shown, TensorId id) {
    const checkpoint::ModelConfig& config = shown.block->config();
    GuideText out{.heading = tr("guide_texts_around.copies_heading", "{} copies of the residual stream",
                                config.stream_copies)};
    switch (id) {
    case predicted:
        out.paragraphs.push_back(
            tr("guide_texts_around.copies_predicted",
               "The layer first predicts every copy: the copy itself plus all copies, each times a "
               "coefficient that follows from the active copy, number {}. Attention and MLP read the "
               "prediction of the active copy alone.",
               config.active_copy));
        break;
    case laurel_out:
        out.paragraphs.push_back(tr(
            "guide_texts_around.copies_laurel",
            "Beside the attention, the normalized row goes through two narrow matrices of rank {}. Its own "
            "numbers are added.",
            shown.block->weights[TensorId::laurel_left]->shape()[1]));
        break;
    case corrected:
        out.paragraphs.push_back(
            tr("guide_texts_around.copies_corrected",
               "What the layer computed, less its prediction, is the innovation. Every copy gets it times 1 "
               "plus a coefficient of its own."));
        break;
    case layer_out:
        out.paragraphs.push_back(
            tr("guide_texts_around.copies_layer_out",
               "Every token has an embedding of {} numbers in each layer. The active copy opens gates to "
               "it, and the result is added to all copies but the first.",
               shown.block->weights[TensorId::W_layer_gate]->shape()[1]));
        break;
    default:
        out.paragraphs.push_back(
            tr("guide_texts_around.copies_merged",
               "After the last layer the copies are scaled to the magnitude of the first, and their mean is "
               "what the final norm reads."));
    }
    out.try_it =
        tr("guide_texts_around.delta_try", "Hover over a number: the inspector writes out its arithmetic.");
    return out;
}

GuideText say_vocabulary(const Shown& shown, TensorId id) {
    const std::span<const float> row = shown.tensor(id)->values();
    const std::string token = say_query(shown.problem(), shown.block->position);
    GuideText out{.heading = id == logits
                                 ? tr("guide_texts_around.number_every_token", "A number for every token")
                                 : tr("guide_texts_around.numbers_become", "Numbers become probabilities")};
    out.paragraphs.push_back(
        id == logits ? tr("guide_texts_around.last_row_multiplied",
                          "The row of {}, at the end of the model, is multiplied by one row per token of the "
                          "vocabulary. The larger the product, the likelier the token.",
                          token)
                     : tr("guide_texts_around.softmax_makes_all",
                          "Softmax turns the logits into positive numbers that add up to 1."));
    out.paragraphs.push_back(tr("guide_texts_around.vocabulary_tokens",
                                "The vocabulary has {} tokens; the largest number is {}.",
                                grouped(static_cast<std::int64_t>(row.size())),
                                number(static_cast<double>(std::ranges::max(row)), 2)));
    out.try_it = tr("guide_texts_around.choose_another_token",
                    "Choose another token of the text above the bars: what would follow there?");
    return out;
}

} // namespace

GuideText guide_text_around(const Shown& shown, const ViewState& view) {
    const TensorId id = group_info(view.group).main;
    if (shown.tensor(id) == nullptr)
        return {.heading = tr(tensor_info(id).title), .paragraphs = {tr("common.computed", "Computing …")}};
    const std::int64_t i =
        std::clamp<std::int64_t>(current_row(view, shown.position), 0, shown.dims().Tq - 1);
    if (id == embedding || id == position)
        return {
            .heading = tr("guide_texts_around.every_token_becomes", "Every token becomes a row of numbers"),
            .paragraphs =
                {tr("guide_texts_around.word_table_one_row",
                    "The embedding table has one row of {} learned numbers for each token of the vocabulary.",
                    grouped(shown.dims().D)),
                 shown.tensor(position) != nullptr
                     ? tr("guide_texts_around.second_table_row_each",
                          "A second table has a row for each position. Both rows are added.")
                     : tr("guide_texts_around.token_stands_told",
                          "The position of a token enters later: queries and keys are rotated "
                          "by it, or scores get a term for the distance.")},
            .try_it = tr("guide_texts_around.press_right_arrow_key",
                         "Press the right arrow key until you are inside layer 0.")};
    if (id == delta_q || id == delta_y || id == TensorId::delta_out)
        return say_delta(shown, id, i);
    if (group_info(view.group).page == Page::copies)
        return say_copies(shown, id);
    if (id == logits || id == probabilities)
        return say_vocabulary(shown, id);
    if (norm_at(shown, id))
        return say_norm(shown, id, i);
    if ((id == routing || is_sum_of_experts(shown, id)) && shown.tensor(routing) != nullptr)
        return say_experts(shown, i);
    if (id == mlp_pre || id == mlp_gate || id == mlp_sparse || id == mlp_act || is_output_of_mlp(shown, id))
        return say_mlp(shown, id, i);
    return say_residual(shown, id, i);
}

} // namespace headscope::app
