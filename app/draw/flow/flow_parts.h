#pragma once

#include "app/draw/flow/flow_layout.h"
#include "app/draw/kit/picture.h"

#include <string>

namespace headscope::app {

/// Input that all parts of the Flow are drawn from.
struct FlowPage {
    Picture& picture;
    const DrawContext& context;
    const FlowLayout& layout;
    std::int64_t word = 0, head = 0; ///< in focus

    const Dims& dims() const { return context.dims(); }
    const Theme& theme() const { return context.theme; }
    const Problem& problem() const { return context.shown.problem(); }
    std::int64_t batch() const { return context.view.batch; }
    float value(TensorId id, std::int64_t a, std::int64_t b, std::int64_t c = 0) const {
        return context.shown.value({id, {batch(), a, b, c}});
    }
    float weight(std::int64_t h, std::int64_t i, std::int64_t j) const {
        return value(TensorId::weights, h, i, j);
    }
    /// Returns true if the mask forbids query i to attend to key j.
    bool is_forbidden(std::int64_t h, std::int64_t i, std::int64_t j) const;
    /// Returns true if the head is ablated.
    bool is_off(std::int64_t h) const { return problem().gain(h) == 0.0F; }
    /// The color and the ramp of a head; gray if it is ablated.
    figure::Color color(std::int64_t h) const;
    const Ramp& ramp(std::int64_t h) const;
    std::string query_word(std::int64_t i, int most = 14) const;
    std::string key_word(std::int64_t j, int most = 14) const;

    /// Opacities of ribbons: outside of the focus, in the focus, and of a key with that weight.
    float faint() const { return theme().dark ? 0.12F : 0.09F; }
    float strong() const { return theme().dark ? 0.55F : 0.52F; }
    float by_weight(float weight) const { return faint() + (strong() - faint()) * weight; }
};

/// The color with an opacity from 0 to 1.
figure::Color with_opacity(figure::Color color, float opacity);

/// A tensor of one head, or of all heads if `head` is negative, in rows.
struct FlowTensor {
    TensorId id;
    std::int64_t head = -1; ///< index on the tensor's axis of heads
    std::int64_t rows = 0, cols = 0;
    std::int64_t first_col = 0;
    std::int64_t owner = -1; ///< the head whose colors it has; -1: none
    float gain = 1;          ///< multiplies the numbers
};
FlowTensor flow_tensor(const FlowPage& page, TensorId id, std::int64_t head = -1);

/// Draws the rows [first, first + count) with their numbers, or as a texture of their magnitudes if the
/// numbers do not fit. The cells can be pointed at.
void draw_flow_rows(const FlowPage& page, const FlowTensor& tensor, const FlowRows& rows, std::int64_t first,
                    std::int64_t count);
inline void draw_flow_rows(const FlowPage& page, const FlowTensor& tensor, const FlowRows& rows) {
    draw_flow_rows(page, tensor, rows, 0, tensor.rows);
}
/// Draws rows of the concatenated outputs that come from one head, in the head's colors.
void draw_flow_concat(const FlowPage& page, std::int64_t head, std::int64_t first, std::int64_t count);
/// Draws rows of the weights of a head.
void draw_flow_map(const FlowPage& page, std::int64_t head, const FlowRows& rows, std::int64_t first,
                   std::int64_t count);

/// Draws the words of the keys above the columns of a map, as many as fit.
void draw_flow_key_words(const FlowPage& page, const figure::Rect& map, float baseline);
/// Draws an ink frame around an area.
void frame_flow_part(const FlowPage& page, const figure::Rect& area, float width = 1.5F);

/// Draws the words at the left, the one in focus filled. A click puts a word in focus.
void draw_flow_words(const FlowPage& page);
/// Draws a caption that opens the stage of a tensor: a name in bold and a word in gray.
void draw_flow_caption(const FlowPage& page, float x, float baseline, const std::string& name,
                       const std::string& words, TensorId opens, const std::string& label, float room);

} // namespace headscope::app
