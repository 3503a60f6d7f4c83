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

/// The visible part of a head's map: the zoom (1 shows the whole map) and the center of the visible part, as
/// fractions of the map's width and height.
struct MapWindow {
    float zoom = 1;
    float x = 0.5F, y = 0.5F;
    bool operator==(const MapWindow&) const = default;
};

/// The screen that the canvas shows for a checkpoint or for a file of weights.
enum class Screen : std::uint8_t {
    stages,   ///< the computation step by step, with the grid of heads
    flow,     ///< the whole attention as one picture, from the words to the output
    atlas,    ///< all heads by measured scores
    effects,  ///< the effect of each residual stream component on a prediction
    patching, ///< activation patching: the parts of this text that restore its answer in another text
    circuits, ///< circuits of a head, computed from the weights alone
    why,      ///< one score, split among the residual stream components of its query and its key
    map       ///< the weights of one head, computed where they are visible
};

/// The method that measures the effects of heads.
enum class EffectKind : std::uint8_t {
    direct,    ///< direct logit attribution towards two logits; the parts add up
    by_source, ///< the contribution of the open head at every position, split by source token
    ablated,   ///< zero ablation of one head at a time; the losses do not add up
    averaged   ///< mean ablation: the head's output is replaced by its mean over the text
};

/// The reference that the colors of scores are relative to.
enum class ScoreScale : std::uint8_t {
    row,  ///< the largest score of the row, as in the softmax
    head, ///< all scores of the head
    all   ///< the scores of all heads
};
constexpr ScoreScale next_score_scale(ScoreScale scale) {
    return scale == ScoreScale::row    ? ScoreScale::head
           : scale == ScoreScale::head ? ScoreScale::all
                                       : ScoreScale::row;
}
/// With ScoreScale::row, the pale end of the color scale is this far below the largest score of the row.
inline constexpr float score_row_depth = 8;

/// The view settings for attention weights of a file or a model.
struct AttentionView {
    checkpoint::Stack stack = checkpoint::Stack::own; ///< the stack whose heads the grid shows
    std::int64_t layer = 0;                           ///< the layer of the open head in that stack
    Screen screen = Screen::stages;
    EffectKind effects = EffectKind::direct;
    std::optional<std::int64_t> first_source_token =
        {};                                       ///< of `effects`: the first of the visible tokens that the
                                                  ///< open head reads; none: the last ones are visible
    std::array<std::int64_t, 2> patch = {-1, -1}; ///< the selected cell of `patching`: row, column
    std::optional<bool> join_components =
        {}; ///< of `why`: join the heads of a layer; none: joined if there are many
    /// Layer whose best guesses the Flow of a language model lists: 0 before the layers, l + 1
    /// after layer l; none: after the open layer.
    std::optional<std::int64_t> flow_guess = {};
    bool causes_open = false;   ///< the answer to "Why?" is open next to the prediction
    bool head_grid_open = true; ///< the grid of heads is shown next to the open head
    AtlasView atlas{};
    std::string pattern = {}; ///< the pattern whose heads the grid marks; empty: none
    MapWindow map = {};
    LongMapView long_map = {};
    analysis::ReadingOptions reading = {};  ///< transformations and aggregations applied to the weights
    analysis::ReadingOptions possible = {}; ///< the options that would change the weights; follows the set
    bool log_colours = false;               ///< colors of weights on a logarithmic scale
    ScoreScale score_scale = ScoreScale::row;
    bool operator==(const AttentionView&) const = default;
};

} // namespace headscope::app
