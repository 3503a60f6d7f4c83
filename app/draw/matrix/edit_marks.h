#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/head_edits.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// At the top left of a head's small map: a square with a cross where it is ablated, a half-filled square
/// where its gain is another than 1, a diamond where some of its weights were edited. None is larger than the
/// map.
void draw_edit_marks(Picture& picture, const DrawContext& context, const figure::Rect& map,
                     const HeadEdits& edits);
/// The room that they take from a line of text in the map's middle, from the left edge; 0 where they stand
/// above.
float edit_marks_width(const figure::Rect& map, const HeadEdits& edits);
/// The diamond alone, around `middle`.
void draw_edited_diamond(Picture& picture, const DrawContext& context, figure::Point middle, float size);

/// "Edited: gain 0, ablated; W_Q, W_O"; empty where nothing was.
std::string edits_text(const HeadEdits& edits);

/// What the marks mean, in lines of at most `width`: those of them that some head of `heads` has. Nothing
/// where none has any.
void draw_marks_legend(Picture& picture, const DrawContext& context, float x, float y, float width,
                       const std::vector<const HeadEdits*>& heads);

/// The edits of a layer of the stack on screen, which may be a mean; null when there are none, as of all that
/// is no checkpoint.
const LayerMarks* layer_marks(const DrawContext& context, std::int64_t l);
/// Of a head of it.
const HeadEdits* head_edits(const DrawContext& context, std::int64_t l, std::int64_t h);
/// All of them, of L layers with H heads: what draw_marks_legend() asks for.
std::vector<const HeadEdits*> edited_heads(const DrawContext& context, std::int64_t L, std::int64_t H);

/// Of the problem on screen, which is no checkpoint's, by head.
std::shared_ptr<const std::vector<HeadEdits>> edits_by_head(const DrawContext& context);

} // namespace headscope::app
