#pragma once

#include "app/draw/flow/model_layout.h"
#include "app/draw/kit/picture.h"
#include "app/state/model_document.h"
#include "app/state/screens/model_story.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The state of the Flow of a language model at one instant of its play; at rest everything has arrived.
struct ModelFlowMoment {
    bool plays = false;     ///< false: at rest
    float front = 1e6F;     ///< x up to which the residual streams have arrived
    float ribbons = 1;      ///< fraction of the ribbons of the open layer that is drawn, 0 to 1
    float next_word = 1;    ///< fraction of the columns of the next word, 0 to 1
    std::string subtitle{}; ///< one sentence about this instant
    bool reached(float x) const { return front >= x; }
};

/// Input of the functions below.
struct ModelFlow {
    const DrawContext& context;
    ModelFlowLayout layout;
    std::vector<FlowSlab> slabs;
    std::vector<std::string> words; ///< of the text
    std::int64_t T = 0, H = 0;
    std::int64_t open = 0;     ///< the open layer
    std::int64_t head = 0;     ///< the selected head in it
    std::int64_t position = 0; ///< whose residual stream and prediction are in focus
    ModelFlowMoment moment = {};

    const Theme& theme() const { return context.theme; }
    const FlowLayer* layer() const { return context.shown.flow_layer.get(); }
    const FlowGuesses* guesses() const { return context.shown.flow_guesses.get(); }
    const CausesView* causes() const { return context.shown.causes.get(); }
    const std::string& word(std::int64_t token) const { return words[static_cast<std::size_t>(token)]; }
    bool is_off(std::int64_t l, std::int64_t h) const;
    /// The attention weights of the selected head at the position, (T); empty while they are not known.
    std::vector<float> row_of_head(std::int64_t query) const;
};

/// The instant of the play that the view shows, as a function of its time.
ModelFlowMoment model_flow_moment(const ModelFlow& flow);

/// Points along a curve from one point to another, with horizontal tangents at both ends.
std::vector<figure::Point> flow_curve(figure::Point from, figure::Point to, int count = 32);
/// Adds a band of constant width along a curve.
void add_flow_band(Picture& picture, const std::vector<figure::Point>& curve, float width, figure::Color from,
                   figure::Color to);
/// Adds a dashed line along a curve.
void add_dashes(Picture& picture, const std::vector<figure::Point>& curve, figure::Color color, float width);

void draw_model_streams(Picture& picture, const ModelFlow& flow);
void draw_model_words(Picture& picture, const ModelFlow& flow);
void draw_closed_slabs(Picture& picture, const ModelFlow& flow);
void draw_open_slab(Picture& picture, const ModelFlow& flow);
void draw_best_guesses(Picture& picture, const ModelFlow& flow);
void draw_final_norm(Picture& picture, const ModelFlow& flow);
void draw_next_word(Picture& picture, const ModelFlow& flow);
void draw_model_causes(Picture& picture, const ModelFlow& flow);

} // namespace headscope::app
