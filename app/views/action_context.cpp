#include "app/views/action_context.h"

#include "app/state/screens/flow.h"
#include "app/state/screens/screen.h"
#include "app/state/word_place.h"
#include "app/views/given_weights.h"

namespace headscope::app {

namespace {

/// Returns true if the canvas shows more than a message.
bool has_picture(const Shown& shown, Screen screen) {
    if (screen == Screen::map)
        return shown.map != nullptr && shown.map->error.empty();
    return shown.trace != nullptr || shown.atlas != nullptr || shown.effects != nullptr ||
           shown.circuits != nullptr;
}

} // namespace

Compare side_on_screen(const AppState& state) {
    return screen_of(state.shown, state.view) == Screen::stages
               ? side_to_show(state.compare, state.view.compare)
               : Compare::now;
}

ActionContext action_context(const AppState& state) {
    const Document& document = *state.document;
    const AttentionSetPtr given = weights_without_stages(state);
    const Screen screen = screen_of(state.shown, state.view);
    return {.view = state.view,
            .files = state.files,
            .problem = document.problem,
            .checkpoint = document.is_checkpoint(),
            .two_texts = document.is_checkpoint() && document.part()->two_texts(),
            .weights_file = document.is_given(),
            .other_weights = document.is_given() && document.given()->set->info().options != nullptr,
            .weights_alone = shows_only_weights(state),
            .weights_read = shows_transformed_weights(state),
            .edited = document.is_checkpoint() && !document.part()->edits.empty(),
            .typed_words = has_typed_words(document),
            .flow_word = document.is_checkpoint() ? state.shown.position
                                                  : flow_word(state.view.flow, document.problem.dims.Tq),
            .lesson = state.course.open != nullptr,
            .writes = state.model.next_distribution.has_value(),
            .writing = state.model.generating,
            .screen = screen,
            .why_no_flow = why_no_flow(document),
            .map = screen == Screen::map ? state.shown.map.get() : nullptr,
            .long_document = document.is_long(),
            .measuring = state.model.measuring,
            .prompts = document.is_checkpoint() ? state.model.prompts.get() : nullptr,
            .shown = state.shown.trace == nullptr ? nullptr : &state.shown.dims(),
            .shows_numbers = has_picture(state.shown, screen),
            .own_heads = given == nullptr ? document.problem.dims.H : given->info().own_heads(),
            .compare = screen == Screen::atlas && state.compare.marked() ? state.view.compare
                                                                         : side_on_screen(state),
            .focused_cell = [&state] { return current_cell(state.shown, state.view); },
            .token = state.menu.thing ? state.menu.thing->token : -1,
            .token_of_second = state.menu.thing && state.menu.thing->of_second,
            .presenting = state.presentation.on,
            .darkened = state.presentation.blank,
            .finding = state.find.open,
            .manual_open = state.manual.open,
            .manual_typing = state.manual.typing,
            .manual_back = !state.manual.back.empty(),
            .manual_forth = !state.manual.forward.empty()};
}

} // namespace headscope::app
