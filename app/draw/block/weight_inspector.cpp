#include "app/draw/block/block_parts.h"
#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "core/base/message.h"
#include "core/graph/ops/mlp/functions.h"

#include <algorithm>

namespace headscope::app {

namespace {

using enum TensorId;

/// The number that the weight helps to make at row i: of a norm or a bias the one of its own dimension.
struct Made {
    TensorId tensor;
    Index at;
};

/// Returns the tensor that an MLP's output matrix computes: `beside` in a layer that has experts and an MLP
/// for all tokens.
TensorId output_of_mlp(const Shown& shown, TensorId beside) {
    return shown.tensor(beside) != nullptr ? beside : shown.tensor(mlp_raw) != nullptr ? mlp_raw : mlp_out;
}

Made made_with(const Shown& shown, const CellAddress& cell, std::int64_t i) {
    const std::int64_t last = cell.at[tensor_info(cell.tensor).rank() == 2 ? 1 : 0];
    switch (cell.tensor) {
    case W_in:
    case b_in:
        return {mlp_pre, {0, i, last, 0}};
    case W_gate:
    case b_gate:
        return {mlp_gate, {0, i, last, 0}};
    case W_out:
    case b_out:
        return {output_of_mlp(shown, mlp_shared), {0, i, last, 0}};
    case norm1_weight:
    case norm1_bias:
        return {norm1, {0, i, last, 0}};
    case norm2_weight:
    case norm2_bias:
        return {norm2, {0, i, last, 0}};
    case norm1_after_weight:
        return {attn_out, {0, i, last, 0}};
    case norm2_after_weight:
        return {mlp_out, {0, i, last, 0}};
    case W_router:
    case b_router:
        return {routing, {0, i, last, 0}};
    case W_E:
    case W_type:
        return {embedding, {0, i, last, 0}};
    case W_P:
        return {position, {0, i, last, 0}};
    case W_U:
    case b_U:
        return {logits, {0, shown.block->position, cell.at[0], 0}};
    default:
        return {final_norm, {0, i, last, 0}};
    }
}

std::string place_name(Axis axis) {
    switch (axis) {
    case Axis::d_ff:
    case Axis::d_expert:
        return tr("common.unit", "unit");
    case Axis::experts:
        return tr("weight_inspector.expert", "expert");
    case Axis::vocab:
    case Axis::positions:
    case Axis::token_types:
        return tr("common.row", "row");
    default:
        return tr("weight_inspector.dimension", "dimension");
    }
}

/// Of W_E, and of a W_U that is W_E: who else reads it.
void say_shared(Sheet& sheet, TensorId table) {
    const Document& document = *sheet.context.shown.document;
    const checkpoint::ModelConfig& config = document.part()->config();
    if (table != W_E && (table != W_U || !config.tied))
        return;
    const auto held_with = [&](std::int64_t n) { return edited_with(config, n, TensorId::W_E); };
    const std::int64_t of_head = held_with(attention_count(config) - 1);
    if (config.tied && held_with(open_attention(document)) == of_head)
        sheet.paragraph(
            tr("weight_inspector.w_e_w_u",
               "W_E and W_U are one table in this model: an edit changes what the token’s vector is "
               "and what its logit is."),
            sheet.context.theme.text);
    if (document.part()->two_texts() && of_head == held_with(0))
        sheet.paragraph(tr("weight_inspector.encoder_decoder_read",
                           "Encoder and decoder read the same W_E: an edit changes the token in both texts."),
                        sheet.context.theme.text);
}

void add_places(Sheet& sheet, const CellAddress& cell) {
    const TensorInfo& info = tensor_info(cell.tensor);
    const Shape shape = info.shape(sheet.context.dims());
    sheet.section(tr(info.title), shape.text());
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        sheet.place(place_name(info.axes[a]), std::to_string(cell.at[a]),
                    tr("common.of", "of {}", grouped(shape[axis])));
    }
    const Shown& shown = sheet.context.shown;
    if (info.axes[0] == Axis::vocab)
        sheet.place(tr("common.token", "token"),
                    checkpoint::label_of(*shown.document->part()->model, cell.at[0]));
    const auto was = static_cast<double>(shown.block->own_value(cell.tensor, cell.at)),
               now = static_cast<double>(shown.value(cell));
    if (was != now)
        sheet.row(tr("weight_inspector.checkpoint", "in the checkpoint"), number(was, 4));
    say_shared(sheet, cell.tensor);
}

/// Whether token i is made with that row of the table.
bool reads_row(const Shown& shown, const CellAddress& cell, std::int64_t i) {
    const checkpoint::ModelInputs& inputs = read_by_queries(*shown.document);
    if (cell.tensor == W_type)
        return cell.at[0] == inputs.token_type(i);
    return cell.at[0] ==
           (cell.tensor == W_E ? inputs.ids[static_cast<std::size_t>(i)] : position_row(shown, i));
}

/// What it does in one product: the number that it multiplies, and what comes of that.
void add_step(Sheet& sheet, const CellAddress& cell, const Made& made) {
    const Shown& shown = sheet.context.shown;
    const auto weight = static_cast<double>(shown.value(cell));
    const std::string to = address_text(shown, {made.tensor, made.at});
    if (tensor_info(cell.tensor).rank() == 1) {
        sheet.row(cell.tensor == b_router
                      ? tr("weight_inspector.added_experts_score", "added to the expert’s score")
                      : tr("weight_inspector.added", "added to {}", to),
                  number(weight, 4), true);
        return;
    }
    if (is_table(cell.tensor) && cell.tensor != W_U) {
        const double scale =
            cell.tensor == W_E ? shown.block->stages().embedding_scale(shown.block->place.stack) : 1.0;
        if (scale != 1.0)
            sheet.arithmetic(number(weight, 4) + " × " + number(scale, 4), number(weight * scale, 4));
        if (reads_row(shown, cell, made.at[1]))
            sheet.row(to, number(static_cast<double>(shown.value({made.tensor, made.at})), 4));
        return;
    }
    const bool head = cell.tensor == W_U;
    const CellAddress read{head ? final_norm : made_from(shown, made.tensor).front(),
                           {0, made.at[1], cell.at[head ? 1 : 0], 0}};
    const auto from = head ? static_cast<double>(shown.block->head_in->data()[cell.at[1]])
                           : static_cast<double>(shown.value(read));
    sheet.row(head ? tr("weight_inspector.final_row", "final row[{}]", cell.at[1])
                   : address_text(shown, read),
              number(from, 4));
    sheet.arithmetic(number(from, 4) + " × " + number(weight, 4), number(from * weight, 4));
    if (cell.tensor == W_router)
        sheet.paragraph(shown.block->stages().route(shown.block->place).score == graph::Route::Score::sigmoid
                            ? tr("weight_inspector.part_score_sigmoid",
                                 "a part of the expert’s score, which a sigmoid turns into its fraction.")
                            : tr("weight_inspector.part_experts_score",
                                 "a part of the expert’s score, which softmax turns into its fraction."),
                        sheet.context.theme.text);
    else
        sheet.row(tr("weight_inspector.part", "a part of {}", to),
                  number(static_cast<double>(shown.value({made.tensor, made.at})), 4));
}

/// How an expert's unit comes about from its gate and its in.
void add_unit(Sheet& sheet, const checkpoint::ExpertRun& units, std::size_t k) {
    const checkpoint::RunPart& block = *sheet.context.shown.block;
    const graph::Gate how = block.stages().expert_gate(block.place);
    const auto gate = static_cast<double>(units.at(units.gate, k)),
               in = static_cast<double>(units.at(units.in, k)),
               act = static_cast<double>(units.at(units.act, k));
    if (how.limit == 0) {
        const std::string function(graph::ops::function_name(how.function));
        sheet.section(tr("weight_inspector.unit", "Unit {}", k), function + "(gate) × in");
        sheet.row("gate", number(gate, 4));
        sheet.row("in", number(in, 4));
        sheet.arithmetic(function + "(" + number(gate, 4) + ") × " + number(in, 4), number(act, 4));
        return;
    }
    const double opened = std::min(gate, how.limit), within = std::clamp(in, -how.limit, how.limit);
    sheet.section(tr("weight_inspector.unit", "Unit {}", k), "(in + 1) × gate × σ(a · gate)");
    sheet.row(tr("weight_inspector.gate_most", "gate, at most {}", number(how.limit, 1)), number(opened, 4));
    sheet.row(tr("weight_inspector.within", "in, within ±{}", number(how.limit, 1)), number(within, 4));
    sheet.arithmetic(number(within + 1, 4) + " × " + number(opened, 4) + " × σ(1.702 · " + number(opened, 4) +
                         ")",
                     number(act, 4));
}

/// What a weight of an expert does at the token that is looked at.
void add_expert_step(Sheet& sheet, const CellAddress& cell, const checkpoint::ExpertRun& units) {
    const Shown& shown = sheet.context.shown;
    const auto weight = static_cast<double>(shown.value(cell));
    const bool is_bias = tensor_info(cell.tensor).rank() == 2;
    const auto product = [&](const std::string& name, double from) {
        sheet.row(name, number(from, 4));
        sheet.arithmetic(number(from, 4) + " × " + number(weight, 4), number(from * weight, 4));
    };
    const auto add_input = [&](const auto& product_with, const CellAddress& read) {
        const auto from = static_cast<double>(shown.value(read)),
                   scale = static_cast<double>(units.input_scales[units.row()]);
        if (!shown.block->stages().scales_expert_input(shown.block->place))
            return product_with(address_text(shown, read), from);
        sheet.row(address_text(shown, read), number(from, 4));
        sheet.arithmetic(number(from, 4) + " × " +
                             tr("weight_inspector.share", "fraction {}", number(scale, 3)),
                         number(from * scale, 4));
        product_with(tr("weight_inspector.scaled_input", "the expert reads"), from * scale);
    };
    if (cell.tensor != expert_W_out && cell.tensor != expert_b_out) {
        const bool gate = cell.tensor == expert_W_gate || cell.tensor == expert_b_gate;
        const auto k = static_cast<std::size_t>(*unit_of(cell));
        if (is_bias)
            sheet.row(tr("weight_inspector.added_2", "added"), number(weight, 4));
        else
            add_input(product, {units.reads, {0, units.token, cell.at[1], 0}});
        sheet.row(gate ? tr("weight_inspector.part_gate_unit", "a part of the gate of unit {}", k)
                       : tr("weight_inspector.part_unit", "a part of the in of unit {}", k),
                  number(static_cast<double>(units.at(gate ? units.gate : units.in, k)), 4));
        return add_unit(sheet, units, k);
    }
    const bool scaled = shown.block->stages().scales_expert_input(shown.block->place);
    const double share = scaled
                             ? 1.0
                             : static_cast<double>(shown.value({routing, {0, units.token, units.expert, 0}})),
                 from = is_bias
                            ? 1.0
                            : static_cast<double>(units.at(units.act, static_cast<std::size_t>(cell.at[1])));
    if (!is_bias)
        product(tr("common.unit_2", "unit {}", cell.at[1]), from);
    if (!scaled)
        sheet.arithmetic(number(from * weight, 4) + " × " +
                             tr("weight_inspector.share", "fraction {}", number(share, 3)),
                         number(from * weight * share, 4));
    const CellAddress made{output_of_mlp(shown, mlp_experts), {0, units.token, cell.at[is_bias ? 1 : 2], 0}};
    sheet.row(tr("weight_inspector.part", "a part of {}", address_text(shown, made)),
              number(static_cast<double>(shown.value(made)), 4));
}

int add_expert(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const checkpoint::ExpertRun* const units = shown.expert.get();
    if (units == nullptr || units->expert != expert_of(cell) || units->place != shown.block->place)
        return 4;
    const std::string word = shortened(query_word(shown.problem(), units->token), 14);
    sheet.section(tr("weight_inspector.at", "At “{}”", word),
                  tr("common.expert", "expert {}", units->expert));
    if (!(row_of(shown, routing, units->token)[static_cast<std::size_t>(units->expert)] > 0))
        sheet.paragraph(
            tr("common.not_use_expert_adds", "“{}” does not use this expert: it adds nothing there.", word),
            sheet.context.theme.text);
    add_expert_step(sheet, cell, *units);
    return 4;
}

} // namespace

int add_weight_around(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    add_places(sheet, cell);
    if (tensor_info(cell.tensor).axes[0] == Axis::experts && cell.tensor != b_router)
        return add_expert(sheet, cell);
    const Made made = made_with(shown, cell, row_around(sheet.context));
    if (shown.tensor(made.tensor) == nullptr)
        return 4;
    if (norm_at(shown, made.tensor))
        return add_around(sheet, {made.tensor, made.at});
    sheet.section(
        tr("weight_inspector.at", "At “{}”", shortened(query_word(shown.problem(), made.at[1]), 14)),
        std::string(tensor_info(made.tensor).name));
    add_step(sheet, cell, made);
    return 4;
}

std::string say_weight_around(const CellAddress& cell) {
    const std::int64_t first = cell.at[0], second = cell.at[1], third = cell.at[2];
    switch (cell.tensor) {
    case W_in:
        return tr("weight_inspector.unit_looks_dimension", "what unit {} looks for in dimension {}", second,
                  first);
    case W_gate:
        return tr("weight_inspector.gate_unit_looks", "what the gate of unit {} looks for in dimension {}",
                  second, first);
    case W_out:
        return tr("weight_inspector.unit_writes_dimension", "what unit {} writes into dimension {}", first,
                  second);
    case b_in:
        return tr("weight_inspector.added_unit_before", "added to unit {} before the activation", first);
    case b_gate:
        return tr("weight_inspector.added_gate_unit", "added to the gate of unit {}", first);
    case W_router:
        return tr("weight_inspector.speaks_expert_dimension", "evidence for expert {} in dimension {}",
                  second, first);
    case b_router:
        return tr("weight_inspector.added_score_expert", "added to the score of expert {}", first);
    case W_E:
        return tr("weight_inspector.dimension_row_every",
                  "dimension {} of row {}, which every such token reads", second, first);
    case W_P:
        return tr("weight_inspector.dimension_row_every_2",
                  "dimension {} of row {}, which every such position reads", second, first);
    case W_type:
        return tr("weight_inspector.dimension_row_every_3",
                  "dimension {} of row {}, which every token of that type reads", second, first);
    case W_U:
        return tr("weight_inspector.token_looks_dimension", "what token {} looks for in dimension {}", first,
                  second);
    case b_U:
        return tr("weight_inspector.added_logit_token", "added to the logit of token {}", first);
    case expert_W_gate:
        return tr("weight_inspector.gate_unit_expert_looks",
                  "what the gate of unit {} of expert {} looks for in dimension {}", third, first, second);
    case expert_b_gate:
        return tr("weight_inspector.added_gate_unit_expert", "added to the gate of unit {} of expert {}",
                  second, first);
    case expert_W_in:
        return tr("weight_inspector.unit_expert_looks", "what unit {} of expert {} looks for in dimension {}",
                  third, first, second);
    case expert_b_in:
        return tr("weight_inspector.added_unit_expert", "added to unit {} of expert {}", second, first);
    case expert_W_out:
        return tr("weight_inspector.unit_expert_writes", "what unit {} of expert {} writes into dimension {}",
                  second, first, third);
    case expert_b_out:
        return tr("weight_inspector.added_dimension_expert", "added to dimension {} of what expert {} writes",
                  second, first);
    case b_out:
    case norm1_bias:
    case norm2_bias:
    case final_norm_bias:
        return tr("weight_inspector.added_dimension_every", "added to dimension {} at every token", first);
    default:
        return tr("weight_inspector.multiplies_dimension",
                  "multiplies dimension {} of every token, after the division", first);
    }
}

} // namespace headscope::app
