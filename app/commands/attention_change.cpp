#include "app/commands/attention_change.h"

#include "app/state/view_state.h"
#include "core/analysis/attention_set.h"
#include "core/base/overloaded.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Clamps the center so that the map covers its whole area.
void keep_inside(MapWindow& map) {
    const float half = 0.5F / map.zoom;
    map.x = std::clamp(map.x, half, 1 - half);
    map.y = std::clamp(map.y, half, 1 - half);
}

void zoom(MapWindow& map, const ZoomMap& change) {
    const float before = map.zoom;
    map.zoom = std::clamp(map.zoom * change.factor, 1.0F, largest_map_zoom);
    const float shift = 1 / before - 1 / map.zoom;
    map.x += (change.x - 0.5F) * shift;
    map.y += (change.y - 0.5F) * shift;
    keep_inside(map);
}

void open_head(ViewState& view, std::int64_t layer, std::int64_t head) {
    view.attention.layer = layer;
    view.head = head;
    // Keep the selected position in the new head; the hovered cell of the previous head no longer applies.
    if (view.selected && view.selected->tensor == TensorId::weights)
        view.selected->at[1] = head;
    view.hover.reset();
}

void show_screen(ViewState& view, Screen screen) {
    if (view.attention.screen != screen) { // interactions in progress end with their screen
        view.brush = {};
        view.attention.atlas.menu = AtlasMenu::none;
    }
    if (screen != view.attention.screen && (screen == Screen::flow || view.attention.screen == Screen::flow))
        view.playing = false; // the story and the stages do not continue each other
    view.attention.screen = screen;
    view.flow.opened_stage = false;
    if (screen == Screen::why && view.group != StageGroup::scores)
        view.group = StageGroup::scaled; // the stage whose scores this screen splits
}

void change_atlas(AttentionView& view, const AtlasChange& change) {
    apply(view.atlas, change);
    if (std::holds_alternative<ChooseAllHeads>(change))
        view.pattern.clear();
    if (std::holds_alternative<ListHeadChanges>(change))
        view.screen = Screen::atlas;
}

void show_weight(ViewState& view, const ShowWeight& change) {
    view.group = StageGroup::weights;
    view.weights_view = WeightsView::heatmap;
    view.heads_view = HeadsView::each;
    view.row = change.query;
    view.selected = CellAddress{TensorId::weights, {view.batch, view.head, change.query, change.key}};
    view.block_end.reset();
    show_screen(view, change.screen);
}

void show_stack(ViewState& view, checkpoint::Stack stack) {
    if (view.attention.stack == stack)
        return;
    view.attention.stack = stack;
    view.attention.map = {};
    view.attention.atlas.pinned.clear();
    // Rows and columns are different tokens there.
    view.row = -1;
    view.selected.reset();
    view.block_end.reset();
    view.hover.reset();
}

} // namespace

void apply(ViewState& view, const AttentionChange& change) {
    AttentionView& attention = view.attention;
    std::visit(Overloaded{[&](const OpenHead& c) { open_head(view, c.layer, c.head); },
                          [&](const ShowWeight& c) { show_weight(view, c); },
                          [&](const ShowStack& c) { show_stack(view, c.stack); },
                          [&](const MoveInHeadGrid& c) {
                              open_head(view, attention.layer + c.layers, view.head + c.heads);
                          },
                          [&](const SetHeadGridWidth& c) { view.head_grid_width = c.width; },
                          [&](const ShowHeadGrid& c) { attention.head_grid_open = c.shown; },
                          [&](const ShowScreen& c) { show_screen(view, c.screen); },
                          [&](const ShowFlowGuess& c) { attention.flow_guess = c.level; },
                          [&](const ShowCauses& c) { attention.causes_open = c.shown; },
                          [&](const ShowEffects& c) { attention.effects = c.kind; },
                          [&](const ShowSourceTokens& c) { attention.first_source_token = c.from; },
                          [&](const JoinComponents& c) { attention.join_components = c.joined; },
                          [&](const PickPatch& c) {
                              attention.patch = {c.row, c.column};
                          },
                          [&](const MarkPattern& c) {
                              attention.pattern = attention.pattern == c.pattern ? "" : c.pattern;
                          },
                          [&](const ZoomMap& c) { zoom(attention.map, c); },
                          [&](const PanMap& c) {
                              attention.map.x += c.x / attention.map.zoom;
                              attention.map.y += c.y / attention.map.zoom;
                              keep_inside(attention.map);
                          },
                          [&](const WholeMap&) { attention.map = {}; },
                          [&](const SetReadingOptions& c) { attention.reading = c.how; },
                          [&](const SetLogColours& c) { attention.log_colours = c.on; },
                          [&](const SetScoreScale& c) { attention.score_scale = c.scale; },
                          [&](const AtlasChange& c) { change_atlas(attention, c); }},
               change);
}

void adapt_to_attention(ViewState& view, const AttentionInfo& info) {
    view.group = StageGroup::weights;
    view.playing = false;
    view.batch = 0;
    view.attention.layer = std::clamp<std::int64_t>(view.attention.layer, 0, info.L - 1);
    view.head = std::clamp<std::int64_t>(view.head, 0, info.H - 1);
    if (view.selected && view.selected->tensor == TensorId::weights)
        view.selected->at[1] = view.head;
    if (view.tab != LeftTab::heads && view.tab != LeftTab::tensors && view.tab != LeftTab::start)
        view.tab = LeftTab::heads;
}

} // namespace headscope::app
