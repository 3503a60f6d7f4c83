#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/state/screens/atlas.h"
#include "core/analysis/attention_set.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// What every part of the atlas is drawn from.
struct AtlasScene {
    AtlasScene(const DrawContext& of_context, const Atlas& of_atlas);

    const DrawContext& context;
    const Atlas& atlas;
    AtlasLook look;
    std::int64_t under_mouse = -1; ///< (l * H + h) of the head that the mouse is on in any part; -1: none

    const AtlasView& view() const { return context.view.attention.atlas; }
    const AttentionInfo& info() const { return context.board->info(); }
    bool open(std::int64_t l, std::int64_t h) const {
        return l == context.view.attention.layer && h == context.view.head;
    }
    bool chosen(std::int64_t l, std::int64_t h) const {
        return look.choosing && look.chosen[static_cast<std::size_t>(l * atlas.H + h)];
    }
    /// "L4 H2".
    const std::string& name(std::int64_t l, std::int64_t h) const {
        return (*atlas.names)[static_cast<std::size_t>(l * atlas.H + h)];
    }
    /// Nothing while the head has no such score.
    std::optional<double> score(std::int64_t l, std::int64_t h, analysis::HeadScore of) const;
    /// "0.93", with its unit; "–" while there is none.
    std::string score_words(std::int64_t l, std::int64_t h, analysis::HeadScore of) const;
    /// Its label, empty without one; and the letter of that, '-' without one.
    std::string label(std::int64_t l, std::int64_t h) const;
    char letter(std::int64_t l, std::int64_t h) const;
    /// Null where it is as it was built.
    const HeadEdits* edits(std::int64_t l, std::int64_t h) const;
    bool hovered(std::int64_t l, std::int64_t h) const { return l * atlas.H + h == under_mouse; }
    /// What a tip says: the head's name, its label, these scores, and what was edited. Empty while the mouse
    /// is elsewhere.
    std::string tip(std::int64_t l, std::int64_t h, std::initializer_list<analysis::HeadScore> scores) const;

private:
    std::shared_ptr<const std::vector<HeadEdits>> of_experiment_; ///< null: another document
};

/// The values of a score over all heads, as an axis with round ends.
struct ScoreAxis {
    double low = 0, high = 1;
    bool stretched = false; ///< by asinh
    std::vector<double> ticks = {};
    int decimals = 0;

    double place(double value) const;    ///< 0 at the low end, 1 at the high end; clamped
    double value_at(double share) const; ///< the other way round
};
/// Holds every head's value, 0, and the threshold of the label that the score gives.
ScoreAxis axis_of(const AtlasScene& scene, analysis::HeadScore score, bool stretched);

/// In the person's language.
std::string name_of(analysis::HeadScore score);
/// "letter label": what heads are called by which a score names, in the order of the table, each once. Not
/// translated yet.
struct LabelWords {
    char letter;
    Message text;
    std::string says;
};
const std::vector<LabelWords>& atlas_labels();

/// All heads as tiles; returns its lower edge.
float draw_atlas_board(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// One head's map into a square, weights as marks on a paper.
figure::GridItem tile_picture(const AtlasScene& scene, std::int64_t l, std::int64_t h,
                              const figure::Rect& area, figure::Color paper);

/// The colours of those marks on the canvas, from weight 0 to 1.
Ramp marks_ramp(const Theme& theme);

/// All heads by two scores, or on the map of like heads; returns its lower edge.
float draw_atlas_scatter(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// A histogram for each score; returns its lower edge.
float draw_atlas_histograms(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// Heads row by row; returns its lower edge.
float draw_atlas_list(Picture& picture, const AtlasScene& scene, const figure::Rect& room);
/// The pinned heads side by side; returns its lower edge.
float draw_atlas_pinned(Picture& picture, const AtlasScene& scene, const figure::Rect& room);

/// "colour by induction v" with the list of scores while that is open. Returns its width; `right`: area ends
/// at x.
float draw_score_button(Picture& picture, const AtlasScene& scene, float x, float y, AtlasMenu what,
                        bool right);

} // namespace headscope::app
