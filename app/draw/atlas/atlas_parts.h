#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/state/screens/atlas.h"
#include "core/analysis/attention_set.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// The common inputs of all parts of the atlas.
struct AtlasScene {
    AtlasScene(const DrawContext& of_context, const Atlas& of_atlas);

    const DrawContext& context;
    const Atlas& atlas;
    ResolvedAtlasView resolved;
    std::int64_t under_mouse = -1; ///< index l * H + h of the head under the mouse in any part, or -1

    const AtlasView& view() const { return context.view.attention.atlas; }
    const AttentionInfo& info() const { return context.head_grid->info(); }
    /// Returns true if scores and maps are those of B − A.
    bool difference() const { return atlas.side == Compare::difference; }
    /// The maps of layer l on the side that the atlas shows; null if they are not read yet.
    std::shared_ptr<const HeadGridRow> row(std::int64_t l) const {
        return atlas.side == Compare::now ? context.head_grid->row(l)
                                          : atlas.rows[static_cast<std::size_t>(l)];
    }
    /// The weight with the darkest mark of a map: 1, in B − A the largest change.
    float darkest_mark() const;
    bool is_open(std::int64_t l, std::int64_t h) const {
        return l == context.view.attention.layer && h == context.view.head;
    }
    bool is_chosen(std::int64_t l, std::int64_t h) const {
        return resolved.is_filtered && resolved.chosen[static_cast<std::size_t>(l * atlas.H + h)];
    }
    /// "L4 H2".
    const std::string& name(std::int64_t l, std::int64_t h) const {
        return (*atlas.names)[static_cast<std::size_t>(l * atlas.H + h)];
    }
    /// Empty if the head has no such score yet.
    std::optional<double> score(std::int64_t l, std::int64_t h, analysis::HeadScore of) const;
    /// "0.93", with its unit, in B − A "+0.02"; "–" if there is no score.
    std::string score_label(std::int64_t l, std::int64_t h, analysis::HeadScore of) const;
    /// ", spread 0.05 over 20 prompts" for the mean over a list of prompts; else empty.
    std::string spread_after(std::int64_t l, std::int64_t h, analysis::HeadScore of) const;
    /// The head's label, empty if it has none; and the label's letter, '-' if it has none.
    std::string label(std::int64_t l, std::int64_t h) const;
    char letter(std::int64_t l, std::int64_t h) const;
    /// Null if the head is not edited.
    const HeadEdits* edits(std::int64_t l, std::int64_t h) const;
    bool hovered(std::int64_t l, std::int64_t h) const { return l * atlas.H + h == under_mouse; }
    /// The tooltip: the head's name, its label, these scores, and its edits. Empty while the mouse is not
    /// over the head.
    std::string tip(std::int64_t l, std::int64_t h, std::initializer_list<analysis::HeadScore> scores) const;

private:
    std::shared_ptr<const std::vector<HeadEdits>> of_experiment_; ///< null: the document is not an experiment
};

/// The values of a score for all heads, as an axis with round ends.
struct ScoreAxis {
    double low = 0, high = 1;
    bool asinh_scale = false; ///< asinh scale instead of a linear one
    std::vector<double> ticks = {};
    int decimals = 0;

    double place(double value) const;    ///< 0 at the low end, 1 at the high end; clamped
    double value_at(double share) const; ///< the inverse of place()
};
/// Contains every head's value, 0, and the threshold of the label that depends on the score; in B − A no
/// threshold, and both ends are equally far from 0.
ScoreAxis axis_of(const AtlasScene& scene, analysis::HeadScore score, bool asinh_scale);

/// The score's name in the user's language.
std::string name_of(analysis::HeadScore score);
/// The same, followed by "B − A" if the scores are differences.
std::string name_of(const AtlasScene& scene, analysis::HeadScore score);
/// The color of a head's background: its score on the axis, on the diverging ramp in B − A.
figure::Color score_color(const AtlasScene& scene, const ScoreAxis& axis, double score);
/// A label with its letter, in the order of the table of scores, each label once. Not translated yet.
struct LabelInfo {
    char letter;
    Message text;
    std::string meaning;
};
const std::vector<LabelInfo>& atlas_labels();

/// Draws all heads as tiles. Returns the lower edge.
float draw_atlas_tiles(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// The map of one head as a square; weights are marks on a background.
figure::GridItem tile_picture(const AtlasScene& scene, std::int64_t l, std::int64_t h,
                              const figure::Rect& area, figure::Color background);

/// Describes the numbers of the small maps and their scale, for a legend.
std::string weight_words(const AtlasScene& scene);
/// The colors of these marks on the canvas, for weights 0 to 1.
Ramp marks_ramp(const Theme& theme);

/// Draws all heads in a scatter plot of two scores, or on the similarity map. Returns the lower edge.
float draw_atlas_scatter(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// Draws a histogram for each score. Returns the lower edge.
float draw_atlas_histograms(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// Draws the heads as a list. Returns the lower edge.
float draw_atlas_list(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// Draws the pinned heads side by side. Returns the lower edge.
float draw_atlas_pinned(Picture& picture, const AtlasScene& scene, const figure::Rect& room);

/// Draws a button such as "colour by induction v", with the list of scores while it is open. Returns its
/// width. `right`: the button ends at x instead of starting there.
float draw_score_button(Picture& picture, const AtlasScene& scene, float x, float y, AtlasMenu what,
                        bool right);

} // namespace headscope::app
