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

/// The command palette: what is typed while it is open, and what was chosen before.
struct Palette {
    bool open = false;
    std::string typed = {};
    std::size_t lit = 0;             ///< the row that Return does
    bool follow = false;             ///< the list scrolls to that row in the next frame
    bool has_keyboard = false;       ///< its field, in the frame before
    std::vector<std::string> recent; ///< ids of what was done, newest first, until the program ends
};

/// Opens it anew, with what was done before.
void open_palette(Palette& palette);
/// Closes it after that entry was done.
void close_after(Palette& palette, const std::string& id);

enum class EntryKind : std::uint8_t {
    command,
    stage,
    layer_stage, ///< a stage of a checkpoint by its layer, "L3 MLP"
    head,
    token,
    lesson,
    file,
    page
};

/// One thing that the palette finds.
struct PaletteEntry {
    std::string id = {}; ///< unique, the same in every frame
    EntryKind kind = EntryKind::command;
    std::string label = {}; ///< the kind in a word: "view"
    std::string title = {};
    std::string detail = {};                 ///< behind the title; may be empty
    std::string tip = {};                    ///< what it does, in a sentence without the full stop
    std::string words = {};                  ///< what else people call it
    std::string also = {};                   ///< further words by which it is found
    std::string keys = {};                   ///< "Ctrl Shift S"; may be empty
    std::vector<std::string> more_keys = {}; ///< others that do the same
    bool replaces = false;                   ///< choosing it takes the place of the text that the user typed
    std::string missing = {};                ///< why it cannot be done now; empty: it can
    /// What it sends. Only where nothing is missing.
    std::function<Actions(const Situation&)> send = {};
};

/// What entries are made from. Entries live no longer.
struct PaletteSources {
    const Situation& now;
    const Shown& shown;
    const Document& document;
    const CourseState& course;
    const HeadBoard* board = nullptr;
};

/// All commands of the page in the order of the table, then settings, presets, stages, those of each layer of
/// a checkpoint, matrices to edit, heads, tokens, lessons, recent files, models that come with the program,
/// and headings of the manual.
std::vector<PaletteEntry> palette_entries(const PaletteSources& sources);

struct PaletteRow {
    const PaletteEntry* entry = nullptr;
    std::string heading = {};                                    ///< of the group that begins here
    std::vector<std::pair<std::size_t, std::size_t>> marks = {}; ///< bytes of the title that were matched
};

/// The entries that answer what was typed (see Answer in fuzzy.h), in this order:
/// - groups ("Recent", "Commands", "Go to", "Presets"), the one with the best match first, and in each group
///   the best match first; then headings of the manual;
/// - what cannot be done now, unless its title is the text that was typed.
/// A text that begins with @ lists heads alone, with # tokens, with ? headings of the manual. Where nothing
/// is typed, all but heads, tokens and headings are listed, the last three of `recent` first. Stages of each
/// layer are listed where a digit is typed.
std::vector<PaletteRow> palette_rows(const std::vector<PaletteEntry>& entries, std::string_view typed,
                                     std::span<const std::string> recent);

/// Searches the manual for what was typed. It is the only row where nothing else matches, and no row where
/// nothing is typed.
PaletteEntry search_entry(std::string_view typed);
/// What the list says where no row is left.
std::string nothing_found(std::string_view typed);

inline constexpr float palette_row = 32, palette_heading = 28;
/// One row, `width` x palette_row: kind, title with the matched letters in bold, its detail or why it cannot
/// be done, keys.
figure::Scene draw_palette_row(const PaletteRow& row, bool lit, float width, const Theme& theme,
                               const figure::TextMeasure& measure);

} // namespace headscope::app
