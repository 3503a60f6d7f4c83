#include "app/commands/atlas_change.h"

#include "core/base/overloaded.h"

#include <algorithm>

namespace headscope::app {

namespace {

std::optional<analysis::HeadScore>& chosen(AtlasView& view, AtlasMenu what) {
    return what == AtlasMenu::x ? view.x : what == AtlasMenu::y ? view.y : view.colour;
}

void choose(AtlasView& view, AtlasMenu what, analysis::HeadScore score) {
    std::optional<analysis::HeadScore>& at = chosen(view, what);
    if (what != AtlasMenu::colour && at != score)
        view.brush.clear(); // it referred to the previous axes
    at = score;
    view.menu = AtlasMenu::none;
}

} // namespace

void apply(AtlasView& view, const AtlasChange& change) {
    std::visit(
        Overloaded{
            [&](const ListHeadChanges&) {
                view.tab = AtlasTab::text;
                view.pane = AtlasPane::list;
                view.colour = view.x = view.sort = analysis::HeadScore::parameter_change;
                view.y = analysis::HeadScore::attention_change;
                view.ascending = false;
            },
            [&](const ChooseScore& c) { choose(view, c.what, c.score); },
            [&](const OpenAtlasMenu& c) { view.menu = view.menu == c.menu ? AtlasMenu::none : c.menu; },
            [&](const ShowAtlasPane& c) { view.pane = c.pane; },
            [&](const ShowAtlasTab& c) { view.tab = c.tab; },
            [&](const StretchAxes& c) { view.stretched = c.on; },
            [&](const BrushScores& c) {
                view.brush = c.ranges;
                view.brushed.reset();
            },
            [&](const BrushMap& c) {
                view.brushed = c.area;
                view.brush.clear();
            },
            [&](const SearchHeads& c) { view.search = c.text; },
            [&](const ChooseAllHeads&) {
                view.brush.clear();
                view.brushed.reset();
                view.search.clear();
            },
            [&](const PinHead& c) {
                if (std::erase(view.pinned, c.head) == 0)
                    view.pinned.push_back(c.head);
            },
            [&](const SetThreshold& c) { view.thresholds[static_cast<std::size_t>(c.score)] = c.from; },
            [&](const SortHeads& c) {
                view.ascending = view.sort == c.by && !view.ascending;
                view.sort = c.by;
            }},
        change);
}

} // namespace headscope::app
