#include "app/session/atlas/atlas_comparison.h"

#include "app/jobs/head_maps.h"
#include "core/analysis/checkpoints/head_change.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

using analysis::HeadMetrics;

/// The scores that both heads have, B − A.
HeadMetrics score_differences(const HeadMetrics& b, const HeadMetrics& a, bool edited_a) {
    HeadMetrics difference;
    for (const analysis::HeadScoreInfo& info : analysis::head_scores())
        if (a.has(info.score) && b.has(info.score) &&
            !(edited_a && info.of == analysis::ScoreSource::comparison))
            difference.set(info.score, b[info.score] - a[info.score]);
    return difference;
}

} // namespace

std::string why_no_grid_comparison(const SessionState& state, const checkpoint::ModelRunPtr& run) {
    const checkpoint::ModelRunPtr& a = state.model.baseline;
    if (!(state.view.attention.reading == analysis::ReadingOptions{}))
        return tr("common.filtered_weights_not_compared",
                  "Filtered weights are not compared; the other stages are.");
    if (a != nullptr && run != nullptr && !(a->inputs() == run->inputs()))
        return tr("atlas_comparison.other_text",
                  "A has another text. The heads are compared on one text: mark a new A.");
    return {};
}

ComparedGridRow compared_grid_row(const ComparedGrids& grids, std::int64_t l, const Progress& progress) {
    const std::int64_t side = analysis::map_side(grids.b->info());
    HeadGridRow a{.version = next_row_version()}, difference{.version = next_row_version()};
    a.heads = analysis::head_maps(*grids.a, l, side, progress);
    for (std::int64_t h = 0; h < std::ssize(a.heads); ++h) {
        analysis::AttentionDifference change =
            analysis::attention_difference(*grids.a, *grids.b, l, h, side, progress);
        std::ranges::transform(change.largest, change.largest.begin(),
                               [](float value) { return std::abs(value); });
        difference.heads.push_back({.facts = a.heads[static_cast<std::size_t>(h)].facts,
                                    .rows = change.rows,
                                    .cols = change.cols,
                                    .largest = std::move(change.largest)});
    }
    return {std::make_shared<const HeadGridRow>(std::move(a)),
            std::make_shared<const HeadGridRow>(std::move(difference))};
}

void subtract_scores(Atlas& atlas, const Atlas& a, bool edited_a) {
    atlas.side = Compare::difference;
    atlas.scores_of_b = atlas.heads;
    atlas.largest_change = 0;
    for (std::size_t n = 0; n < atlas.heads.size(); ++n) {
        std::optional<HeadMetrics>& head = atlas.heads[n];
        if (head && a.heads[n])
            head = score_differences(*head, *a.heads[n], edited_a);
        else
            head.reset();
    }
    for (const auto& row : atlas.rows)
        if (row != nullptr)
            for (const analysis::HeadMap& map : row->heads)
                for (const float change : map.largest)
                    atlas.largest_change = std::max(atlas.largest_change, change);
    // The text's words belong to B.
    atlas.acts = nullptr;
    for (const auto& [source, work] : a.works)
        if (work.fraction)
            atlas.works[source].fraction = work.fraction;
    if (edited_a)
        atlas.works[analysis::ScoreSource::comparison] = {
            tr("atlas_comparison.edited_a", "A has edits of its own, and this score compares with the "
                                            "checkpoint without edits."),
            std::nullopt};
}

} // namespace headscope::app
