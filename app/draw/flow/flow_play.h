#pragma once

#include "app/draw/flow/flow_parts.h"

namespace headscope::app {

/// An instant of the story of the word and the head in focus.
struct FlowInstant {
    const FlowStory& story;
    float time = 0;

    FlowStep step() const { return story.step_at(time); }
    /// The fraction of a step that has passed, eased.
    float eased(FlowStep step) const { return ease_in_out(story.progress(step, time)); }
    float progress(FlowStep step) const { return story.progress(step, time); }
    bool reached(FlowStep step) const { return time >= story.start(step); }
    bool over(FlowStep step) const { return time >= story.end(step); }
};

/// Draws the ribbons of the open head as far as the story has come.
void draw_flow_story_ribbons(const FlowPage& page, const FlowInstant& at);
/// Draws the open head: its matrices, the query on its way over the keys, the scores, the softmax and the
/// values.
void draw_flow_story_head(const FlowPage& page, const FlowInstant& at);
/// Hides what the story has not reached yet behind the open head: the joined row and the output row.
void draw_flow_story_end(const FlowPage& page, const FlowInstant& at);
/// Draws the sentence of the step at the bottom of the canvas.
void draw_flow_subtitle(const FlowPage& page, const FlowInstant& at);

// The parts of the open head, in separate sources.

/// The bars of the scores, the glass of 100 % and what is poured into it.
void draw_flow_scores(const FlowPage& page, const FlowInstant& at);
/// The values, multiplied by their weights, on their way to the output.
void draw_flow_values(const FlowPage& page, const FlowInstant& at);

/// A row of numbers on a card with an outline. `tag`: a word at its left; may be empty.
void draw_flow_card(const FlowPage& page, const figure::Rect& area, const std::vector<float>& numbers,
                    const std::string& tag, float outline = 2);
/// An empty place with a dashed edge and a word; may be empty.
void draw_flow_slot(const FlowPage& page, const figure::Rect& area, const std::string& word);
/// The numbers of a row of the head in focus.
std::vector<float> flow_row_numbers(const FlowPage& page, TensorId id, std::int64_t head, std::int64_t row);
/// The state of key j's score: 0 before it is computed, 1 when it is in its cell.
struct FlowScore {
    float value = 0;   ///< sum of the products so far, then the scaled score
    float product = 0; ///< number of products that are added, with a fraction
    float arrived = 0; ///< on the way into its cell
};
FlowScore flow_score(const FlowPage& page, const FlowInstant& at, std::int64_t key);
/// The right end of the number beside the bar of key j's score.
float flow_score_end(const FlowPage& page, const FlowInstant& at, std::int64_t key);
/// The fraction of key j's weight that is in its gate.
float flow_weight_arrived(const FlowInstant& at, std::int64_t key, std::int64_t Tk);

} // namespace headscope::app
