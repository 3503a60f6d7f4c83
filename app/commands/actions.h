#pragma once

#include "app/commands/command.h"
#include "app/commands/keys.h"
#include "app/commands/situation.h"
#include "core/base/message.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

using Actions = std::vector<Action>;

/// One thing that the user can do by name: with a key, in a menu, from outside. The program reads shortcuts,
/// key hints, the list of keys and its report from this one table.
struct ActionInfo {
    std::string id;    ///< unique, for example "next stage"
    std::string title; ///< for a menu
    std::string tip;   ///< one or two sentences without the last full stop
    std::vector<Chord> keys;
    /// Whether the action belongs to such a page or document at all. Only then does the list of keys show it.
    std::function<bool(const Situation&)> here;
    /// What it sends. Empty: a gesture of mouse or text field, which happens where it is made.
    std::function<Actions(const Situation&)> send;
    /// Why it cannot be done now; an empty text: it can. No function: always.
    std::function<std::string(const Situation&)> missing = {};
    /// Its line in the list of keys. Absent: the title. Empty: it stands in the line of the action before it.
    std::optional<std::string> line = {};
    Over under = Over::nothing; ///< works while this lies over the canvas
    bool repeats = false;       ///< while the key is held
    std::string gesture = {};   ///< how the list writes what is no key; empty: the keys
    Message group = {};         ///< "Files", "Numbers", ...; set by the table
    bool steps = false;         ///< moves the control that Tab has reached, whose keys it takes
};

/// All of them. Of two that share a key, at most one is possible at a time.
const std::vector<ActionInfo>& actions();
/// Throws std::out_of_range for an id that is not in the table.
const ActionInfo& action(std::string_view id);

std::string why_not(const ActionInfo& action, const Situation& now);

/// What pressing these keys means now: an action that is possible, or why there is none. Shift may be held
/// with a key unless an action of this page asks for Shift, or Ctrl is held with a letter.
struct Meaning {
    const ActionInfo* action = nullptr;
    std::string missing; ///< only for keys with Ctrl, which are never pressed by the way
};
Meaning meaning_of(const Chord& pressed, const Situation& now);

/// One line of the list of keys.
struct KeyLine {
    std::string keys, what;
    Message group = {};
};
/// What the keyboard does on this page, in the order of the table.
std::vector<KeyLine> key_lines(const Situation& now);

/// Returns true if a long map uses this key itself.
bool is_map_key(const Chord& key);

/// The first keys of an action: "Ctrl S".
std::string key_hint(std::string_view id);
/// "Numbers in cells (N)".
std::string with_key(const std::string& text, std::string_view id);

/// The rows of a thing's context menu that belong to this page, from the top. They act on what is selected or
/// in focus.
std::vector<const ActionInfo*> menu_of(Thing::Kind thing, const Situation& now);
/// What a click that sends this action selects or puts in focus; nothing for other actions.
std::optional<Thing> thing_of(const Action& action);

// The table's sections, each in a source of its own.

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
