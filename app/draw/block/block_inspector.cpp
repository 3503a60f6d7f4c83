#include "app/draw/block/block_parts.h"
#include "app/draw/block/node_inspector.h"
#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace headscope::app {

namespace {

using enum TensorId;

std::string n(std::int64_t i) {
    return std::to_string(i);
}

std::string word(const Shown& shown, const CellAddress& cell) {
    return shortened(query_word(shown.problem(), cell.at[1]), 8);
}

double value_of(const Shown& shown, TensorId id, const Index& at) {
    return static_cast<double>(shown.value({id, at}));
}

/// Row times column of a weight (d_in, d_out), plus its bias.
struct Product {
    TensorId left; ///< whose row is read
    TensorId weight;
    std::string name; ///< of the weight
    TensorId bias;
    std::string bias_name;
};

Product product_at(const Shown& shown, TensorId id) {
    const TensorId from = made_from(shown, id).front();
    if (id == mlp_pre)
        return {from, W_in, "W_in", b_in, "b_in"};
    if (id == mlp_gate)
        return {from, W_gate, "W_gate", b_gate, "b_gate"};
    return {mlp_act, W_out, "W_out", b_out, "b_out"};
}

int add_product(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Product product = product_at(shown, cell.tensor);
    const Tensor& weight = *shown.block->weights[product.weight];
    const std::int64_t column = cell.at[2], d_out = weight.shape()[1];
    const std::span<const float> row = row_of(shown, product.left, cell.at[1]);
    std::vector<Term> terms;
    for (std::size_t k = 0; k < row.size(); ++k) {
        const auto left = static_cast<double>(row[k]),
                   right = static_cast<double>(weight.data()[static_cast<std::int64_t>(k) * d_out + column]);
        terms.push_back({.label = std::to_string(k), .factors = {{left, right}}, .value = left * right});
    }
    const TensorPtr& bias = shown.block->weights[product.bias];
    sheet.section(tr("common.dot_product", "Dot product"),
                  name_of(product.left) + "[" + word(shown, cell) + "] · " + product.name + "[:, " +
                      n(column) + "]" + (bias == nullptr ? "" : " + " + product.bias_name));
    TermTable table{.columns = {product.left == mlp_act ? tr("common.unit", "unit") : "d",
                                name_of(product.left), product.name, tr("common.product", "product")},
                    .groups = {{.terms = std::move(terms)}},
                    .name = address_text(shown, cell),
                    .total = static_cast<double>(shown.value(cell))};
    if (bias != nullptr)
        table.single_terms.push_back({.label = "+ " + product.bias_name + "[" + n(column) + "]",
                                      .value = static_cast<double>(bias->data()[column])});
    return draw_terms(sheet, table);
}

/// What one unit adds to the residual stream, at the dimension where it adds most.
void add_writes(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Tensor& weight = *shown.block->weights[W_out];
    const std::int64_t D = weight.shape()[1];
    const auto row =
        weight.values().subspan(static_cast<std::size_t>(cell.at[2] * D), static_cast<std::size_t>(D));
    const auto largest = std::ranges::max_element(row, {}, [](float v) { return std::abs(v); });
    const auto act = value_of(shown, mlp_act, cell.at), to = static_cast<double>(*largest);
    sheet.section(tr("block_inspector.writes", "Writes"),
                  tr("block_inspector.unit_w_out", "unit · W_out[{}, :]", cell.at[2]));
    sheet.row(tr("block_inspector.most_dimension", "most in dimension"), n(largest - row.begin()));
    const SumFormat format =
        step_format({act, to}, act * to, [](const std::vector<double>& v) { return v[0] * v[1]; });
    sheet.arithmetic(number(act, format.decimals) + " × " + number(to, format.decimals),
                     approximate_prefix(format.approximate) + number(act * to, format.decimals));
}

/// Where the weight that the number comes from can be edited.
void say_edited(Sheet& sheet, TensorId table) {
    sheet.paragraph(tr("block_inspector.row_stands_below_figure",
                       "The row of {} is below the figure. Click a number there, then drag or type.",
                       name_of(table)),
                    sheet.context.theme.muted);
}

/// The experts that the token uses, and their shares.
int add_experts(Sheet& sheet, const CellAddress& cell) {
    sheet.section(tr("block_inspector.experts", "Experts"),
                  tr("block_inspector.share_each", "fraction of each"));
    const auto shares = row_of(sheet.context.shown, routing, cell.at[1]);
    for (std::size_t expert = 0; expert < shares.size(); ++expert)
        if (shares[expert] > 0)
            sheet.row(tr("common.expert", "expert {}", expert),
                      number(static_cast<double>(shares[expert]), 3));
    sheet.paragraph(tr("block_inspector.weights_router_one",
                       "The weights of the router and of one expert are below the figure and can be edited. "
                       "Click an expert there to see its weights."),
                    sheet.context.theme.muted);
    return 3;
}

/// The score of an expert that the router did not choose.
int add_not_chosen(Sheet& sheet, const CellAddress& cell) {
    const checkpoint::RunPart& block = *sheet.context.shown.block;
    const graph::NodeId router = block.graph().node(block.node(routing)).inputs.front().node;
    sheet.section(tr("block_inspector.router", "Router"));
    sheet.row(tr("block_inspector.score", "score"),
              number(static_cast<double>(block.numbers(router)->at(0, cell.at[1], cell.at[2])), 4));
    sheet.paragraph(tr("block_inspector.other_experts_chosen",
                       "The token uses the {} experts that were chosen by their scores, and this is not one "
                       "of them.",
                       block.stages().route(block.place).used),
                    sheet.context.theme.text);
    return 4;
}

int add_activation(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const bool gated = shown.tensor(mlp_gate) != nullptr, sparse = shown.tensor(mlp_sparse) != nullptr;
    const TensorId before = sparse ? mlp_sparse : gated ? mlp_gate : mlp_pre;
    const double from = value_of(shown, before, cell.at), to = activated_number(shown, cell.at),
                 total = static_cast<double>(shown.value(cell));
    const std::string name = activation_name(shown.block->stages().activation(shown.block->place));
    sheet.section(tr("common.activation", "Activation"), name);
    sheet.arithmetic(name + "(" + number(from, 4) + ")", number(to, 4));
    int decimals = 2;
    if (gated) {
        const double up = value_of(shown, mlp_pre, cell.at);
        sheet.section(tr("block_inspector.gate", "Gate"), name + "(" + name_of(before) + ") × mlp_pre");
        const SumFormat format =
            step_format({to, up}, total, [](const std::vector<double>& v) { return v[0] * v[1]; });
        decimals = format.decimals;
        sheet.arithmetic(number(to, decimals) + " × " + number(up, decimals),
                         approximate_prefix(format.approximate) + number(total, decimals));
        if (sparse)
            add_node(sheet, {mlp_sparse, cell.at});
        add_product(sheet, {mlp_gate, cell.at});
    }
    add_product(sheet, {mlp_pre, cell.at});
    add_writes(sheet, cell);
    return decimals;
}

int add_residual(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    std::vector<Term> terms;
    for (const TensorId id : made_from(shown, cell.tensor))
        terms.push_back({.label = name_of(id), .value = value_of(shown, id, cell.at)});
    sheet.section(tr("block_inspector.sum", "Sum"),
                  tr("block_inspector.dimension", "dimension {}", cell.at[2]));
    return draw_terms(sheet,
                      {// Translators: heads of columns: the term of a sum, and its value
                       .columns = {tr("block_inspector.from", "from"), "", "", tr("common.value", "value")},
                       .words = true,
                       .groups = {{.terms = std::move(terms)}},
                       .name = address_text(shown, cell),
                       .total = static_cast<double>(shown.value(cell))});
}

/// Terms that are added, then multiplied by a constant.
int add_scaled_sum(Sheet& sheet, const CellAddress& cell, double scale) {
    const Shown& shown = sheet.context.shown;
    sheet.section(tr("block_inspector.sum", "Sum"),
                  tr("block_inspector.dimension", "dimension {}", cell.at[2]));
    double sum = 0;
    for (const TensorId id : made_from(shown, cell.tensor)) {
        const double term = value_of(shown, id, cell.at);
        sum += term;
        sheet.row(name_of(id), number(term, 4));
    }
    sheet.row(tr("common.sum", "sum"), number(sum, 4), true);
    sheet.section(tr("block_inspector.scale_of_branch", "Scale"),
                  tr("block_inspector.constant_of_model", "a constant of the model"));
    sheet.arithmetic(number(scale, 4) + " × " + number(sum, 4),
                     number(static_cast<double>(shown.value(cell)), 4));
    return 4;
}

void add_variance(Sheet& sheet, std::span<const float> row, const NormNumbers& numbers) {
    std::vector<double> squares;
    for (const float value : row)
        squares.push_back(std::pow(static_cast<double>(value) - numbers.mean, 2));
    double rest = 0;
    for (const double square : squares)
        rest += square;
    const double sum = rest;
    for (const std::size_t d : largest_indices(squares, 2)) {
        sheet.row("d " + std::to_string(d) + ": (" + number(static_cast<double>(row[d]) - numbers.mean, 2) +
                      ")²",
                  number(squares[d], 2));
        rest -= squares[d];
    }
    if (row.size() > 2)
        sheet.row(tr_n("block_inspector.others", "{} others", "{} others", std::ssize(row) - 2,
                       grouped(std::ssize(row) - 2)),
                  number(rest, 2));
    sheet.arithmetic(number(sum, 2) + " ÷ " + std::to_string(row.size()), number(numbers.variance, 4));
}

int add_norm(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const checkpoint::NormOfRows norm = *norm_at(shown, cell.tensor);
    const bool layer_norm = norm.centered;
    const TensorId from = made_from(shown, cell.tensor).front();
    const std::span<const float> row = row_of(shown, from, cell.at[1]);
    const NormNumbers numbers = norm_numbers(norm, row);
    const std::string source = address_text(shown, {from, cell.at});
    const auto size = static_cast<double>(row.size());
    if (layer_norm) {
        sheet.section(tr("common.mean", "Mean"), tr("block_inspector.sum_2", "sum ÷ {}", row.size()));
        sheet.arithmetic(number(numbers.mean * size, 2) + " ÷ " + std::to_string(row.size()),
                         number(numbers.mean, 4));
    }
    sheet.section(layer_norm ? tr("block_inspector.variance", "Variance")
                             : tr("block_inspector.mean_square", "Mean square"),
                  layer_norm ? tr("block_inspector.x_mean", "Σ (x − mean)² ÷ {}", row.size())
                             : "Σ x² ÷ " + std::to_string(row.size()));
    add_variance(sheet, row, numbers);
    std::ostringstream eps;
    eps << norm.eps;
    sheet.section(tr("block_inspector.spread", "Spread"),
                  layer_norm ? tr("block_inspector.variance_2", "√(variance + ε)")
                             : tr("block_inspector.mean_square_2", "√(mean square + ε)"));
    sheet.arithmetic("√(" + number(numbers.variance, 4) + " + " + eps.str() + ")", number(numbers.spread, 4));
    const auto d = static_cast<std::size_t>(cell.at[2]);
    const TensorPtr weight = weight_at(shown, norm.weight), bias = weight_at(shown, norm.bias);
    const auto x = static_cast<double>(row[d]), centred = x - numbers.mean, scaled = centred / numbers.spread,
               w = weight == nullptr ? 1.0 : static_cast<double>(weight->data()[d]),
               b = bias == nullptr ? 0.0 : static_cast<double>(bias->data()[d]);
    constexpr int decimals = 4;
    sheet.section(tr("block_inspector.cell", "The cell"), "d " + n(cell.at[2]));
    sheet.row(source, number(x, decimals));
    if (layer_norm)
        sheet.row(tr("block_inspector.mean", "− mean {}", number(numbers.mean, decimals)),
                  number(centred, decimals));
    sheet.row(tr("block_inspector.spread_2", "÷ spread {}", number(numbers.spread, decimals)),
              number(scaled, decimals));
    if (weight != nullptr)
        sheet.row(tr("block_inspector.weight", "× weight {}", number(w, decimals)),
                  number(scaled * w, decimals));
    if (norm.adds_one)
        sheet.paragraph(tr("block_inspector.file_holds_weight_minus", "The file holds the weight minus 1."),
                        sheet.context.theme.muted);
    if (bias != nullptr)
        sheet.row(tr("block_inspector.bias", "+ bias {}", number(b, decimals)),
                  number(scaled * w + b, decimals));
    sheet.rule(70);
    sheet.row(address_text(shown, cell), number(static_cast<double>(shown.value(cell)), decimals), true);
    return decimals;
}

int add_embedding(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const checkpoint::ModelInputs& inputs = read_by_queries(*shown.document);
    const checkpoint::RunPart& block = *shown.block;
    const auto i = static_cast<std::size_t>(cell.at[1]);
    if (cell.tensor == position) {
        sheet.section(tr("common.position_table", "Position table"),
                      tr("block_inspector.row_column", "row, column"));
        sheet.place(tr("common.row", "row"), n(position_row(shown, cell.at[1])),
                    tr("common.of", "of {}", grouped(block.find(W_P)->shape()[0])));
        sheet.place(tr("common.column", "column"), n(cell.at[2]),
                    tr("common.of", "of {}", grouped(shown.dims().d_embed)));
        say_edited(sheet, W_P);
        return 4;
    }
    const std::int64_t id = inputs.ids[i];
    const auto own =
        static_cast<double>(shown.block->table_row(W_E, id)[static_cast<std::size_t>(cell.at[2])]);
    sheet.section(tr("common.word_table", "Embedding table"),
                  tr("block_inspector.row_token", "row of the token"));
    sheet.place(tr("common.token", "token"), checkpoint::label_of(*shown.document->part()->model, id));
    sheet.place(tr("common.row", "row"), n(id), tr("common.of", "of {}", grouped(block.config().vocab)));
    sheet.place(tr("common.column", "column"), n(cell.at[2]),
                tr("common.of", "of {}", grouped(shown.dims().d_embed)));
    sheet.row(tr("block_inspector.table", "in the table"), number(own, 4));
    const double scale = block.stages().embedding_scale(block.place.stack);
    if (scale != 1.0)
        sheet.row(tr("block_inspector.scale", "× scale {}", number(scale, 4)), number(own * scale, 4));
    const double types = static_cast<double>(shown.value(cell)) - own * scale;
    if (block.find(W_type) != nullptr || !inputs.token_types.empty())
        sheet.row(tr("block_inspector.row_token_type", "+ row of its token type"), number(types, 4));
    say_edited(sheet, W_E);
    return 4;
}

int add_logit(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const checkpoint::RunPart& block = *shown.block;
    const std::span<const float> row = block.table_row(W_U, cell.at[2]);
    const TensorPtr& bias = block.weights[b_U];
    const std::int64_t D = block.head_in->count(), token = cell.at[2];
    std::vector<Term> terms;
    double sum = 0;
    for (std::int64_t d = 0; d < D; ++d) {
        const auto left = static_cast<double>(block.head_in->data()[d]),
                   right = static_cast<double>(row[static_cast<std::size_t>(d)]);
        terms.push_back({.label = n(d), .factors = {{left, right}}, .value = left * right});
        sum += left * right;
    }
    const double cap = block.stages().logit_cap(), total = value_of(shown, logits, cell.at);
    const auto added = bias == nullptr ? 0.0 : static_cast<double>(bias->data()[token]);
    sheet.section(tr("common.dot_product", "Dot product"),
                  tr("block_inspector.final_row_w_u", "final row · W_U[{}]", token));
    TermTable sum_table{.columns = {"d", tr("common.row", "row"), "W_U", tr("common.product", "product")},
                        .groups = {{.terms = std::move(terms)}},
                        .name = cap == 0 ? address_text(shown, {logits, cell.at}) : tr("common.sum", "sum"),
                        .total = cap == 0 ? total : sum + added};
    if (bias != nullptr)
        sum_table.single_terms.push_back({.label = "+ b_U[" + n(token) + "]", .value = added});
    const int decimals = draw_terms(sheet, sum_table);
    if (block.config().tied)
        sheet.paragraph(tr("block_inspector.row_w_u_also",
                           "The row of W_U, which is also the row of W_E, is below the "
                           "figure. Click a number there, then drag or type."),
                        sheet.context.theme.muted);
    else
        say_edited(sheet, W_U);
    if (cap != 0) {
        sheet.section(tr("common.soft_cap", "Soft cap"),
                      tr("block_inspector.c_tanh_sum_c", "c · tanh(sum ÷ c)"));
        sheet.arithmetic(number(cap, 1) + " · tanh(" + number(sum + added, 2) + " ÷ " + number(cap, 1) + ")",
                         number(total, 4));
    }
    return decimals;
}

int add_probability(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const std::span<const float> row = shown.tensor(logits)->values();
    const auto largest = static_cast<double>(std::ranges::max(row));
    const double own = value_of(shown, logits, cell.at), power = std::exp(own - largest);
    double sum = 0;
    for (const float logit : row)
        sum += std::exp(static_cast<double>(logit) - largest);
    sheet.section(tr("common.softmax", "Softmax"),
                  tr("block_inspector.exp_logit_largest_sum", "exp(logit − largest) ÷ sum"));
    sheet.row(tr("block_inspector.logit", "its logit"), number(own, 4));
    sheet.row(tr("block_inspector.largest_logit", "largest logit"), number(largest, 4));
    sheet.arithmetic("exp(" + number(own - largest, 4) + ")", number(power, 4));
    sheet.row(tr("block_inspector.sum_over_tokens", "sum over {} tokens", grouped(std::ssize(row))),
              number(sum, 4));
    sheet.arithmetic(number(power, 4) + " ÷ " + number(sum, 4),
                     number(static_cast<double>(shown.value(cell)), 4));
    add_logit(sheet, cell);
    return 4;
}

/// A number that the user set in place of what the layer computes.
int add_set(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const double computed = shown.block->explain(shown.block->node(mlp_act), cell.at).total;
    sheet.section(tr("block_inspector.set_hand", "Set by hand"));
    sheet.row(tr("block_inspector.layer_computes", "the layer computes"), number(computed, 4));
    sheet.row(tr("block_inspector.set", "set to"), number(static_cast<double>(shown.value(cell)), 4), true);
    sheet.paragraph(tr("block_inspector.all_comes_after_follows",
                       "All later numbers follow. Double click the number, or the point on the curve, to let "
                       "the layer compute it again."),
                    sheet.context.theme.text);
    add_writes(sheet, cell);
    return 4;
}

} // namespace

int add_around(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const RunSpec& part = *shown.document->part();
    if (shown.block->is_set(cell.tensor, cell.at))
        return add_set(sheet, cell);
    if (const auto* const patch = patched_at(part, attention_of_block(shown), cell);
        patch != nullptr && !patch->added) {
        sheet.section(tr("block_inspector.patched", "Patched"));
        sheet.paragraph(tr("block_inspector.number_comes_clean",
                           "The number comes from the clean prompt. It replaces the number of this run."),
                        sheet.context.theme.text);
        return 4;
    }
    if (is_sum_of_experts(shown, cell.tensor))
        return add_experts(sheet, cell);
    if (cell.tensor == routing && shown.value(cell) == 0)
        return add_not_chosen(sheet, cell);
    if (is_explained_by_node(shown, cell.tensor))
        return add_node(sheet, cell);
    if (!holds_sources(shown, cell.tensor)) {
        sheet.section(tr("common.comes", "Comes from"));
        sheet.paragraph(tr("block_inspector.last_layer_gives_shows",
                           "It is the output of the last layer: {} of {} shows how.", name_of(cell.tensor),
                           attention_of_block_name(shown)),
                        sheet.context.theme.text);
        return 4;
    }
    switch (cell.tensor) {
    case mlp_pre:
    case mlp_gate:
    case mlp_shared:
        return add_product(sheet, cell);
    case mlp_act:
        return add_activation(sheet, cell);
    case embedding:
    case position:
        return add_embedding(sheet, cell);
    case logits:
        return add_logit(sheet, cell);
    case probabilities:
        return add_probability(sheet, cell);
    default:
        break;
    }
    if (norm_at(shown, cell.tensor))
        return add_norm(sheet, cell);
    if (is_output_of_mlp(shown, cell.tensor))
        return add_product(sheet, cell);
    const auto scale = branch_scale(shown, cell.tensor);
    if (scale && made_from(shown, cell.tensor).size() > 1)
        return add_scaled_sum(sheet, cell, *scale);
    if (scale) {
        const TensorId from = made_from(shown, cell.tensor).front();
        sheet.section(tr("block_inspector.scale_of_branch", "Scale"),
                      tr("block_inspector.constant_of_model", "a constant of the model"));
        sheet.arithmetic(number(*scale, 4) + " × " + number(value_of(shown, from, cell.at), 4),
                         number(value_of(shown, cell.tensor, cell.at), 4));
        return 4;
    }
    if (made_from(shown, cell.tensor).size() > 1) {
        const int decimals = add_residual(sheet, cell);
        if (patched_at(part, attention_of_block(shown), {attn_out, cell.at}) != nullptr)
            sheet.paragraph(tr("block_inspector.attn_out_holds_patch",
                               "attn_out contains the patch here and differs from the stage output."),
                            sheet.context.theme.muted);
        return decimals;
    }
    sheet.section(tr("common.comes", "Comes from"));
    sheet.paragraph(enters_cross(shown) ? tr("block_inspector.self_attention_gives",
                                             "It is the output of the self-attention.")
                    : shown.block->place.layer <= 0
                        ? tr("block_inspector.embedding_gives", "It is the output of the embedding.")
                        : tr("block_inspector.layer_before_gives", "It is the output of the previous layer."),
                    sheet.context.theme.text);
    return 4;
}

std::string say_around(const Shown& shown, const CellAddress& cell) {
    const std::string token = shortened(query_word(shown.problem(), cell.at[1]), 10);
    const std::int64_t k = cell.at[2];
    switch (cell.tensor) {
    case mlp_pre:
        // Translators: {1} is a token
        return tr("block_inspector.unit_before_activation", "unit {} of {}, before the activation", k, token);
    case mlp_gate:
        return tr("block_inspector.gate_unit", "gate of unit {} of {}", k, token);
    case mlp_act:
        return tr("block_inspector.unit_after_activation", "unit {} of {}, after the activation", k, token);
    case delta_decay:
        return tr("block_inspector.delta_kept", "of the state of head {} stays at {}", k, token);
    case delta_beta:
        return tr("block_inspector.delta_written", "of what head {} stored is replaced at {}", k, token);
    case logits:
    case probabilities: {
        const checkpoint::TextModel& model = *shown.document->part()->model;
        const std::string label = checkpoint::label_of(model, k);
        return model.masked() ? tr("block_inspector.place", "for {} in place of {}", label, token)
                              : tr("block_inspector.after", "for {} after {}", label, token);
    }
    case routing:
        return tr("block_inspector.expert_of_token", "expert {} of {}", k, token);
    default:
        return tr("block_inspector.dimension_2", "dimension {} of {}", k, token);
    }
}

} // namespace headscope::app
