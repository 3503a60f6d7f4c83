#pragma once

#include "app/state/screens/model_flow.h"
#include "core/figure/scene.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

/// The sizes that the layout of the Flow of a language model depends on.
struct ModelFlowSizes {
    float width = 0, height = 0; ///< of the canvas, in logical pixels
    std::int64_t T = 1, H = 1;   ///< tokens; heads of a layer
    std::vector<FlowSlab> slabs; ///< at least one, exactly one of them open
    bool predicts = true;        ///< the model has a prediction, with its causes below
    float word_width = 60;       ///< of the widest word of the text
    bool has_mlp = true;         ///< the open layer has an MLP
};

/// The places of everything in the Flow of a language model: residual streams from left to right, one per
/// token; a slab for each layer; the next word at the right; its causes below.
struct ModelFlowLayout {
    float words_right = 0, word_width = 0; ///< right edge and width of the words
    float stream_left = 0;                 ///< where the residual streams start
    float first_row = 0, pitch = 0;        ///< center of row 0, and the distance of rows
    std::vector<figure::Rect> slabs;       ///< in the order of ModelFlowSizes::slabs
    std::vector<float> tile_sides;         ///< sides of the maps in each slab
    std::vector<int> tile_columns;         ///< columns of maps in each slab
    std::size_t open_slab = 0;             ///< index of the open slab
    float header = 0;                      ///< height of the header inside the open slab
    float slab_names = 0;                  ///< baseline of the names of closed slabs
    float source_x = 0, target_x = 0;      ///< of the ribbons in the open slab
    figure::Rect mlp;                      ///< of the open slab; empty: none
    figure::Rect final_norm;
    figure::Rect hero;     ///< the next word: title, bar, word and list
    figure::Rect bar;      ///< the probabilities as one column
    float guess_top = 0;   ///< of the best guesses below the slabs; each is guess_height high
    figure::Rect why;      ///< the causes; empty without a prediction
    float pad = 8;         ///< inside the slabs
    float strip_width = 9; ///< of the strip at the right edge of a closed slab
    bool lists = false;    ///< the hero has a list of the other words
    static constexpr float guess_height = 38;

    /// The center of a token's residual stream.
    float row(std::int64_t token) const { return first_row + pitch * static_cast<float>(token); }
    bool slab_is_open(std::size_t slab) const { return slab == open_slab; }
    /// The map of a head in a slab.
    figure::Rect tile(std::size_t slab, std::int64_t head, std::int64_t H) const;
    /// The strip of a closed slab that shows how much the layer adds to each token.
    figure::Rect strip(std::size_t slab) const;
    /// Where the residual streams leave a slab: where its best guess points to.
    float after(std::size_t slab) const;
};

/// Any size: parts shrink before they are left out, and nothing overlaps.
ModelFlowLayout model_flow_layout(const ModelFlowSizes& sizes);

} // namespace headscope::app
