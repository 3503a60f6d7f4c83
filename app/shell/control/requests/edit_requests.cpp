#include "app/shell/control/requests/requests.h"
#include "app/state/block.h"
#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/model/stacks.h"

#include <array>
#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

/// The names of OperationKind, without `none`.
constexpr std::array<std::string_view, 8> operation_names{
    "set", "scale", "zero", "noise", "normal", "xavier uniform", "xavier normal", "identity"};

CellAddress one_cell(const AppState& state, const std::string& text) {
    const lesson::CellRange cells = cells_in(state, text);
    if (cells.size() != 1)
        fail_input(tr("edit_requests.one_cell", "\"{}\" names {} numbers; name one", text, cells.size()));
    return {cells.tensor, cells.first};
}

void set_cell_to(Program& program, const RequestValue& value) {
    value.allow({"cell", "value"});
    if (value.is_object()) {
        const CellAddress cell = one_cell(program.state(), value.at("cell").text());
        return program.act(EditCell{cell, value.at("value").single()});
    }
    const Assignment edit = assignment_in(value);
    program.act(TypedNumber{one_cell(program.state(), edit.left), edit.right});
}

std::int64_t edited_head_in(const AppState& state, const RequestValue& value) {
    return value.whole(0, state.document->problem.dims.H - 1);
}

/// The attention of a checkpoint that an object with `stack` and `layer` names; the open one without them.
checkpoint::AttentionPlace attention_place_in(const AppState& state, const RequestValue& value) {
    constexpr std::array<std::string_view, 3> stacks{"decoder", "encoder", "cross"};
    const checkpoint::ModelConfig& config = state.document->part()->config();
    checkpoint::AttentionPlace place{state.document->stack(), state.document->layer()};
    if (const auto stack = value.find("stack")) {
        place.stack = static_cast<checkpoint::Stack>(stack->choice(stacks));
        if ((config.encoder != nullptr) != (place.stack != checkpoint::Stack::own) &&
            config.encoder == nullptr)
            fail_input(tr("edit_requests.one_stack", "this checkpoint has one stack; leave \"stack\" out"));
    }
    if (const auto layer = value.find("layer"))
        place.layer = layer->whole(0, checkpoint::in_stack(config, place.stack).layers - 1);
    checkpoint::require_attention(config, place);
    return place;
}

void set_gain_to(Program& program, const RequestValue& value) {
    const AppState& state = program.state();
    value.allow({"head", "gain", "layer", "stack"});
    if (!value.is_object()) {
        const Assignment gain = assignment_in(value);
        const nlohmann::json head = gain.left, factor = gain.right;
        return program.act(SetGain{edited_head_in(state, RequestValue("gain", head)),
                                   RequestValue("gain", factor).single()});
    }
    const float gain = value.at("gain").single();
    if (!value.find("layer") && !value.find("stack"))
        return program.act(SetGain{edited_head_in(state, value.at("head")), gain});
    if (const std::string missing = needs_checkpoint(state); !missing.empty())
        fail_input(missing);
    const checkpoint::AttentionPlace place = attention_place_in(state, value);
    const std::int64_t heads = checkpoint::in_stack(state.document->part()->config(), place.stack).H;
    program.act(SetHeadGain{place, value.at("head").whole(0, heads - 1), gain});
}

std::string needs_selection(const AppState& state) {
    return state.view.selected && state.shown.trace != nullptr
               ? ""
               : tr("numbers.select_number_first", "Select a number first");
}

void apply_operation(Program& program, const RequestValue& value) {
    value.allow({"kind", "value", "factor", "deviation", "seed"});
    OperationChoice choice;
    choice.kind = static_cast<OperationKind>(value.main("kind").choice(operation_names) + 1);
    for (const auto& [field, number] :
         {std::pair("value", &choice.value), {"factor", &choice.factor}, {"deviation", &choice.deviation}})
        if (const auto given = value.find(field))
            *number = given->single();
    if (const auto seed = value.find("seed"))
        choice.seed = seed->seed();
    program.act(OperateOn{choice});
}

void paste_text(Program& program, const RequestValue& value) {
    program.act(parse_paste(*program.state().view.selected, value.text()));
}

void set_mask_cell(Program& program, const RequestValue& value) {
    const Dims& dims = program.state().document->problem.dims;
    value.allow({"query", "key", "allowed", "head"});
    const auto head = value.find("head");
    program.act(PaintMask{program.state().view.batch, head ? edited_head_in(program.state(), *head) : -1,
                          value.at("query").whole(0, dims.Tq - 1), value.at("key").whole(0, dims.Tk - 1),
                          value.at("allowed").on()});
}

template<class TwoHeads>
void on_two_heads(Program& program, const RequestValue& value) {
    value.allow({"from", "to"});
    program.act(TwoHeads{edited_head_in(program.state(), value.at("from")),
                         edited_head_in(program.state(), value.at("to"))});
}

void go_in_history(Program& program, const RequestValue& value) {
    const AppState& state = program.state();
    const auto last = static_cast<std::int64_t>(state.history.size()) - 1;
    program.act(MoveInHistory{value.whole(0, last) - static_cast<std::int64_t>(state.history_position)});
}

} // namespace

std::vector<Request> edit_requests() {
    return {
        // clang-format off
        {"cell", "`CELL = NUMBER`, or an object with `cell` and `value`", "sets a number of x, a weight or a bias, like dragging it", set_cell_to, needs_inputs},
        {"gain", "`HEAD = NUMBER`, or an object with `head`, `gain` and, for another attention of a checkpoint, `layer` and `stack`",
         "sets a head gain; 0: ablated, 1: unchanged", set_gain_to, needs_inputs},
        {"temperature", "a number", "divides the scores before the softmax",
         [](Program& program, const RequestValue& value) { program.act(SetTemperature{value.single()}); }, needs_inputs},
        {"operation", "`set`, `scale`, `zero`, `noise`, `normal`, `xavier uniform`, `xavier normal` or `identity`, or an object with `kind`, `value`, `factor`, `deviation` and `seed`",
         "applies it to the selected numbers", apply_operation, needs_selection},
        {"paste", "TEXT with tabs and line ends", "writes a table of numbers from the selected number on", paste_text, needs_selection},
        {"mask cell", "an object with `query`, `key`, `allowed` and optionally `head`", "whether a query may attend to a key, in one head or in all", set_mask_cell, needs_sentence_input},
        {"reset mask", "", "restores the mask that was chosen", [](Program& program, const RequestValue&) { program.act(ResetMask{}); }, needs_sentence_input},
        {"reset edits", "", "drops edits, head gains, temperature and the painted mask", [](Program& program, const RequestValue&) { program.act(ResetEdits{}); }, needs_inputs},
        {"reset activation", "CELL of `mlp_act`", "lets the layer compute the number again",
         [](Program& program, const RequestValue& value) { program.act(ResetActivation{one_cell(program.state(), value.text())}); }, needs_checkpoint},
        {"copy head", "an object with `from` and `to`", "copies everything that belongs to a head to another one", on_two_heads<CopyHead>, needs_inputs},
        {"swap heads", "an object with `from` and `to`", "swaps everything that belongs to two heads", on_two_heads<SwapHeads>, needs_inputs},
        {"history", "a number", "the state with this number in the history of the document, from 0; `undo` and `redo` move by one", go_in_history},
        // clang-format on
    };
}

} // namespace headscope::app
