#include "app/shell/handout/panel_html.h"

#include "app/draw/kit/format.h"
#include "app/draw/lesson/lesson_panels.h"
#include "app/shell/page/html.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <variant>
#include <vector>

namespace headscope::app {

namespace {

using Cells = std::vector<std::string>;

std::string table_html(const Cells& head, const std::vector<Cells>& rows) {
    std::string out = "<table><thead><tr>";
    for (const std::string& cell : head)
        out += cell.empty() ? "<td></td>" : "<th scope=\"col\">" + html::escaped(cell) + "</th>";
    out += "</tr></thead><tbody>\n";
    for (const Cells& row : rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i)
            out += i == 0 ? "<th scope=\"row\">" + html::escaped(row[i]) + "</th>"
                          : "<td>" + html::escaped(row[i]) + "</td>";
        out += "</tr>\n";
    }
    return html::scrolling(out + "</tbody></table>");
}

std::string head_address(const analysis::HeadPlace& head) {
    return "L" + std::to_string(head.layer) + " H" + std::to_string(head.head);
}

std::string table_of(const lesson::CostFigure& figure) {
    const Cost &cost = figure.cost, &full = figure.full_width;
    return table_html(
        {"T = " + grouped(figure.dims.Tq), "dk = " + grouped(figure.dims.dk),
         tr("lesson_cost.dk_d", "if dk = D")},
        {{tr("lesson_cost.parameters", "parameters"), grouped(cost.parameters), grouped(full.parameters)},
         {tr("lesson_cost.projections", "projections"), flops_text(cost.projection_flops),
          flops_text(full.projection_flops)},
         {tr("common.attention", "attention"), flops_text(cost.attention_flops),
          flops_text(full.attention_flops)},
         {tr("lesson_cost.attention_weights", "attention weights"), bytes_text(cost.weights_bytes),
          bytes_text(full.weights_bytes)}});
}

std::string table_of(const lesson::CacheFigure& figure) {
    std::vector<Cells> rows;
    for (const lesson::CacheFigure::Row& row : figure.rows)
        rows.push_back({row.variant.text(), bytes_text(row.per_token), bytes_text(row.all)});
    return table_html({"", tr("lesson_cost.per_token", "per token"), "T = " + grouped(figure.T)}, rows);
}

std::string table_of(const lesson::MergeFigure& figure) {
    Cells head{tr("common.head_2", "head")};
    head.insert(head.end(), figure.words.begin(), figure.words.end());
    std::vector<Cells> rows;
    for (const lesson::MergeFigure::Head& one : figure.heads) {
        Cells row{std::to_string(one.head)};
        for (const float weight : one.weights)
            row.push_back(number(static_cast<double>(weight), 2));
        rows.push_back(row);
    }
    return table_html(head, rows);
}

std::string table_of(const lesson::LoopFigure& figure) {
    std::vector<Cells> rows;
    for (const analysis::ProjectionPair& pair : figure.projections)
        rows.push_back({tr_n("lesson_loop.head", "{}, {} head", "{}, {} heads", pair.heads,
                             tensor_info(pair.whole).symbol, grouped(pair.heads)),
                        loop_difference(pair.difference), loop_difference(pair.without_transpose)});
    return table_html({tr("lesson_loop.largest_difference", "Largest difference"),
                       tr("lesson_loop.once", "once"), tr("lesson_loop.no_transpose", "no transpose")},
                      rows);
}

std::string table_of(const lesson::SamplingFigure& figure) {
    std::vector<Cells> rows;
    for (const lesson::SamplingFigure::Row& row : figure.rows)
        rows.push_back({row.word, row.sampling_probability > 0 ? percent_text(row.sampling_probability)
                                                               : tr("lesson_model_panels.cut", "cut off")});
    return table_html({tr("common.token", "token"), tr("lesson_model_panels.drawn", "drawn with")}, rows);
}

std::string table_of(const lesson::HeadsFigure& figure) {
    Cells head{tr("common.head_2", "head")};
    head.insert(head.end(), figure.columns.begin(), figure.columns.end());
    std::vector<Cells> rows;
    for (const lesson::HeadsFigure::Row& one : figure.rows) {
        Cells row{head_address(one.head)};
        for (const lesson::HeadsFigure::Cell& cell : one.cells)
            row.push_back(number(cell.number, 2) + (cell.word.empty() ? "" : " " + cell.word));
        rows.push_back(row);
    }
    return table_html(head, rows);
}

std::string table_of(const lesson::PathFigure& figure) {
    std::vector<Cells> rows;
    for (const lesson::PathFigure::Row& row : figure.rows)
        rows.push_back({head_address(row.to), number(row.whole, 2), number(row.without_queries, 2),
                        number(row.without_keys, 2)});
    return table_html({tr("common.head_2", "head"), tr("lesson_model_panels.whole", "whole"),
                       tr("lesson_model_panels.queries_cut", "queries cut"),
                       tr("lesson_model_panels.keys_cut", "keys cut")},
                      rows);
}

} // namespace

std::string panel_table(const lesson::PanelFigure& figure) {
    return std::visit(Overloaded{[](const lesson::PositionsFigure&) { return std::string(); },
                                 [](const auto& shown) { return table_of(shown); }},
                      figure);
}

} // namespace headscope::app
