#include "app/draw/matrix/rotation.h"
#include "app/draw/matrix/terms.h"
#include "app/draw/panels/guide_speaker.h"
#include "app/state/model_document.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <array>
#include <optional>

namespace headscope::app {

using namespace guide;

namespace {

/// The layer whose keys and values the open layer of a model shares; nothing if they are its own.
std::optional<std::int64_t> shared_from(const GuideContext& s) {
    const Document& document = *s.shown.document;
    if (!s.problem.latent || !document.is_checkpoint())
        return std::nullopt;
    const std::int64_t layer = document.part()->config().key_layer(document.layer());
    return layer == document.layer() ? std::nullopt : std::optional(layer);
}

GuideText say_x(const GuideContext& s) {
    const std::int64_t width = extent(Axis::Dq, s.dims);
    std::vector<double> row;
    for (std::int64_t d = 0; d < width; ++d)
        row.push_back(s.at(TensorId::x, {s.b, s.i, d}));
    const std::int64_t d = index_of_largest(row);
    const auto& names = s.shown.document->feature_names();
    const std::string name = names.empty() ? "" : names[static_cast<std::size_t>(d)];
    const std::string largest = number(row[static_cast<std::size_t>(d)], 2), stands_for = shortened(name, 24);
    GuideText out{.heading = tr("guide_texts.every_token_row_numbers", "Every token is a row of numbers")};
    out.paragraphs.push_back(
        tr_n("guide_texts.attention_starts_matrix_one",
             "Attention starts from a matrix with one row per token: here {} of {} number.",
             "Attention starts from a matrix with one row per token: here {} of {} numbers.", width,
             tr_n("guide_texts.row", "{} row", "{} rows", s.dims.Tq, grouped(s.dims.Tq)), grouped(width)));
    if (name.empty())
        out.paragraphs.push_back(
            ties(row) > 1
                ? tr("guide_texts.row_largest_number_first",
                     "In the row of {} the largest number is {}, first in column {}.", s.query(), largest, d)
                : tr("guide_texts.row_largest_number_column",
                     "In the row of {} the largest number is {}, in column {}.", s.query(), largest, d));
    else
        out.paragraphs.push_back(
            ties(row) > 1
                ? tr("guide_texts.row_largest_number_first_2",
                     "In the row of {} the largest number is {}, first in column {}, which stands for “{}”.",
                     s.query(), largest, d, stands_for)
                : tr("guide_texts.row_largest_number_column_2",
                     "In the row of {} the largest number is {}, in column {}, which stands for “{}”.",
                     s.query(), largest, d, stands_for));
    out.paragraphs.push_back(
        s.problem.cross() ? tr_n("guide_texts.keys_values_come_second",
                                 "Keys and values come from a second sequence of {} token, x_kv.",
                                 "Keys and values come from a second sequence of {} tokens, x_kv.", s.dims.Tk,
                                 grouped(s.dims.Tk))
        : shared_from(s)
            ? tr("guide_texts.keys_values_shared",
                 "Keys and values are those of layer {}: its vectors, x_kv, make them.", *shared_from(s))
        : s.problem.latent
            ? tr("guide_texts.keys_values_from_latent",
                 "Keys and values come from a latent vector of {} numbers for each token, x_kv: it is all "
                 "that "
                 "has to be kept of earlier tokens while a text is written.",
                 grouped(s.dims.Dkv))
            : tr("guide_texts.far_no_token_knows", "So far no token knows anything about the others."));
    out.try_it = s.shown.document->recipe.base
                     ? tr("guide_texts.point_number_inspector_tells",
                          "Hover over a number: the inspector lists the numbers computed from it.")
                     : tr("guide_texts.type_another_sentence_top",
                          "Type another sentence at the top and watch the rows change. "
                          "Then press the right arrow key.");
    return out;
}

GuideText say_qkv(const GuideContext& s, Projection projection) {
    constexpr std::array<TensorId, 3> stages{TensorId::q, TensorId::k, TensorId::v};
    const TensorId id = stages[static_cast<std::size_t>(projection)];
    const bool queries = id == TensorId::q;
    const std::int64_t row = queries ? s.i : std::min(s.i, s.dims.Tk - 1);
    const std::int64_t first = queries             ? s.h * s.dims.dk
                               : id == TensorId::k ? s.dims.kv_head(s.h) * s.dims.dk
                                                   : s.dims.kv_head(s.h) * s.dims.dv;
    // A selected parameter affects one column of the product.
    constexpr std::array<TensorId, 3> weights{TensorId::W_Q, TensorId::W_K, TensorId::W_V};
    const bool weight = s.marked && s.marked->tensor == weights[static_cast<std::size_t>(projection)];
    const std::int64_t column = weight ? s.marked->at[1] : s.marked_column(id, {s.b, row, 0}, first);
    const std::int64_t terms = queries ? extent(Axis::Dq, s.dims) : s.dims.Dkv;
    constexpr std::array<TensorId, 3> biases{TensorId::b_Q, TensorId::b_K, TensorId::b_V};
    const bool bias = s.shown.tensor(biases[static_cast<std::size_t>(projection)]) != nullptr;
    const std::string name(tensor_info(id).name);
    GuideText out{.heading = tr("guide_texts.query_key_value", "Query, key and value")};
    out.paragraphs.push_back(
        s.problem.cross()
            ? tr("guide_texts.queries_made_first_sequence",
                 "Queries are made from the first sequence, keys and values from the second. The query says "
                 "what a token looks for, the key what one offers, the value what it passes on.")
        : shared_from(s)
            ? tr("guide_texts.shared_vectors_multiplied",
                 "W_K and W_V of layer {} multiply what that layer reads, x_kv. The query says what a token "
                 "looks for, the key what it offers, the value what it passes on.",
                 *shared_from(s))
        : s.problem.latent
            ? tr("guide_texts.latent_vectors_multiplied",
                 "W_K and W_V multiply the latent vector of each token, x_kv. The query says what a token "
                 "looks "
                 "for, the key what it offers, the value what it passes on.")
            : tr("guide_texts.each_tokens_row_multiplied",
                 "Each token’s row is multiplied by three matrices. The query says what it looks for, the "
                 "key what it offers, the value what it passes on."));
    const std::string token = queries ? s.query() : s.key(row);
    const std::string value = number(s.at(id, {s.b, row, column}), 2);
    out.paragraphs.push_back(bias ? tr_n("guide_texts.column_sum_product_bias",
                                         "For {}, column {} of {} is {}: the sum of {} product and a bias.",
                                         "For {}, column {} of {} is {}: the sum of {} products and a bias.",
                                         terms, token, column, name, value, grouped(terms))
                                  : tr_n("guide_texts.column_sum_product",
                                         "For {}, column {} of {} is {}: the sum of {} product.",
                                         "For {}, column {} of {} is {}: the sum of {} products.", terms,
                                         token, column, name, value, grouped(terms)));
    if (s.dims.Hkv != s.dims.H)
        out.paragraphs.push_back(tr_n("guide_texts.k_v_head_heads",
                                      "K and V have only {} head for the {} heads of Q.",
                                      "K and V have only {} heads for the {} heads of Q.", s.dims.Hkv,
                                      grouped(s.dims.Hkv), grouped(s.dims.H)));
    out.try_it =
        tr("guide_texts.point_number_result_row", "Hover over a number of the result: its row and column "
                                                  "light up, and the inspector adds up the products.");
    return out;
}

/// "column 3" or "columns 0 to 3".
std::string columns_text(std::int64_t first, std::int64_t width) {
    return width == 1 ? tr("guide_texts.column", "column {}", first)
                      : tr("guide_texts.columns", "columns {} to {}", first, first + width - 1);
}

GuideText say_split(const GuideContext& s) {
    const Dims& dims = s.dims;
    const std::int64_t head = s.h;
    GuideText out{
        .heading = tr("guide_texts.splitting_says_owns_column", "Splitting only assigns columns to heads")};
    const std::string all = grouped(dims.H * dims.dk), first = columns_text(0, dims.dk),
                      second = columns_text(dims.dk, dims.dk);
    if (dims.H == 1)
        out.paragraphs.push_back(
            tr_n("guide_texts.one_head_keeps_all", "There is one head, so it keeps all {} column of Q.",
                 "There is one head, so it keeps all {} columns of Q.", dims.dk, grouped(dims.dk)));
    else if (dims.H == 2)
        out.paragraphs.push_back(tr("guide_texts.columns_q_dealt_out",
                                    "The {} columns of Q are split in order: {} to head 0, {} to head 1.",
                                    all, first, second));
    else
        out.paragraphs.push_back(
            tr("guide_texts.columns_q_dealt_out_2",
               "The {} columns of Q are split in order: {} to head 0, {} to head 1, and so on for {} heads.",
               all, first, second, grouped(dims.H)));
    const AttentionGraph& attention = s.shown.attention();
    for (const TensorId step : attention.steps_to(TensorId::q_heads))
        if (step != TensorId::q && step != TensorId::q_heads)
            out.paragraphs.push_back(tr("guide_texts.way", "Formula: {}.", attention.formula(step)));
    if (s.problem.rotary) {
        const RotatedNumber turn = rotated_number(s.shown, {TensorId::q_heads, {s.b, head, s.i, 0}});
        out.paragraphs.push_back(
            tr("guide_texts.every_pair_numbers_half",
               "Then every pair of numbers half a head apart is rotated by its token’s position (RoPE): in "
               "q_heads[{}] of {} the pair 0, {} is rotated by {}°. Two tokens at a fixed distance then "
               "always differ by the same angle. Values are not rotated.",
               head, s.query(), dims.dk / 2, number(turn.angle, 1)));
        out.try_it = tr("guide_texts.press_rotation_pairs_turn",
                        "Press Rotation. Which pairs rotate fast, which hardly at all?");
        return out;
    }
    if (s.problem.query_scale != nullptr)
        out.paragraphs.push_back(tr(
            "guide_texts.queries_scaled_position",
            "Queries are multiplied by a number that grows with the position, for {} by {}. Keys and values "
            "are not.",
            s.query(),
            number(static_cast<double>(s.problem.query_scale->values()[static_cast<std::size_t>(s.i)]), 3)));
    if (!attention.heads_are_columns()) {
        out.try_it = tr("guide_texts.press_one_head_numbers",
                        "Press One head. Which numbers grow on the way, and which shrink?");
        return out;
    }
    // Names the marked cell: columns of many heads are too narrow for numbers, and the inspector shows this
    // one.
    const std::int64_t column = s.marked_column(TensorId::q_heads, {s.b, head, s.i, 0}, 0);
    out.paragraphs.push_back(
        tr("guide_texts.no_number_changes_way",
           "No number changes on the way: for {}, column {} of q_heads[{}] is {}, and so is column {} of q.",
           s.query(), column, head, number(s.at(TensorId::q_heads, {s.b, head, s.i, column}), 2),
           head * dims.dk + column));
    if (dims.Hkv != dims.H)
        out.paragraphs.push_back(tr_n("guide_texts.k_v_make_head",
                                      "K and V have only {} head; each serves {} query heads.",
                                      "K and V have only {} heads; each serves {} query heads.", dims.Hkv,
                                      grouped(dims.Hkv), grouped(dims.H / dims.Hkv)));
    out.try_it = tr("guide_texts.press_together_apart_columns",
                    "Press Together, then Apart. Which columns move, and does any number change?");
    return out;
}

GuideText say_head_out(const GuideContext& s) {
    const std::vector<double> weights = s.row(TensorId::weights);
    const auto j = index_of_largest(weights);
    const double weight = weights[static_cast<std::size_t>(j)];
    const std::int64_t column = s.marked_column(TensorId::head_out, {s.b, s.h, s.i, 0}, 0);
    const double value = s.at(TensorId::v_heads, {s.b, s.dims.kv_head(s.h), j, column});
    GuideText out{.heading = tr("guide_texts.values_mixed_weights", "Values, mixed by the weights")};
    out.paragraphs.push_back(tr_n("guide_texts.weights_say_how_much",
                                  "The weights say how much of each value to take. A head mixes {} of values "
                                  "into one row of {} number.",
                                  "The weights say how much of each value to take. A head mixes {} of values "
                                  "into one row of {} numbers.",
                                  s.dims.dv,
                                  tr_n("guide_texts.row", "{} row", "{} rows", s.dims.Tk, grouped(s.dims.Tk)),
                                  grouped(s.dims.dv)));
    if (s.is_fully_masked(s.h))
        out.paragraphs.push_back(tr("guide_texts.may_read_nothing_head",
                                    "{} may read nothing in head {}, so its row is all 0.", s.query(), s.h));
    else {
        const SumFormat format = step_format({weight, value}, weight * value,
                                             [](const std::vector<double>& v) { return v[0] * v[1]; });
        const std::string product = number(weight, format.decimals) + " × " + number(value, format.decimals) +
                                    (format.approximate ? " ≈ " : " = ") +
                                    number(weight * value, format.decimals);
        // Translators: the last two are a token and a product, “cat” brings 0.5 × 0.2 = 0.1
        out.paragraphs.push_back(
            tr("guide_texts.head_column_brings",
               "In head {}, column {} of {} is {}, a sum over keys; {} contributes {}.", s.h, column,
               s.query(), number(s.at(TensorId::head_out, {s.b, s.h, s.i, column}), 2), s.key(j), product));
        out.paragraphs.push_back(
            tr("guide_texts.nearer_one_weight_1",
               "The nearer one weight is to 1, the nearer the result is to that value."));
    }
    out.try_it = tr("guide_texts.point_number_inspector_lists",
                    "Hover over a number: the inspector lists the contribution of each key.");
    return out;
}

GuideText say_gate(const GuideContext& s) {
    const std::int64_t column = s.marked_column(TensorId::head_out_gated, {s.b, s.h, s.i, 0}, 0);
    const auto at = [&](TensorId id) { return s.at(id, {s.b, s.h, s.i, column}); };
    const double opened = 1 / (1 + std::exp(-at(TensorId::gate)));
    GuideText out{.heading = tr("guide_texts.a_gate_for_each_number", "A gate for each number of a head")};
    out.paragraphs.push_back(
        tr("guide_texts.gate_reads_token",
           "The row of the token itself decides how much of each number passes: X times W_G gives one gate "
           "for each number of each head, and its sigmoid, between 0 and 1, multiplies the head’s output."));
    out.paragraphs.push_back(tr("guide_texts.gate_of_column",
                                "In head {}, column {} of {} is {}; {} percent of it pass, which leaves {}.",
                                s.h, column, s.query(), number(at(TensorId::head_out), 2),
                                number(100 * opened, 0), number(at(TensorId::head_out_gated), 2)));
    out.try_it =
        tr("guide_texts.drag_gate_weight", "Drag a number of W_G: which outputs open, and which close?");
    return out;
}

GuideText say_concat(const GuideContext& s) {
    const std::int64_t column = s.marked_column(TensorId::concat, {s.b, s.i, 0}, s.h * s.dims.dv),
                       h = column / s.dims.dv, place = column % s.dims.dv;
    const float gain = s.problem.gain(h);
    GuideText out{.heading = tr("guide_texts.side_side_again", "Side by side again")};
    out.paragraphs.push_back(
        s.dims.H == 1 ? tr_n("guide_texts.one_head_alone_fills", "One head alone fills all {} column.",
                             "One head alone fills all {} columns.", s.dims.dv, grouped(s.dims.dv))
                      : tr("guide_texts.heads_results_set_side",
                           "The heads’ results are set side by side: {} × {} = {} columns per token.",
                           s.dims.H, s.dims.dv, grouped(s.dims.H * s.dims.dv)));
    const std::string value = number(s.at(TensorId::concat, {s.b, s.i, column, 0}), 2);
    out.paragraphs.push_back(
        gain == 1.0F ? tr("guide_texts.column_holds_column_head",
                          "For {}, column {} holds {}: column {} of head {}, unchanged.", s.query(), column,
                          value, place, h)
                     : tr("guide_texts.column_holds_column_head_2",
                          "For {}, column {} holds {}: column {} of head {} times its head gain, {}.",
                          s.query(), column, value, place, h, number(static_cast<double>(gain), 2)));
    if (s.dims.H > 1)
        out.paragraphs.push_back(
            tr("guide_texts.until_here_heads_not",
               "So far the heads are not mixed: every column still belongs to one of them."));
    out.try_it = tr("guide_texts.press_apart_together_blocks",
                    "Press Apart, then Together: the blocks slide, the numbers stay.");
    return out;
}

GuideText say_contributions(const GuideContext& s) {
    const std::int64_t d = s.marked_column(TensorId::contributions, {s.b, s.h, s.i, 0}, s.output_column()),
                       first = s.h * s.dims.dv;
    const auto part = [&](std::int64_t h) { return s.at(TensorId::contributions, {s.b, h, s.i, d}); };
    const std::string own = number(part(s.h), 2);
    GuideText out{.heading = tr("guide_texts.each_head_adds", "The contribution of each head")};
    out.paragraphs.push_back(s.dims.dv == 1 ? tr("guide_texts.w_o_rows_every",
                                                 "Row {} of W_O belongs to head {}. The head’s result times "
                                                 "its row is its contribution, as wide as the output.",
                                                 first, s.h)
                                            : tr("guide_texts.w_o_rows_every_2",
                                                 "Rows {} to {} of W_O belong to head {}. The head’s result "
                                                 "times its rows is its contribution, as wide as the output.",
                                                 first, first + s.dims.dv - 1, s.h));
    double rest = 0;
    for (std::int64_t h = 0; h < s.dims.H; ++h)
        rest += h == s.h ? 0.0 : part(h);
    out.paragraphs.push_back(
        s.dims.H == 1   ? tr("guide_texts.column_head_adds", "To column {} of {}, head {} adds {}.", d,
                             s.query(), s.h, own)
        : s.dims.H == 2 ? tr("guide_texts.column_head_adds_head",
                             "To column {} of {}, head {} adds {} and head {} adds {}.", d, s.query(), s.h,
                             own, 1 - s.h, number(rest, 2))
                        : tr("guide_texts.column_head_adds_other",
                             "To column {} of {}, head {} adds {} and the other {} heads {}.", d, s.query(),
                             s.h, own, grouped(s.dims.H - 1), number(rest, 2)));
    if (s.problem.gain(s.h) == 0.0F)
        out.paragraphs.push_back(
            tr("guide_texts.gain_0_head_switched", "Its head gain is 0: this head is ablated."));
    out.try_it =
        s.dims.H > 1
            ? tr("guide_texts.pick_another_head_number",
                 "Pick another head with the number keys. Which one adds most to this column?")
            : tr("guide_texts.point_number_see_products", "Hover over a number to see its products.");
    return out;
}

GuideText say_output(const GuideContext& s) {
    const std::int64_t d = s.marked_column(TensorId::output, {s.b, s.i, 0, 0}, s.output_column());
    const bool bias = s.problem.weights.b_O != nullptr;
    const bool identity = s.shown.document->recipe.identity_W_O;
    const bool square = s.dims.H * s.dims.dv == s.dims.D;
    GuideText out{.heading = identity
                                 ? tr("guide_texts.w_o_switched_identity", "W_O switched to the identity")
                                 : tr("guide_texts.w_o_lets_heads", "W_O mixes the heads")};
    if (identity)
        out.paragraphs.push_back(
            bias ? tr("guide_texts.now_every_output_column", "Now every output column is one column of "
                                                             "concat plus its bias: the heads stay separate.")
                 : tr("guide_texts.now_every_output_column_2",
                      "Now every output column is one column of concat: the heads stay separate."));
    else
        out.paragraphs.push_back(
            (bias ? tr("guide_texts.every_output_column_concat",
                       "Every output column is concat times a column of W_O, plus a bias.")
                  : tr("guide_texts.every_output_column_concat_2",
                       "Every output column is concat times a column of W_O.")) +
            " " +
            (s.dims.H == 1 ? tr("guide_texts.takes_part_one_head", "The one head contributes to it.")
             : s.dims.H == 2
                 ? tr("guide_texts.takes_part_both_heads", "Both heads contribute to it.")
                 : tr("guide_texts.takes_part_all_heads", "All {} heads contribute to it.", s.dims.H)));
    out.paragraphs.push_back(
        tr("guide_texts.largest_number_size_column",
           "The largest number for {}, by magnitude, is {}, in column {}; head {} contributes {} to it.",
           s.query(), number(s.at(TensorId::output, {s.b, s.i, d}), 2), d, s.h,
           number(s.at(TensorId::contributions, {s.b, s.h, s.i, d}), 2)));
    out.paragraphs.push_back(tr("guide_texts.row_next_layer_gets", "The next layer reads this row."));
    out.try_it =
        identity ? tr("guide_texts.switch_w_o_back", "Switch W_O back and see the heads mix again.")
        : square && !s.shown.document->recipe.base
            ? tr("guide_texts.switch_w_o_identity", "Switch W_O to the identity: which columns of the "
                                                    "output does each head fill now?")
            : tr("guide_texts.point_number_bar_inspector",
                 "Hover over a number: the bar in the inspector shows each head’s contribution.");
    return out;
}

} // namespace

GuideText guide_text(const Shown& shown, const ViewState& view) {
    if (is_around(view.group))
        return guide_text_around(shown, view);
    const GuideContext speaker(shown, view);
    switch (view.group) {
    case StageGroup::x:
        return say_x(speaker);
    case StageGroup::qkv:
        return say_qkv(speaker, view.projection);
    case StageGroup::split:
        return say_split(speaker);
    case StageGroup::c2p:
        return say_relative(speaker, TensorId::c2p);
    case StageGroup::p2c:
        return say_relative(speaker, TensorId::p2c);
    case StageGroup::scores:
        return say_scores(speaker);
    case StageGroup::scaled:
        return say_scaled(speaker);
    case StageGroup::masked:
        return say_masked(speaker);
    case StageGroup::weights:
        return say_weights(speaker);
    case StageGroup::head_out:
        return say_head_out(speaker);
    case StageGroup::gate:
        return say_gate(speaker);
    case StageGroup::concat:
        return say_concat(speaker);
    case StageGroup::contributions:
        return say_contributions(speaker);
    case StageGroup::output:
        return say_output(speaker);
    default:
        break; // nodes around attention
    }
    return say_x(speaker);
}

} // namespace headscope::app
