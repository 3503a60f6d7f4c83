#pragma once

#include "app/state/screens/flow_story.h"
#include "core/trace/tensor_id.h"

#include <array>
#include <cstdint>
#include <optional>

namespace headscope::app {

/// The steps of the tour for new users, done in any order.
struct FlowTour {
    bool offered = false; ///< the Start panel shows the tour
    bool looked = false, changed_word = false, switched_off = false;
    bool done() const { return looked && changed_word && switched_off; }
};

/// A word of the text; of_second: of the sentence that keys and values are made from.
struct FlowWord {
    std::int64_t word = 0;
    bool of_second = false;
    bool operator==(const FlowWord&) const = default;
};

/// The view settings of the Flow.
struct FlowView {
    std::int64_t word = -1; ///< the query in focus; -1: the one in the middle of the sentence
    float time = 0;         ///< seconds of the story that have passed; 0 and the end show the picture at rest
    bool wait_for_reading = false; ///< playback waits at the end of a step until its sentence can be read
    float step_seconds = 0;        ///< seconds for which the current step has been shown
    float lit = 1;                 ///< animation of the lit path: 0 when the mouse reaches it, 1 at rest
    bool opened_stage = false;     ///< the stage on screen was opened from the Flow
    std::optional<TensorId> parameters = {}; ///< W_Q, W_K or W_V, opened as a matrix
    std::optional<FlowWord> edited = {};     ///< the word whose field is open
    FlowTour tour = {};

    // Follow the document and the screen; set before each frame.
    bool on_screen = false;
    FlowStory story = {};
    std::array<int, flow_step_count> characters{}; ///< of the sentence of each step
};

/// The query in focus of Tq.
constexpr std::int64_t flow_word(const FlowView& view, std::int64_t Tq) {
    return view.word >= 0 && view.word < Tq ? view.word : Tq / 2;
}

} // namespace headscope::app
