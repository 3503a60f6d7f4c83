#pragma once

#include "app/state/atlas_view.h"
#include "app/state/screens/long_map_view.h"
#include "core/analysis/reading_options.h"
#include "core/checkpoint/model/stacks.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace headscope::app {

/// Which part of a head's map is looked at: 1 is the whole of it, and the middle of what is seen, as shares
/// of its width and height.
struct MapWindow {
    float zoom = 1;
    float x = 0.5F, y = 0.5F;
    bool operator==(const MapWindow&) const = default;
};

/// What the canvas holds of a checkpoint, or of a file of weights.
enum class Screen : std::uint8_t {
    stages,   ///< the walk through its numbers, with the board of heads
    atlas,    ///< all heads by what they measurably do
    effects,  ///< what each writer does to a prediction
    patching, ///< what of this text brings its answer back in another
    circuits, ///< what the weights alone say of a head
    why,      ///< one score, by who wrote what its query and its key are made of
    map       ///< the weights of one head, made where they are looked at
};

/// How the effects of heads are measured.
enum class EffectKind : std::uint8_t {
    direct,    ///< what each writes towards two logits; the parts add up
    by_source, ///< what the open head writes at every position, by the token that it reads from
    ablated,   ///< what is lost when one is switched off; the losses do not add up
    averaged   ///< the same with its mean output over the text in its place
};

/// What the colours of scores compare a score with.
enum class ScoreScale : std::uint8_t {
    row,  ///< the largest score of its row, as the softmax does
    head, ///< all scores of its head
    all   ///< the scores of all heads
};
constexpr ScoreScale next_score_scale(ScoreScale scale) {
    return scale == ScoreScale::row    ? ScoreScale::head
           : scale == ScoreScale::head ? ScoreScale::all
                                       : ScoreScale::row;
}
/// The range of the colours by row: the score at the pale end is this far below the largest of its row.
inline constexpr float score_row_depth = 8;

/// How attention weights of a file or a model are looked at.
struct AttentionView {
    checkpoint::Stack stack = checkpoint::Stack::own; ///< whose heads the board shows
    std::int64_t layer = 0;                           ///< of the head that is open, in that stack
    Screen screen = Screen::stages;
    EffectKind effects = EffectKind::direct;
    std::optional<std::int64_t> brought_from = {}; ///< of `effects`: the first token of those that the open
                                                   ///< head reads; none: the last ones are shown
    std::array<std::int64_t, 2> patch = {-1, -1};  ///< the cell of `patching` that is selected: row, column
    std::optional<bool> join_writers =
        {};            ///< of `why`: the heads of a layer together; none: where there are many
    bool board = true; ///< all heads beside the open one
    AtlasView atlas{};
    std::string pattern = {}; ///< heads that do this are marked on the board; empty: none
    MapWindow map = {};
    LongMapView long_map = {};
    analysis::ReadingOptions reading = {};  ///< how the weights are read otherwise than they are held
    analysis::ReadingOptions possible = {}; ///< what of that would do anything to them; follows the set
    bool log_colours = false;               ///< colours of weights by their logarithm
    ScoreScale score_scale = ScoreScale::row;
    bool operator==(const AttentionView&) const = default;
};

} // namespace headscope::app
