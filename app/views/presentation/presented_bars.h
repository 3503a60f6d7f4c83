#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

#include <string>

namespace headscope::app {

/// Returns true if the sentence is above a presented canvas: while it is typed, and while there is a list of
/// sentences.
bool presents_sentence(const AppState& state);
/// Returns true if the prediction is below a presented canvas: of a language model, unless the picture shows
/// it already or the page of a lesson has an open question.
bool presents_prediction(const AppState& state);

/// The sentence of a presentation, or its field, and its position in the list: "3 of 7". Closes the field
/// when it loses the keyboard.
void view_presented_sentence(const AppState& state, const figure::Rect& area, Presentation& presentation,
                             const ViewTools& tools);
void view_presented_prediction(const AppState& state, const figure::Rect& area, const ViewTools& tools);

// The fields of the toolbars, with text of any size.

/// Returns why the sentence of a problem cannot be changed; empty: it can.
std::string fixed_sentence_reason(const AppState& state);
/// The sentence of a problem, or two side by side for cross-attention.
void view_sentence_fields(const AppState& state, const figure::Rect& area, float size,
                          const ViewTools& tools);
/// The text of a checkpoint, or several side by side.
void view_prompt_fields(const AppState& state, const figure::Rect& area, float size, const ViewTools& tools);

} // namespace headscope::app
