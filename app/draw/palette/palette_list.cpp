#include "app/draw/palette/fuzzy.h"
#include "app/draw/palette/palette.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace headscope::app {

namespace {

constexpr std::size_t most_recent = 3;
constexpr std::size_t most_pages = 5; ///< number of headings of the manual, if there are other entries
constexpr int ahead_of_places = 4;    ///< places come before commands only if they match clearly better

enum Group : std::size_t {
    recent_group,
    command_group,
    place_group,
    preset_group,
    manual_group,
    missing_group,
    group_count_of_list
};
constexpr std::array<Message, group_count_of_list> headings{
    translatable("common.recent", "Recent"),  translatable("palette_list.commands", "Commands"),
    translatable("palette_list.go", "Go to"), translatable("palette_list.presets", "Presets"),
    translatable("common.manual", "Manual"),  translatable("palette_list.not_now", "Not now")};

struct FoundEntry {
    const PaletteEntry* entry;
    FuzzyMatch match;
    MatchQuality answer;
    std::size_t order; ///< index among recent entries, or in the list
    int kept = 0;      ///< number of typed "word number" pairs that it contains
};

/// The kind selected by the first character of the typed text.
std::optional<EntryKind> narrowed_to(std::string_view typed) {
    if (typed.starts_with('@'))
        return EntryKind::head;
    if (typed.starts_with('#'))
        return EntryKind::token;
    if (typed.starts_with('?'))
        return EntryKind::manual_heading;
    return std::nullopt;
}

/// Kinds with too many entries to list for this text: all entries of a kind, or the same stage of every
/// layer.
bool is_left_out(EntryKind kind, std::string_view typed) {
    const bool none = typed.find_first_not_of(' ') == std::string_view::npos;
    if (kind == EntryKind::layer_stage)
        return typed.find_first_of("0123456789") == std::string_view::npos;
    return none && (kind == EntryKind::head || kind == EntryKind::token || kind == EntryKind::manual_heading);
}

bool is_better(const FoundEntry& a, const FoundEntry& b) {
    const auto rank = [](const FoundEntry& one) {
        return std::tuple(one.answer, -one.kept, -one.match.score, !one.entry->disabled_reason.empty(),
                          one.entry->kind == EntryKind::layer_stage, // after the heads of the layer
                          one.match.score == 0 ? 0 : one.entry->title.size(), one.order);
    };
    return rank(a) < rank(b);
}

std::optional<FoundEntry> candidate_for(const PaletteEntry& entry, std::string_view typed) {
    if (typed.empty())
        return FoundEntry{&entry, {}, MatchQuality::further, 0};
    const bool keys =
        same_keys(typed, entry.keys) ||
        std::ranges::any_of(entry.more_keys, [&](const std::string& one) { return same_keys(typed, one); });
    auto match = fuzzy_match(typed, entry.title, entry.synonyms + " " + entry.search_words);
    if (!match && !keys)
        return std::nullopt;
    return FoundEntry{&entry, match ? std::move(*match) : FuzzyMatch{},
                      keys ? MatchQuality::title : match_quality(typed, entry.title, entry.synonyms), 0,
                      matched_numbered_words(typed, entry.title + " " + entry.synonyms)};
}

Group group_of(const FoundEntry& one, bool recent, bool all) {
    const PaletteEntry& entry = *one.entry;
    const bool called_so = one.answer <= MatchQuality::title_start;
    return recent && (all || !entry.replaces)             ? recent_group
           : !entry.disabled_reason.empty() && !called_so ? missing_group
           : entry.replaces                               ? preset_group
           : entry.kind == EntryKind::command             ? command_group
           : entry.kind == EntryKind::manual_heading      ? manual_group
                                                          : place_group;
}

/// Sort key of a group, from its first row; smaller keys come first.
std::tuple<bool, MatchQuality, bool, int> place_of(const std::vector<FoundEntry>& group, std::size_t which) {
    if (group.empty() || which >= manual_group)
        return {true, MatchQuality::further, false, static_cast<int>(which)};
    const FoundEntry& first = group.front();
    const int ahead = which == place_group ? 0 : ahead_of_places;
    return {false, first.answer, which == preset_group, -first.match.score - ahead};
}

} // namespace

void open_palette(Palette& palette) {
    palette = {.open = true, .recent = std::move(palette.recent)};
}

void close_and_remember(Palette& palette, const std::string& id) {
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
    std::array<std::vector<FoundEntry>, group_count_of_list> groups;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PaletteEntry& entry = entries[i];
        const auto lately = static_cast<std::size_t>(std::ranges::find(recent, entry.id) - recent.begin());
        const bool is_recent = lately < std::min(recent.size(), most_recent);
        if (only ? entry.kind != *only : is_left_out(entry.kind, typed) && !(all && is_recent))
            continue;
        if (auto candidate = candidate_for(entry, all ? "" : typed)) {
            candidate->order = is_recent ? lately : i;
            groups[group_of(*candidate, is_recent, all)].push_back(std::move(*candidate));
        }
    }
    std::array<std::size_t, group_count_of_list> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (auto& group : groups)
        std::ranges::sort(group, is_better);
    std::ranges::stable_sort(order, {}, [&](std::size_t group) { return place_of(groups[group], group); });
    if (auto& pages = groups[manual_group]; !only && pages.size() > most_pages)
        pages.resize(most_pages);
    std::vector<PaletteRow> rows;
    for (const std::size_t group : order)
        for (const FoundEntry& one : groups[group])
            rows.push_back(
                {one.entry, &one == &groups[group].front() ? tr(headings[group]) : "", one.match.marks});
    return rows;
}

std::string no_match_message(std::string_view typed) {
    const std::optional<EntryKind> only = narrowed_to(typed);
    const std::string what(only ? typed.substr(1) : typed);
    if (what.empty())
        return only == EntryKind::head    ? tr("palette_list.no_head_screen", "No head is on screen.")
               : only == EntryKind::token ? tr("palette_list.no_token_screen", "No token is on screen.")
               : only == EntryKind::manual_heading
                   ? tr("palette_list.no_heading_manual_screen", "No heading of the manual is on screen.")
                   : tr("palette_list.nothing_screen", "Nothing is on screen.");
    return only == EntryKind::head ? tr("palette_list.no_head_found", "No head is found for “{}”.", what)
           : only == EntryKind::token ? tr("palette_list.no_token_found", "No token is found for “{}”.", what)
           : only == EntryKind::manual_heading
               ? tr("palette_list.no_heading_manual_found", "No heading of the manual is found for “{}”.",
                    what)
               : tr("palette_list.nothing_found", "Nothing is found for “{}”.", what);
}

} // namespace headscope::app
