#include "app/commands/actions/rows.h"

namespace headscope::app {

namespace {

/// Shows the weights in this form, and opens the weights stage.
std::function<Actions(const ActionContext&)> weights_as(WeightsView way) {
    return [way](const ActionContext& now) {
        Actions out;
        if (!now.weights_alone)
            out.push_back(
                GoTo{StageGroup::weights, now.view.group == StageGroup::weights ? now.view.row : -1});
        out.push_back(ShowWeightsAs{way});
        return out;
    };
}

std::function<Actions(const ActionContext&)> projection(Projection which) {
    return [which](const ActionContext& now) {
        return Actions{GoTo{StageGroup::qkv, now.view.group == StageGroup::qkv ? now.view.row : -1},
                       ShowProjection{which}};
    };
}

Actions slide_heads(const ActionContext& now) {
    if (now.view.group == StageGroup::concat)
        return {SetJoined{now.view.joined_target < 0.5F}};
    return {SetApart{now.view.apart_target < 0.5F}};
}

std::string needs_slide(const ActionContext& now) {
    const bool slides =
        !now.checkpoint || now.view.group == StageGroup::split || now.view.group == StageGroup::concat;
    return slides
               ? ""
               : tr("view.heads_slide_stages_split", "Heads slide apart only on the stages split and concat");
}

Actions flip_baseline(const ActionContext& now) {
    return {SetCompare{now.compare == Compare::baseline ? Compare::now : Compare::baseline}};
}

Actions flip_difference(const ActionContext& now) {
    return {SetCompare{now.compare == Compare::difference ? Compare::now : Compare::difference}};
}

std::string needs_compared(const ActionContext& now) {
    return now.screen == Screen::stages || now.screen == Screen::atlas
               ? ""
               : tr("view.b_compared_stages_screen",
                    "A and B are compared on the stages and in the atlas; this screen shows B");
}

Actions next_colour_map(const ActionContext& now) {
    return {SetColourMap{static_cast<ColourMap>((static_cast<int>(now.view.colour_map) + 1) % 5)}};
}

Actions flip_numbers(const ActionContext& now) {
    return {ShowNumbers{!now.view.numbers}};
}

Actions flip_scale(const ActionContext& now) {
    if (shows_scores(now.view.group))
        return {SetScoreScale{next_score_scale(now.view.attention.score_scale)}};
    return {SetSameScale{!now.view.same_scale}};
}

} // namespace

std::vector<ActionInfo> view_actions() {
    return {
        // clang-format off
        {"arcs", tr("view.weights_arcs", "Weights as arcs"), tr("view.shows_weights_arcs_between", "Shows the weights as arcs between the words"), {{letter('A')}}, off_map_and_flow, weights_as(WeightsView::arcs), {}, tr("view.weights_arcs_text_graph", "weights as arcs, text, graph, heatmap")},
        {"text", tr("view.weights_text", "Weights as text"), tr("view.shows_weights_marks_behind", "Shows the weights as marks behind the words"), {{letter('T')}}, off_map_and_flow, weights_as(WeightsView::text), {}, ""},
        {"graph", tr("view.weights_graph", "Weights as a graph"), tr("view.shows_words_points_weights", "Shows the words as points, and the weights as lines between them"), {{letter('G')}}, off_map_and_flow, weights_as(WeightsView::graph), {}, ""},
        {"heatmap", tr("view.weights_heatmap", "Weights as a heatmap"), tr("view.shows_weights_table_coloured", "Shows the weights as a table of colored cells"), {{letter('W')}}, off_map_and_flow, weights_as(WeightsView::heatmap), {}, ""},
        {"each head", tr("common.each_head", "Each head"), tr("view.shows_weights_heads", "Shows the weights of the heads as they are"), {{letter('E')}}, off_map, always_send(ShowHeads{HeadsView::each}), {}, tr("view.each_head_difference_two", "each head, difference of two heads, mean")},
        {"difference", tr("view.difference_two_heads", "Difference of two heads"), tr("view.subtracts_weights_another_head", "Subtracts the weights of another head from those of the head in focus"), {{letter('D')}}, off_map, always_send(ShowHeads{HeadsView::difference}), {}, ""},
        {"mean", tr("view.mean_heads", "Mean of the heads"), tr("view.shows_mean_weights_over", "Shows the mean of the weights over all heads of the layer"), {{letter('M')}}, off_map, always_send(ShowHeads{HeadsView::mean}), {}, ""},
        {"queries", tr("view.queries_q", "Queries Q"), tr("view.shows_how_queries_made", "Shows how the queries are made from X"), {{letter('Q')}}, has_stages, projection(Projection::q), {}, tr("view.projection_shown", "which projection is shown")},
        {"keys", tr("view.keys_k", "Keys K"), tr("view.shows_how_keys_made", "Shows how the keys are made from X"), {{letter('K')}}, has_stages, projection(Projection::k), {}, ""},
        {"values", tr("view.values_v", "Values V"), tr("view.shows_how_values_made", "Shows how the values are made from X"), {{letter('V')}}, has_stages, projection(Projection::v), {}, ""},
        {"slide heads", tr("view.slide_heads_apart_together", "Slide heads apart and together"), tr("view.moves_parts_heads_apart", "Moves the parts of the heads apart, or joins them into one matrix"), {{letter('S')}}, has_stages, slide_heads, needs_slide},
        {"baseline", tr("view.flip_between_b", "Flip between A and B"), tr("view.shows_numbers_marked_b", "Shows A, the marked numbers, or B, the current numbers"), {{letter('B')}}, has_stages, flip_baseline, needs_compared, tr("view.flip_between_baseline_b", "flip between A (baseline) and B (now); show B − A")},
        {"changes", "B − A", tr("view.shows_changed_since_marked", "Shows what changed since A was marked, cell by cell"), {{letter('X')}}, has_stages, flip_difference, needs_compared, ""},
        {"mark baseline", tr("view.mark_screen", "Mark what is on screen as A"), tr("common.now_screen", "Marks the numbers on screen as A"), {shift(letter('B'))}, has_stages, always_send(MarkBaseline{})},
        {"numbers", tr("common.numbers_cells", "Numbers in cells"), tr("view.prints_numbers_cells_shows", "Prints the numbers in the cells, or shows only their colors"), {{letter('N')}}, off_map, flip_numbers},
        {"scale", tr("view.same_own_colour_scale", "Same or own color scale"), tr("view.colours_all_heads_one", "Colors all heads by one scale or each head by its own; scores also by row"), {{letter('O')}}, off_map, flip_scale},
        {"colour map", tr("view.next_colour_map", "Next color map"), tr("common.changes_colours_cells", "Changes the colors of the cells"), {{letter('C')}}, anywhere, next_colour_map},
        // clang-format on
    };
}

} // namespace headscope::app
