#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/head_edits.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// Draws marks at the top left of a head's small map: a square with a cross for an ablated head, a
/// half-filled square for a head gain other than 1, a diamond for edited parameters. Marks are never larger
/// than the map.
void draw_edit_marks(Picture& picture, const DrawContext& context, const figure::Rect& map,
                     const HeadEdits& edits);
/// The width that the marks take from a line of text in the middle of the map, from the left edge; 0 if they
/// are above the text.
float edit_marks_width(const figure::Rect& map, const HeadEdits& edits);
/// Draws only the diamond, centered at `middle`.
void draw_edited_diamond(Picture& picture, const DrawContext& context, figure::Point middle, float size);

/// "Edited: gain 0, ablated; W_Q, W_O"; empty without edits.
std::string edits_text(const HeadEdits& edits);

/// Explains the marks that occur in `heads`, in lines of at most `width`. Draws nothing if none occurs.
void draw_marks_legend(Picture& picture, const DrawContext& context, float x, float y, float width,
                       const std::vector<const HeadEdits*>& heads);

/// The edits of a layer of the stack on screen, which may be a mean; null if there are none or the document
/// is not a checkpoint.
const LayerMarks* layer_marks(const DrawContext& context, std::int64_t l);
/// The edits of one head of it.
const HeadEdits* head_edits(const DrawContext& context, std::int64_t l, std::int64_t h);
/// The edits of L layers with H heads, for draw_marks_legend().
std::vector<const HeadEdits*> edited_heads(const DrawContext& context, std::int64_t L, std::int64_t H);

/// The edits of each head of the attention inputs on screen, for documents that are not checkpoints.
std::shared_ptr<const std::vector<HeadEdits>> edits_by_head(const DrawContext& context);

} // namespace headscope::app
