#include "app/commands/actions/rows.h"

#include <algorithm>

namespace headscope::app {

namespace {

std::optional<CellAddress> cell_of(const ActionContext& now) {
    return now.view.selected  ? now.view.selected
           : now.focused_cell ? now.focused_cell()
                              : std::optional<CellAddress>();
}

std::string needs_known_cell(const ActionContext& now) {
    return now.shown != nullptr && cell_of(now)
               ? ""
               : tr("common.nothing_computed_yet", "Nothing is computed yet");
}

std::string needs_score(const ActionContext& now) {
    const auto cell = cell_of(now);
    if (!cell || !is_score(cell->tensor))
        return tr("context.score_weight_taken_apart",
                  "Only a score or a weight can be decomposed; select one");
    if (now.weights_read)
        return tr("context.weights_filtered_merged_switch",
                  "The weights are filtered or merged; switch that off in Heads");
    return now.two_texts && now.view.attention.stack != checkpoint::Stack::own
               ? tr("context.scores_self_attention_taken", "Only scores of self-attention can be decomposed")
               : "";
}

Actions explain_score(const ActionContext& now) {
    const Index at = cell_of(now)->at;
    return {ShowWeight{at[2], at[3], Screen::why}};
}

bool has_scores_taken_apart(const ActionContext& now) {
    return now.checkpoint;
}

std::string needs_edits_of_head(const ActionContext& now) {
    return now.checkpoint && !now.edited ? tr("context.nothing_edited", "Nothing is edited")
           : now.view.head < now.problem.dims.H
               ? ""
               : tr("context.mean_heads_no_weights", "A mean of heads has no weights");
}

Actions reset_head(const ActionContext& now) {
    return {ResetHead{now.view.head}};
}

Actions open_this_head(const ActionContext& now) {
    return {OpenHead{now.view.attention.layer, now.view.head}, ShowScreen{Screen::stages}};
}

bool on_other_screen(const ActionContext& now) {
    return now.view.attention.screen != Screen::stages;
}

std::function<Actions(const ActionContext&)> copy_of(CopyOne::What what) {
    return always_send(CopyOne{what});
}

std::string needs_token(const ActionContext& now) {
    return now.token >= 0 ? "" : tr("context.press_right_mouse_button", "Right-click a token first");
}

std::string needs_row(const ActionContext& now) {
    const bool query = now.shown == nullptr || (now.token < now.shown->Tq && !now.token_of_second);
    return query ? needs_token(now) : tr("context.no_query_stage", "It is not a query of this stage");
}

Actions step_to_token(const ActionContext& now) {
    return {GoTo{now.view.group, now.token}};
}

using Kind = MenuSubject::Kind;
struct MenuRow {
    Kind thing;
    const char* id;
};
/// The rows of the context menus, from the top.
constexpr MenuRow menu_rows[] = {
    {Kind::cell, "copy number"},    {Kind::cell, "copy row"},        {Kind::cell, "copy"},
    {Kind::cell, "why score"},      {Kind::cell, "type number"},     {Kind::cell, "zero"},
    {Kind::cell, "paste"},          {Kind::cell, "select matrix"},   {Kind::head, "open head"},
    {Kind::head, "copy head name"}, {Kind::head, "ablate"},          {Kind::head, "reset head"},
    {Kind::head, "pin head"},       {Kind::head, "difference"},      {Kind::head, "atlas screen"},
    {Kind::head, "effects screen"}, {Kind::head, "circuits screen"}, {Kind::token, "copy token"},
    {Kind::token, "row of token"},  {Kind::token, "effects screen"}, {Kind::token, "patching screen"}};

/// Returns true if a row has an effect on the current screen: it opens another screen, or compares heads on
/// the stages.
bool does_something(std::string_view id, const ActionContext& now) {
    const Screen on = now.view.attention.screen;
    return id == "atlas screen"      ? on != Screen::atlas
           : id == "effects screen"  ? on != Screen::effects
           : id == "patching screen" ? on != Screen::patching
           : id == "circuits screen" ? on != Screen::circuits
           : id == "difference"      ? on == Screen::stages
                                     : true;
}

} // namespace

std::vector<ActionInfo> context_actions() {
    using What = CopyOne::What;
    return {
        // clang-format off
        {"copy number", tr("context.copy_number", "Copy this number"), tr("context.copies_selected_number_all", "Copies the selected number with all its digits"), {}, anywhere, copy_of(What::number), needs_known_cell},
        {"copy row", tr("context.copy_row", "Copy its row"), tr("context.copies_row_matrix_selected", "Copies the matrix row of the selected number, for a spreadsheet"), {}, anywhere, copy_of(What::row), needs_known_cell},
        {"why score", tr("common.why_score", "Why this score"), tr("context.takes_selected_score_apart", "Splits the selected score by the residual stream components that make up its query and its key"), {}, has_scores_taken_apart, explain_score, needs_score},
        {"open head", tr("context.open_head_stages", "Open the head in the stages"), tr("context.shows_stages_head_focus", "Shows the stages of the head in focus"), {}, on_other_screen, open_this_head},
        {"copy head name", tr("context.copy_heads_name", "Copy the head’s name"), tr("context.copies_name_head_focus", "Copies the name of the head in focus, such as L5 H3"), {}, anywhere, copy_of(What::head)},
        {"reset head", tr("context.set_head_back", "Reset the head"), tr("context.weights_gain_head_focus", "Restores the weights and the gain of the head in focus from the preset or the file"), {}, has_stages, reset_head, needs_edits_of_head},
        {"copy token", tr("context.copy_token", "Copy the token"), tr("context.copies_text_token_context", "Copies the text of the token whose context menu is open"), {}, anywhere, copy_of(What::token), needs_token},
        {"row of token", tr("context.step_tokens_row", "Step to the token’s row"), tr("context.shows_row_token_query", "Shows the row whose query is the token"), {}, has_stages, step_to_token, needs_row},
        {"context menu", tr("context.context_menu", "Context menu"), tr("context.done_selected_number_else", "Lists the commands for the selected number, or else for the head in focus; a right click opens the menu of any item"), {{Key::menu}, shift(Key::F10)}, anywhere, always_send(OpenContextMenu{}), {}, tr("context.menu_selection_anything_right", "menu of the selection; right click: of any item")},
        // clang-format on
    };
}

std::vector<const ActionInfo*> menu_of(MenuSubject::Kind thing, const ActionContext& now) {
    std::vector<const ActionInfo*> rows;
    for (const MenuRow& row : menu_rows)
        if (row.thing == thing && does_something(row.id, now))
            if (const ActionInfo& info = action(row.id); info.applies(now))
                rows.push_back(&info);
    return rows;
}

std::optional<MenuSubject> thing_of(const Action& action) {
    if (const auto* wanted = std::get_if<ModelAction>(&action)) {
        const auto* predicts = std::get_if<PredictAt>(wanted);
        return predicts == nullptr ? std::nullopt
                                   : std::optional(MenuSubject{Kind::token, predicts->position});
    }
    const auto* const change = std::get_if<ViewChange>(&action);
    if (change == nullptr)
        return std::nullopt;
    if (const auto* select = std::get_if<Select>(change); select != nullptr && select->cell)
        return MenuSubject{Kind::token, select->cell->at[2]}; // the token of a query
    const auto* const attention = std::get_if<AttentionChange>(change);
    const bool head = std::holds_alternative<PickHead>(*change) ||
                      (attention != nullptr && std::holds_alternative<OpenHead>(*attention));
    return head ? std::optional(MenuSubject{Kind::head}) : std::nullopt;
}

} // namespace headscope::app
