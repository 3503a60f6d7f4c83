#include "app/draw/palette/fuzzy.h"
#include "app/draw/palette/palette.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

namespace headscope::app {

namespace {

constexpr std::size_t most_recent = 3;
constexpr std::size_t most_pages = 5; ///< of the manual, beside other things
constexpr int ahead_of_places = 4;    ///< a place goes before commands only where it answers clearly better

enum Group : std::size_t { recent_group, command_group, place_group, manual_group, group_count_of_list };
constexpr std::array<std::string_view, group_count_of_list> headings{
    translatable("Recent"), translatable("Commands"), translatable("Go to"), translatable("Manual")};

struct Candidate {
    const PaletteEntry* entry;
    FuzzyMatch match;
    std::size_t order; ///< among recent entries, or of the list
};

/// What the character before the typed text narrows the list to.
std::optional<EntryKind> narrowed_to(std::string_view typed) {
    if (typed.starts_with('@'))
        return EntryKind::head;
    if (typed.starts_with('#'))
        return EntryKind::token;
    if (typed.starts_with('?'))
        return EntryKind::page;
    return std::nullopt;
}

bool is_better(const Candidate& a, const Candidate& b) {
    const auto rank = [](const Candidate& one) {
        return std::tuple(-one.match.score, !one.entry->missing.empty(),
                          one.match.score == 0 ? 0 : one.entry->title.size(), one.order);
    };
    return rank(a) < rank(b);
}

} // namespace

void open_palette(Palette& palette) {
    palette = {.open = true, .typed = {}, .recent = std::move(palette.recent)};
}

void close_after(Palette& palette, const std::string& id) {
    palette.open = false;
    std::erase(palette.recent, id);
    palette.recent.insert(palette.recent.begin(), id);
    palette.recent.resize(std::min(palette.recent.size(), most_recent));
}

std::vector<PaletteRow> palette_rows(const std::vector<PaletteEntry>& entries, std::string_view typed,
                                     std::span<const std::string> recent) {
    const std::optional<EntryKind> only = narrowed_to(typed);
    if (only)
        typed.remove_prefix(1);
    const bool all = typed.find_first_not_of(' ') == std::string_view::npos;
    std::array<std::vector<Candidate>, group_count_of_list> groups;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PaletteEntry& entry = entries[i];
        const bool many =
            entry.kind == EntryKind::head || entry.kind == EntryKind::token || entry.kind == EntryKind::page;
        const auto lately = static_cast<std::size_t>(std::ranges::find(recent, entry.id) - recent.begin());
        const bool is_recent = lately < std::min(recent.size(), most_recent);
        if (only ? entry.kind != *only : all && many && !is_recent)
            continue;
        if (auto match = fuzzy_match(typed, entry.title, entry.also)) {
            const Group group = is_recent                          ? recent_group
                                : entry.kind == EntryKind::command ? command_group
                                : entry.kind == EntryKind::page    ? manual_group
                                                                   : place_group;
            groups[group].push_back({&entry, std::move(*match), is_recent ? lately : i});
        }
    }
    std::array<std::size_t, group_count_of_list> order{recent_group, command_group, place_group,
                                                       manual_group};
    for (auto& group : groups)
        std::ranges::sort(group, is_better);
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t group) {
        return groups[group].empty() ? -1
               : group == manual_group
                   ? 0 // the last one
                   : groups[group].front().match.score + (group == place_group ? 0 : ahead_of_places);
    });
    if (auto& pages = groups[manual_group]; !only && pages.size() > most_pages)
        pages.resize(most_pages);
    std::vector<PaletteRow> rows;
    for (const std::size_t group : order)
        for (const Candidate& one : groups[group])
            rows.push_back(
                {one.entry, &one == &groups[group].front() ? tr(headings[group]) : "", one.match.marks});
    return rows;
}

std::string nothing_found(std::string_view typed) {
    const std::optional<EntryKind> only = narrowed_to(typed);
    const std::string what(only ? typed.substr(1) : typed);
    if (what.empty())
        return only == EntryKind::head    ? tr("No head is on screen.")
               : only == EntryKind::token ? tr("No token is on screen.")
               : only == EntryKind::page  ? tr("No heading of the manual is on screen.")
                                          : tr("Nothing is on screen.");
    return only == EntryKind::head    ? tr("No head is found for “{}”.", what)
           : only == EntryKind::token ? tr("No token is found for “{}”.", what)
           : only == EntryKind::page  ? tr("No heading of the manual is found for “{}”.", what)
                                      : tr("Nothing is found for “{}”.", what);
}

} // namespace headscope::app
