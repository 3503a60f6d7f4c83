#include "app/commands/actions/rows.h"

namespace headscope::app {

namespace {

/// Shows the weights in this form, and opens the weights stage.
std::function<Actions(const Situation&)> weights_as(WeightsView way) {
    return [way](const Situation& now) {
        Actions out;
        if (!now.weights_alone)
            out.push_back(
                GoTo{StageGroup::weights, now.view.group == StageGroup::weights ? now.view.row : -1});
        out.push_back(ShowWeightsAs{way});
        return out;
    };
}

std::function<Actions(const Situation&)> projection(Projection which) {
    return [which](const Situation& now) {
        return Actions{GoTo{StageGroup::qkv, now.view.group == StageGroup::qkv ? now.view.row : -1},
                       ShowProjection{which}};
    };
}

Actions slide_heads(const Situation& now) {
    if (now.view.group == StageGroup::concat)
        return {SetJoined{now.view.joined_target < 0.5F}};
    return {SetApart{now.view.apart_target < 0.5F}};
}

std::string needs_slide(const Situation& now) {
    const bool slides =
        !now.checkpoint || now.view.group == StageGroup::split || now.view.group == StageGroup::concat;
    return slides ? "" : tr("Heads slide on the stages split and concat");
}

Actions flip_baseline(const Situation& now) {
    return {SetCompare{now.compare == Compare::baseline ? Compare::now : Compare::baseline}};
}

Actions flip_difference(const Situation& now) {
    return {SetCompare{now.compare == Compare::difference ? Compare::now : Compare::difference}};
}

std::string needs_compared(const Situation& now) {
    return now.screen == Screen::stages ? "" : tr("A and B are compared on the stages; this screen shows B");
}

Actions next_colour_map(const Situation& now) {
    return {SetColourMap{static_cast<ColourMap>((static_cast<int>(now.view.colour_map) + 1) % 5)}};
}

Actions flip_numbers(const Situation& now) {
    return {ShowNumbers{!now.view.numbers}};
}

Actions flip_scale(const Situation& now) {
    if (shows_scores(now.view.group))
        return {SetScoreScale{next_score_scale(now.view.attention.score_scale)}};
    return {SetSameScale{!now.view.same_scale}};
}

} // namespace

std::vector<ActionInfo> view_actions() {
    return {
        // clang-format off
        {"arcs", tr("Weights as arcs"), tr("Shows the weights as arcs between the words"), {{letter('A')}}, off_map, weights_as(WeightsView::arcs), {}, tr("weights as arcs, text, graph, heatmap")},
        {"text", tr("Weights as text"), tr("Shows the weights as marks behind the words"), {{letter('T')}}, off_map, weights_as(WeightsView::text), {}, ""},
        {"graph", tr("Weights as a graph"), tr("Shows the words as points, and the weights as lines between them"), {{letter('G')}}, off_map, weights_as(WeightsView::graph), {}, ""},
        {"heatmap", tr("Weights as a heatmap"), tr("Shows the weights as a table of coloured cells"), {{letter('W')}}, off_map, weights_as(WeightsView::heatmap), {}, ""},
        {"each head", tr("Each head"), tr("Shows the weights of the heads as they are"), {{letter('E')}}, off_map, just(ShowHeads{HeadsView::each}), {}, tr("each head, difference of two heads, mean")},
        {"difference", tr("Difference of two heads"), tr("Subtracts the weights of another head from those of the head in focus"), {{letter('D')}}, off_map, just(ShowHeads{HeadsView::difference}), {}, ""},
        {"mean", tr("Mean of the heads"), tr("Shows the mean of the weights over all heads of the layer"), {{letter('M')}}, off_map, just(ShowHeads{HeadsView::mean}), {}, ""},
        {"queries", tr("Queries Q"), tr("Shows how the queries are made from X"), {{letter('Q')}}, has_stages, projection(Projection::q), {}, tr("which projection is shown")},
        {"keys", tr("Keys K"), tr("Shows how the keys are made from X"), {{letter('K')}}, has_stages, projection(Projection::k), {}, ""},
        {"values", tr("Values V"), tr("Shows how the values are made from X"), {{letter('V')}}, has_stages, projection(Projection::v), {}, ""},
        {"slide heads", tr("Slide heads apart and together"), tr("Moves the parts of the heads apart, or joins them to one matrix"), {{letter('S')}}, has_stages, slide_heads, needs_slide},
        {"baseline", tr("Flip between A and B"), tr("Shows A, the numbers that were marked, or B, the numbers as they are now"), {{letter('B')}}, has_stages, flip_baseline, needs_compared, tr("flip between A (baseline) and B (now); show B − A")},
        {"changes", "B − A", tr("Shows what changed since A was marked, cell by cell"), {{letter('X')}}, has_stages, flip_difference, needs_compared, ""},
        {"mark baseline", tr("Mark what is on screen as A"), tr("From now on A is what is on screen"), {shift(letter('B'))}, has_stages, just(MarkBaseline{})},
        {"numbers", tr("Numbers in cells"), tr("Prints the numbers into the cells, or shows their colours alone"), {{letter('N')}}, off_map, flip_numbers},
        {"scale", tr("Same or own colour scale"), tr("Colours all heads by one scale or each head by its own; scores also by row"), {{letter('O')}}, off_map, flip_scale},
        {"colour map", tr("Next colour map"), tr("Changes the colours of the cells"), {{letter('C')}}, anywhere, next_colour_map},
        // clang-format on
    };
}

} // namespace headscope::app
