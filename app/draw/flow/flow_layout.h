#pragma once

#include "core/figure/scene.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

/// The sizes that determine the geometry of the Flow.
struct FlowSizes {
    float width = 0, height = 0; ///< of the canvas, in logical pixels
    std::int64_t Tq = 1, Tk = 1, D = 1, Dkv = 1, H = 1, Hkv = 1, dk = 1, dv = 1;
    bool cross = false;    ///< keys and values come from a second sentence
    float word_width = 40; ///< of the longest word, in logical pixels
    std::int64_t head = 0; ///< the head in focus
    bool numbers = true;   ///< numbers are wanted in cells
};

/// Rows of equal height at equal distances.
struct FlowRows {
    figure::Rect area; ///< from the first row to the last
    float pitch = 0, row = 0;

    figure::Rect at(std::int64_t index) const {
        return {area.x, area.y + pitch * static_cast<float>(index), area.w, row};
    }
};

/// One head. The rows of q, of the map and of the output are in line.
struct FlowHead {
    bool open = false;      ///< else folded: three textures, the map and the output
    bool shown = true;      ///< else there is no room for it
    figure::Rect band = {}; ///< the whole head
    float bar = 0;          ///< top of the bar in the head's color, if open
    float captions = 0;     ///< baseline of the names of q, the map and the output; 0: no room
    FlowRows q = {}, k = {}, v = {}, map = {}, out = {};
    figure::Rect gates = {}; ///< left and right edge of the gates; if open
};

/// Parts of the step-by-step picture between the keys and the gates.
struct FlowStage {
    figure::Rect bars;  ///< one line for each key, in line with the spread keys
    figure::Rect glass; ///< the weights as parts of 100 %
};

struct FlowLayout {
    float width = 0, height = 0;
    figure::Rect corner = {}; ///< room for the title and its sentences; w == 0: none
    FlowRows words = {}, x = {}, key_words = {}, x_kv = {}; ///< key_words and x_kv only in cross-attention
    std::vector<FlowHead> heads = {};
    std::vector<figure::Rect> tiles = {}; ///< a small map of each head; empty if all heads have room
    FlowRows concat = {};                 ///< w == 0: no room, the heads meet at the output
    FlowRows output = {};
    figure::Rect W_O = {}, chart = {}; ///< w == 0: no room
    figure::Rect names = {};           ///< left and right edge of the words beside q, k and v
    FlowStage stage = {};              ///< only in the layouts of the story
};

/// The picture at rest: all heads open if there is room, otherwise the one in focus.
FlowLayout flow_layout(const FlowSizes& sizes);
/// The head in focus opened for the story, the others folded. `values`: its values are spread, else its keys.
FlowLayout flow_story_layout(const FlowSizes& sizes, bool values);
/// A layout between two, for t from 0 to 1.
FlowLayout mixed_layout(const FlowLayout& from, const FlowLayout& to, float t);

} // namespace headscope::app
