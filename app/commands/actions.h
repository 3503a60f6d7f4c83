#pragma once

#include "app/commands/action_context.h"
#include "app/commands/command.h"
#include "app/commands/keys.h"
#include "core/base/message.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

using Actions = std::vector<Action>;

/// An action with a name: available through a key, a menu or the control socket. This table is the only
/// source of the shortcuts, key hints, the list of keys and the program's report.
struct ActionInfo {
    std::string id;    ///< unique, for example "next stage"
    std::string title; ///< for a menu
    std::string tip;   ///< one or two sentences without the last full stop
    std::vector<Chord> keys;
    /// Returns true if the action exists on the current view and for the document. Only then does the list of
    /// keys show it.
    std::function<bool(const ActionContext&)> applies;
    /// The messages to send. Empty: a mouse or text field gesture, which is handled where it occurs.
    std::function<Actions(const ActionContext&)> make_actions;
    /// Returns why the action is not available now; empty text: it is. No function: always available.
    std::function<std::string(const ActionContext&)> unavailable_reason = {};
    /// Text in the list of keys. Absent: the title. Empty: joined to the row of the previous action.
    std::optional<std::string> key_list_text = {};
    Overlay under = Overlay::nothing; ///< works while this covers the canvas
    bool repeats = false;             ///< repeats while the key is held
    std::string gesture = {};         ///< text in place of keys in the list; empty: the keys
    Message group = {};               ///< "Files", "Numbers", ...; set by the table
    bool steps = false;               ///< moves the control that has Tab focus, and takes over its keys
};

/// All actions. If two share a key, at most one is available at a time.
const std::vector<ActionInfo>& actions();
/// Throws std::out_of_range for an id that is not in the table.
const ActionInfo& action(std::string_view id);

std::string why_not(const ActionInfo& action, const ActionContext& now);

/// The meaning of a key press: an available action, or the reason why there is none. Shift may be held in
/// addition, unless an action of the current view requires Shift or Ctrl is held with a letter.
struct KeyMeaning {
    const ActionInfo* action = nullptr;
    std::string unavailable_reason; ///< only for keys with Ctrl and for letters
};
KeyMeaning key_meaning(const Chord& pressed, const ActionContext& now);

/// One row of the list of keys.
struct KeyLine {
    std::string keys, what;
    Message group = {};
};
/// Returns the keys of the current view, in the order of the table.
std::vector<KeyLine> key_lines(const ActionContext& now);

/// Returns true if a long map uses this key itself.
bool is_map_key(const Chord& key);

/// Returns the text of an action's keys: "Ctrl S".
std::string key_hint(std::string_view id);
/// "Numbers in cells (N)".
std::string with_key(const std::string& text, std::string_view id);

/// Returns the rows of a context menu that apply to the current view, from the top. They act on the selection
/// or the focused head.
std::vector<const ActionInfo*> menu_of(MenuSubject::Kind thing, const ActionContext& now);
/// Returns the object that a click with this action selects or focuses; nothing for other actions.
std::optional<MenuSubject> thing_of(const Action& action);

// The sections of the table, each in its own source file.

std::vector<ActionInfo> stage_actions();
std::vector<ActionInfo> view_actions();
std::vector<ActionInfo> screen_actions();
std::vector<ActionInfo> weight_actions();
std::vector<ActionInfo> map_actions();
std::vector<ActionInfo> number_actions();
std::vector<ActionInfo> writing_actions();
std::vector<ActionInfo> context_actions();
std::vector<ActionInfo> window_actions();
std::vector<ActionInfo> presentation_actions();
std::vector<ActionInfo> file_actions();

} // namespace headscope::app
