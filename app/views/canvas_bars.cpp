#include "app/draw/effects/pair_bar.h"
#include "app/draw/effects/patched_bar.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/prompts/prompt_bar.h"
#include "app/state/model_document.h"
#include "app/state/screens/screen.h"
#include "app/views/scrolled.h"

namespace headscope::app {

namespace {

/// The patch of the run on screen; null without one.
const PatchedRun* patch_on_screen(const AppState& state) {
    const DocumentPtr& document = state.shown.document;
    return document != nullptr && document->is_checkpoint() ? patched_run(*document->part()) : nullptr;
}

/// Returns true while the program asks whether a separator splits the prompt into a text pair.
bool asks_for_pair(const AppState& state) {
    return state.model.typed_pair.has_value() && state.document->is_checkpoint();
}

bool has_prompt_bar(const AppState& state) {
    return state.model.prompts != nullptr && state.document->is_checkpoint();
}

/// The stages and a checkpoint's atlas show a comparison bar. The other screens show one run, independent of
/// A.
bool has_compare_bar(const AppState& state) {
    const Screen screen = screen_of(state.shown, state.view);
    return state.compare.marked() &&
           (screen == Screen::stages || (screen == Screen::atlas && state.document->is_checkpoint() &&
                                         state.compare.baseline().document->is_checkpoint() &&
                                         state.view.attention.atlas.tab != AtlasTab::survey));
}

/// A bar as wide as the canvas.
void view_bar(const char* id, const figure::Rect& area, const Picture& picture, const ViewTools& tools) {
    begin_region(id, area, tools);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    show_picture(picture, at.x, at.y, tools, nullptr);
    ImGui::EndChild();
}

} // namespace

void view_bars(const AppState& state, const figure::Rect& canvas, const ViewTools& tools) {
    const DrawContext context = canvas_context(state, tools, canvas.w, canvas.h);
    float y = canvas.y;
    if (has_prompt_bar(state)) {
        view_bar("prompt bar", {canvas.x, y, canvas.w, prompt_bar_height},
                 draw_prompt_bar(context, *state.model.prompts), tools);
        y += prompt_bar_height;
    }
    if (asks_for_pair(state)) {
        const text::Tokenizer& tokenizer = *state.document->part()->model->tokenizer;
        view_bar("pair", {canvas.x, y, canvas.w, pair_bar_height},
                 draw_pair_bar(context, std::string(tokenizer.token_text(*tokenizer.separator())),
                               *state.model.typed_pair),
                 tools);
        y += pair_bar_height;
    }
    if (const PatchedRun* const patch = patch_on_screen(state)) {
        view_bar("patched", {canvas.x, y, canvas.w, patched_bar_height}, draw_patched_bar(context, *patch),
                 tools);
        y += patched_bar_height;
    }
    if (has_compare_bar(state))
        view_bar("compare", {canvas.x, y, canvas.w, compare_bar_height}, draw_compare_bar(context), tools);
}

figure::Rect canvas_below_bars(const AppState& state, const figure::Rect& canvas) {
    const float bars = (has_compare_bar(state) ? compare_bar_height : 0) +
                       (asks_for_pair(state) ? pair_bar_height : 0) +
                       (has_prompt_bar(state) ? prompt_bar_height : 0) +
                       (patch_on_screen(state) != nullptr ? patched_bar_height : 0);
    return {canvas.x, canvas.y + bars, canvas.w, canvas.h - bars};
}

} // namespace headscope::app
