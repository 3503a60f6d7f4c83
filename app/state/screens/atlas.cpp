#include "app/state/screens/atlas.h"

#include "core/analysis/heads/head_filter.h"
#include "core/base/error.h"

#include <algorithm>
#include <initializer_list>

namespace headscope::app {

namespace {

using analysis::HeadMetrics;
using analysis::HeadScore;

HeadScore first_offered(const Atlas& atlas, std::optional<HeadScore> asked,
                        std::initializer_list<HeadScore> otherwise) {
    if (asked && atlas.offers(*asked))
        return *asked;
    // For example, a text without repeated tokens shows no induction.
    const auto tells = [&](HeadScore score) {
        return atlas.offers(score) &&
               (atlas.work(score) != nullptr || std::ranges::any_of(atlas.heads, [&](const auto& head) {
                    return head && head->has(score) && (*head)[score] != 0;
                }));
    };
    const auto* const found = std::ranges::find_if(otherwise, tells);
    return found == otherwise.end() ? HeadScore::entropy : *found;
}

bool in_range(const HeadMetrics& head, const ScoreRange& range) {
    return head.has(range.score) && head[range.score] >= range.low && head[range.score] <= range.high;
}

} // namespace

const ScoreProgress* Atlas::work(HeadScore score) const {
    const auto work = works.find(analysis::info_of(score).of);
    return work == works.end() ? nullptr : &work->second;
}

bool Atlas::offers(HeadScore score) const {
    const ScoreProgress* const on_the_way = work(score);
    return known.test(static_cast<std::size_t>(score)) ||
           (on_the_way != nullptr && on_the_way->unavailable_reason.empty());
}

ResolvedAtlasView resolve_atlas_view(const Atlas& atlas, const AtlasView& view, const std::string& pattern) {
    using enum HeadScore;
    const bool changes = atlas.side == Compare::difference;
    // A mean over prompts shows a score of the prompts; the probe has texts of its own.
    const HeadScore usual = atlas.mean != nullptr ? induction_text : probe_induction;
    ResolvedAtlasView resolved{
        .colour = changes ? first_offered(atlas, view.colour, {parameter_change, attention_change, previous})
                          : first_offered(atlas, view.colour, {usual, induction_text, previous}),
        .x = first_offered(atlas, view.x, {usual, induction_text, previous}),
        .y = first_offered(atlas, view.y, {copying, first, entropy})};
    analysis::HeadFilter filter;
    try {
        filter = analysis::HeadFilter::parse(view.search);
    } catch (const Error&) { // the search field shows the error
    }
    resolved.is_filtered = !filter.empty() || !view.brush.empty() || view.brushed || !pattern.empty();
    for (std::int64_t l = 0; l < atlas.L; ++l)
        for (std::int64_t h = 0; h < atlas.H; ++h) {
            const std::optional<HeadMetrics>& head = atlas.at(l, h);
            const auto label = head ? label_of(*atlas.labelled(l, h), view.thresholds) : std::nullopt;
            resolved.labels.push_back(label);
            bool chosen = head && filter.holds(atlas.numbers[static_cast<std::size_t>(l)], h, *head, label) &&
                          std::ranges::all_of(
                              view.brush, [&](const ScoreRange& range) { return in_range(*head, range); });
            if (!pattern.empty())
                chosen = chosen && pattern.front() == (label ? analysis::info_of(*label).label.letter : '-');
            if (view.brushed && atlas.similarity != nullptr) {
                const auto& [x, y] = atlas.similarity->places[static_cast<std::size_t>(l * atlas.H + h)];
                const auto& [left, right, low, high] = *view.brushed;
                chosen = chosen && x >= static_cast<double>(left) && x <= static_cast<double>(right) &&
                         y >= static_cast<double>(low) && y <= static_cast<double>(high);
            }
            resolved.chosen.push_back(chosen);
        }
    resolved.chosen_count = std::ranges::count(resolved.chosen, true);
    return resolved;
}

} // namespace headscope::app
