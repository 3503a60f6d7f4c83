#pragma once

#include "app/commands/actions.h"
#include "core/base/message.h"

#include <utility>

namespace headscope::app {

// Helpers for the rows of the table.

inline bool anywhere(const ActionContext&) {
    return true;
}
inline bool off_map(const ActionContext& now) {
    return now.map == nullptr;
}
/// Toolbar and panels exist; a presentation does not have them.
inline bool in_window(const ActionContext& now) {
    return !now.presenting;
}
/// All stages are available, not only weights.
inline bool has_stages(const ActionContext& now) {
    return !now.weights_alone && now.map == nullptr;
}
/// The Flow is on screen.
inline bool on_flow(const ActionContext& now) {
    return now.view.flow.on_screen;
}
inline bool off_map_and_flow(const ActionContext& now) {
    return off_map(now) && !on_flow(now);
}
inline bool has_stages_off_flow(const ActionContext& now) {
    return has_stages(now) && !on_flow(now);
}
inline bool weights_only(const ActionContext& now) {
    return now.weights_alone && now.map == nullptr;
}

/// Returns the same action in every situation.
inline std::function<Actions(const ActionContext&)> always_send(Action action) {
    return [action = std::move(action)](const ActionContext&) { return Actions{action}; };
}

/// Unavailable while a selected number uses these keys.
inline std::string unless_number(const ActionContext& now) {
    return now.number_selected() ? tr("rows.keys_belong_selected_number",
                                      "These keys act on the selected number; Esc deselects it")
                                 : "";
}
inline std::string needs_trace(const ActionContext& now) {
    return now.shown != nullptr ? ""
           : now.long_document
               ? tr("rows.stages_many_tokens_too", "The stages of so many tokens do not fit in memory")
               : tr("common.nothing_computed_yet", "Nothing is computed yet");
}
inline std::string needs_stages_of_text(const ActionContext& now) {
    return now.long_document
               ? tr("rows.stages_many_tokens_too", "The stages of so many tokens do not fit in memory")
               : "";
}
inline std::string needs_number(const ActionContext& now) {
    return now.number_selected()
               ? ""
               : tr("rows.select_number_x_w", "Select a number of X, W_Q to W_O or a bias first");
}

} // namespace headscope::app
