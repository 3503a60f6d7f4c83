#include "app/draw/palette/find.h"

#include "app/state/screens/screen.h"
#include "core/base/overloaded.h"
#include "core/text/lexicon.h"

#include <algorithm>

namespace headscope::app {

namespace {

std::string with_minus_sign(std::string_view text) {
    return text.starts_with('-') ? "−" + std::string(text.substr(1)) : std::string(text);
}

void add_cells(std::vector<FindMatch>& found, const Picture& canvas, const std::string& number) {
    for (const figure::SceneItem& item : canvas.scene.items) {
        // Numbers of cells are centered and in the monospaced font.
        const auto* printed = std::get_if<figure::TextItem>(&item);
        if (printed == nullptr || printed->text != number || printed->font != figure::Font::mono ||
            printed->align != figure::Align::center || printed->angle != 0)
            continue;
        for (const MatrixGrid& grid : canvas.grids)
            if (const auto cell =
                    grid.shows_own_values ? grid.at(printed->at.x, printed->at.y) : std::nullopt) {
                if (std::ranges::find(found, FindMatch(*cell)) == found.end())
                    found.emplace_back(*cell);
                break;
            }
    }
}

} // namespace

std::vector<FindMatch> find_in_view(const Shown& shown, const Picture& canvas, std::string_view typed) {
    std::vector<FindMatch> found;
    if (typed.empty() || shown.trace == nullptr)
        return found;
    const std::string wanted = text::folded_word(typed);
    const std::vector<std::string>& tokens = shown.problem().tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (text::folded_word(tokens[i]).find(wanted) != std::string::npos)
            found.emplace_back(static_cast<std::int64_t>(i));
    add_cells(found, canvas, with_minus_sign(typed));
    return found;
}

Actions select_token(const Shown& shown, const ViewState& view, std::int64_t token) {
    Actions out;
    if (shown.document->is_checkpoint() && !shown.document->shows_weights())
        out.push_back(PredictAt{token});
    if (screen_of(shown, view) != Screen::stages && !out.empty())
        return out;
    ViewState row = view;
    row.row = token;
    row.hover.reset();
    row.selected.reset();
    row.drag.reset();
    if (view.row >= 0)
        out.push_back(GoTo{view.group, token});
    if (const auto cell = current_cell(shown, row))
        out.push_back(Select{*cell});
    return out;
}

Picture point_at_selected_match(Picture canvas, const Find& find, const ViewState& view) {
    if (find.follow && view.selected)
        for (const MatrixGrid& grid : canvas.grids)
            if (grid.tensor == view.selected->tensor)
                if (const auto place = grid.find(view.selected->at))
                    canvas.pointed_area = grid.cell(place->first, place->second);
    return canvas;
}

Actions select_match(const Shown& shown, const ViewState& view, const FindMatch& finding) {
    return std::visit(Overloaded{[&](std::int64_t token) { return select_token(shown, view, token); },
                                 [&](const CellAddress& cell) { return Actions{Select{cell}}; }},
                      finding);
}

} // namespace headscope::app
