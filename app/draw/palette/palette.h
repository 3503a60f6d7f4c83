#pragma once

#include "app/commands/actions.h"
#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::app {

/// The command palette: the text typed while it is open, and recent choices.
struct Palette {
    bool open = false;
    std::string typed = {};
    std::size_t highlighted = 0;     ///< the highlighted row, which Return activates
    bool follow = false;             ///< the list scrolls to this row in the next frame
    bool has_keyboard = false;       ///< its field had the keyboard in the previous frame
    std::vector<std::string> recent; ///< ids of recent choices, newest first; not saved
};

/// Opens the palette with an empty field, keeping recent choices.
void open_palette(Palette& palette);
/// Closes the palette after that entry was chosen, and adds the entry to the recent choices.
void close_and_remember(Palette& palette, const std::string& id);

enum class EntryKind : std::uint8_t {
    command,
    stage,
    layer_stage, ///< a stage of one layer of a checkpoint, for example "L3 MLP"
    head,
    token,
    lesson,
    file,
    manual_heading
};

/// One entry of the palette.
struct PaletteEntry {
    std::string id = {}; ///< unique and stable
    EntryKind kind = EntryKind::command;
    std::string label = {}; ///< the kind in one word, for example "view"
    std::string title = {};
    std::string detail = {};                 ///< shown after the title; may be empty
    std::string tip = {};                    ///< its effect, as a sentence without a period
    std::string synonyms = {};               ///< synonyms
    std::string search_words = {};           ///< further words for the search
    std::string keys = {};                   ///< "Ctrl Shift S"; may be empty
    std::vector<std::string> more_keys = {}; ///< other keys for the same action
    bool replaces = false;                   ///< replaces the text that the user typed
    std::string disabled_reason = {};        ///< reason why it is disabled; empty: it is enabled
    /// The actions to send. Call only if `disabled_reason` is empty.
    std::function<Actions(const ActionContext&)> make_actions = {};
};

/// The sources of the entries. The entries must not outlive them.
struct PaletteSources {
    const ActionContext& now;
    const Shown& shown;
    const Document& document;
    const CourseState& course;
    const HeadGrid* head_grid = nullptr;
};

/// All commands of the current screen in the order of the table, then settings, presets, stages, the stages
/// of each layer of a checkpoint, editable matrices, heads, tokens, lessons, recent files, models that ship
/// with the program, and headings of the manual.
std::vector<PaletteEntry> palette_entries(const PaletteSources& sources);

struct PaletteRow {
    const PaletteEntry* entry = nullptr;
    std::string heading = {}; ///< heading of the group that starts here; empty inside a group
    std::vector<std::pair<std::size_t, std::size_t>> marks = {}; ///< matched bytes of the title
};

/// The entries that match the typed text, in this order:
/// - groups ("Recent", "Commands", "Go to", "Presets"), the group with the best match first (see Answer in
///   fuzzy.h), and within a group the best match first; then headings of the manual;
/// - disabled entries, unless the typed text is or starts their title.
/// A text that starts with @ lists only heads, with # only tokens, with ? only headings of the manual. An
/// empty text lists everything except heads, tokens and headings, with the last three of `recent` first.
/// Stages of each layer are listed only if the text contains a digit.
std::vector<PaletteRow> palette_rows(const std::vector<PaletteEntry>& entries, std::string_view typed,
                                     std::span<const std::string> recent);

/// The entry that searches the manual for the typed text. It is shown only if nothing else matches and the
/// text is not empty.
PaletteEntry search_entry(std::string_view typed);
/// The message of an empty list.
std::string no_match_message(std::string_view typed);

inline constexpr float palette_row = 32, palette_heading = 28;
/// Draws one row, `width` x palette_row: kind, title with matched letters in bold, its detail or why it is
/// disabled, keys.
figure::Scene draw_palette_row(const PaletteRow& row, bool highlighted, float width, const Theme& theme,
                               const figure::TextMeasure& measure);

} // namespace headscope::app
