#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/plot.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/analysis/heads/head_metrics.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float table_row = 21.0F, number_text = 12.5F, positions_plot = 92.0F;

std::string head_text(analysis::HeadPlace head) {
    return "L" + std::to_string(head.layer) + " H" + std::to_string(head.head);
}

/// The texts of one row of a table, from left to right.
using Words = std::vector<std::string>;

/// A table in a panel: a first column at the left edge, the others right-aligned. The remaining width of the
/// panel is distributed equally between the columns.
class PanelTable {
public:
    /// The column widths fit these texts: a head in the interface's font, and rows with numbers. All rows
    /// must have the same length.
    PanelTable(PanelColumn& column, const Words& head, const std::vector<Words>& rows) : column_(column) {
        std::vector<float> widths;
        for (const std::string& text : head)
            widths.push_back(column.context.measure(text, figure::Font::ui, number_text));
        for (const Words& row : rows)
            for (std::size_t n = 0; n < row.size(); ++n)
                widths[n] =
                    std::max(widths[n], column.context.measure(row[n], figure::Font::mono, number_text));
        const float texts = std::accumulate(widths.begin(), widths.end(), 0.0F);
        const float between = (column.width - texts) / static_cast<float>(widths.size() - 1);
        float right = column.x + widths.front();
        for (std::size_t n = 1; n < widths.size(); ++n)
            right_edges_.push_back(right += between + widths[n]);
    }
    /// A table with a name and one value.
    explicit PanelTable(PanelColumn& column) : column_(column), right_edges_{column.right()} {}

    void put(std::size_t n, const std::string& text, figure::Font font, figure::Color colour) {
        draw_text(column_.picture, column_.context, right_edges_[n], baseline(), text, font, number_text,
                  colour, figure::Align::right);
    }
    void head(const Words& words, const std::string& tip) {
        const figure::Color muted = column_.context.theme.muted;
        name(words.front(), figure::Font::ui, muted);
        for (std::size_t n = 1; n < words.size(); ++n)
            put(n - 1, words[n], figure::Font::ui, muted);
        end(tip);
    }
    void name(const std::string& text, figure::Font font, figure::Color colour) {
        draw_text(column_.picture, column_.context, column_.x, baseline(), text, font, number_text, colour);
    }
    void end(const std::string& tip) {
        column_.picture.tips.push_back({{column_.x, column_.y, column_.width, table_row}, tip});
        column_.y += table_row;
        draw_hairline(column_.picture, column_.context, column_.x, column_.y - 0.5F, column_.width);
    }
    /// Makes the row a link that opens the head.
    void opens(analysis::HeadPlace head) {
        column_.picture.add_hotspot({column_.x, column_.y, column_.width, table_row},
                                    "panel " + head_text(head), OpenHead{head.layer, head.head},
                                    tr("lesson_model_panels.open_head", "Open this head"));
    }

private:
    float baseline() const { return figure::baseline_for(column_.y + table_row / 2, number_text); }

    PanelColumn& column_;
    std::vector<float> right_edges_; ///< right edges of all columns except the first
};

/// The title of a column of heads, and its explanation.
std::pair<std::string, std::string> column_words(const std::string& id) {
    static const std::map<std::string, std::pair<std::string, std::string>> words{
        // Translators: column headings of a table of heads, and their explanations
        {"reads",
         {tr("common.reads", "reads"), tr("lesson_model_panels.largest_weight_last",
                                          "the largest weight of the last row, and its token")}},
        {"induction",
         {tr("common.induction", "induction"),
          tr("lesson_model_panels.mean_weight_rows",
             "mean weight on the token that followed an earlier copy of the row's token")}},
        {"attribution",
         {tr("lesson_model_panels.attribution", "attribution"),
          tr("lesson_model_panels.head_itself_adds", "direct contribution of the head to the logit")}},
        {"effect",
         {tr("lesson_model_panels.effect", "effect"),
          tr("lesson_model_panels.how_logit_changes", "change of the logit without the head")}},
        {"without",
         {tr("lesson_model_panels.without", "without it"),
          tr("lesson_model_panels.probability_token", "the probability of the token without the head")}}};
    const auto found = words.find(id);
    if (found != words.end())
        return found->second;
    const analysis::HeadScoreInfo* const score = analysis::find_head_score(id);
    return {id, score == nullptr ? "" : tr(score->formula)};
}

std::string cell_text(const std::string& column, const lesson::HeadsFigure::Cell& cell) {
    if (!cell.word.empty())
        return shortened(cell.word, 8) + " " + number(cell.number, 2);
    const bool change = column == "attribution" || column == "effect";
    return change ? signed_number(cell.number, 2) : number(cell.number, 2);
}

void draw_bar(PanelColumn& column, float x, float length, double share, figure::Color colour) {
    column.picture.scene.add(
        figure::RectItem{.area = {x, column.y + table_row / 2 - 5,
                                  length * static_cast<float>(std::clamp(share, 0.0, 1.0)), 10},
                         .fill = colour});
}

} // namespace

void draw_sampling(PanelColumn& column, const lesson::SamplingFigure& figure) {
    const Theme& theme = column.context.theme;
    constexpr float name = 84, value = 58;
    PanelTable table(column);
    // Translators: “drawn with” is the heading of a column of probabilities
    table.head({tr("common.token", "token"), tr("lesson_model_panels.drawn", "drawn with")},
               tr("lesson_model_panels.how_likely_each", "Probability of drawing each token"));
    const float x = column.x + name, length = column.width - name - value;
    double most = 0;
    for (const lesson::SamplingFigure::Row& row : figure.rows)
        most = std::max({most, row.probability, row.sampling_probability});
    for (const lesson::SamplingFigure::Row& row : figure.rows) {
        const bool kept = row.sampling_probability > 0;
        table.name(shortened(row.word, 11), figure::Font::ui_medium, kept ? theme.ink : theme.muted);
        draw_bar(column, x, length, row.sampling_probability / most, theme.text);
        const float was = x + length * static_cast<float>(row.probability / most);
        column.picture.scene.add(
            figure::RectItem{.area = {was - 1, column.y + 2, 2, table_row - 5}, .fill = theme.ink});
        table.put(0, kept ? percent_text(row.sampling_probability) : tr("lesson_model_panels.cut", "cut off"),
                  figure::Font::mono, kept ? theme.ink : theme.muted);
        table.end(tr("lesson_model_panels.models_own", "{}: the model's own probability is {}, drawn with {}",
                     row.word, number(row.probability, 4), number(row.sampling_probability, 4)));
    }
    column.y += 3;
    column.words(tr_n("lesson_model_panels.token_drawn_tick",
                      "{} token can be drawn. A tick marks the model's own probability.",
                      "{} tokens can be drawn. A tick marks the model's own probability.",
                      figure.candidate_count, grouped(figure.candidate_count)),
                 theme.muted);
}

void draw_heads_table(PanelColumn& column, const lesson::HeadsFigure& figure) {
    const Theme& theme = column.context.theme;
    Words head{tr("common.head_2", "head")};
    std::string says;
    for (const std::string& id : figure.columns) {
        const auto [title, explains] = column_words(id);
        head.push_back(title);
        says += (says.empty() ? "" : "; ") + title + ": " + explains;
    }
    std::vector<Words> rows;
    for (const lesson::HeadsFigure::Row& row : figure.rows) {
        Words& words = rows.emplace_back(Words{head_text(row.head)});
        for (std::size_t n = 0; n < row.cells.size(); ++n)
            words.push_back(cell_text(figure.columns[n], row.cells[n]));
    }
    PanelTable table(column, head, rows);
    table.head(head, says);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        table.opens(figure.rows[i].head);
        table.name(rows[i].front(), figure::Font::ui_medium, theme.ink);
        for (std::size_t n = 1; n < rows[i].size(); ++n)
            table.put(n - 1, rows[i][n], figure::Font::mono, theme.ink);
        table.end(tr("lesson_model_panels.click_open", "Click to open {}.", rows[i].front()) + " " + says);
    }
    column.y += 2;
}

void draw_path(PanelColumn& column, const lesson::PathFigure& figure) {
    const Theme& theme = column.context.theme;
    // Translators: the fields are two tokens and a head
    column.words(tr("lesson_model_panels.weight_cut_wrote",
                    "Weight from {} to {}. Cut: the output of {} is removed from the queries, or the keys, "
                    "of this head alone.",
                    figure.query, figure.key, head_text(figure.from)),
                 theme.muted);
    column.y += 3;
    const Words head{tr("common.head_2", "head"), tr("lesson_model_panels.whole", "whole"),
                     tr("lesson_model_panels.queries_cut", "queries cut"),
                     tr("lesson_model_panels.keys_cut", "keys cut")};
    PanelTable table(column, head, {{"L0 H0", "0.00", "0.00", "0.00"}});
    table.head(head, tr("lesson_model_panels.same_weight_three", "The same weight three times"));
    for (const lesson::PathFigure::Row& row : figure.rows) {
        table.opens(row.to);
        table.name(head_text(row.to), figure::Font::ui_medium, theme.ink);
        table.put(0, number(row.whole, 2), figure::Font::mono, theme.ink);
        table.put(1, number(row.without_queries, 2), figure::Font::mono, theme.ink);
        table.put(2, number(row.without_keys, 2), figure::Font::mono_semibold, theme.ink);
        table.end(tr("lesson_model_panels.keys_cut_reads_most", "With the keys cut, {} reads {} most",
                     figure.query, row.reads_without_keys));
    }
    column.y += 2;
}

void draw_positions(PanelColumn& column, const lesson::PositionsFigure& figure) {
    const Theme& theme = column.context.theme;
    const figure::Color pair = plot_colour(theme, 1), all = plot_colour(theme, 0);
    const double distance = static_cast<double>(std::abs(figure.distance));
    PanelTable table(column);
    const auto line = [&](const std::string& name, const std::string& value, figure::Color colour) {
        table.name(name, figure::Font::ui, colour);
        table.put(0, value, figure::Font::mono, theme.ink);
        table.end(name);
    };
    line(tr("lesson_model_panels.distance_query_key", "distance, query − key"),
         number(static_cast<double>(figure.distance), 0), theme.text);
    line(tr("lesson_model_panels.pair_turns_each_step", "rotation of the pair, per step"),
         number(figure.angle, 2) + "°", pair);
    line(tr("lesson_model_panels.over_distance", "over the distance"), number(figure.rotation, 0) + "°",
         pair);
    line(tr("lesson_model_panels.cosine", "its cosine"), number(figure.pair, 2), pair);
    line(tr("lesson_model_panels.mean_cosine_pairs", "mean cosine, {} pairs", figure.pairs),
         number(figure.all, 2), all);
    line(tr("lesson_model_panels.bias_head_0", "bias of head 0"), number(figure.bias, 2), theme.text);
    const double end = static_cast<double>(figure.all_curve.size() - 1);
    Plot plot{.x = {.low = 0, .high = end, .ticks = {{0, "0"}, {end, number(end, 0)}}},
              .y = {.low = -1, .high = 1, .ticks = {{-1, "−1"}, {0, "0"}, {1, "1"}}},
              .lines = {{figure.pair_curve, pair}, {figure.all_curve, all}},
              .dots = {{distance, figure.pair, pair}, {distance, figure.all, all}},
              .x_label = tr("lesson_model_panels.cosine_distance_pair", "cosine by distance: pair and mean")};
    column.y += 4;
    draw_plot(column.picture, column.context, plot, {column.x, column.y, column.width, positions_plot});
    column.y += positions_plot + 4;
}

} // namespace headscope::app
