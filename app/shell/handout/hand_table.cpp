#include "app/shell/handout/hand_table.h"

#include "app/shell/page/html.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/check.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using html::escaped;

constexpr std::int64_t most_keys_by_hand = 10;

/// The stage before a tensor, as the script of the page names it; empty for a tensor that the map does not
/// show.
std::string stage_before(TensorId tensor) {
    switch (tensor) {
    case TensorId::q:
    case TensorId::k:
    case TensorId::q_heads:
    case TensorId::k_heads:
        return "x";
    case TensorId::scores:
        return "split";
    case TensorId::scaled:
        return "scores";
    case TensorId::masked:
        return "scaled";
    case TensorId::weights:
        return "masked";
    default:
        return {};
    }
}

using PrintCell = std::function<std::string(std::size_t n, const std::string& label)>;

std::string paper(const HandTable& table, const PrintCell& cell) {
    return "<div class=\"exercise\"><h3>" + escaped(table.title) + "</h3>\n<p>" + escaped(table.task) +
           "</p>\n" + print_table(table, cell) +
           (table.hint.empty() ? "" : "<p class=\"hint\">" + escaped(table.hint) + "</p>\n") + "</div>\n";
}

} // namespace

std::string printed(const HandTable::Cell& cell) {
    return lesson::with_decimals(cell.value, cell.decimals);
}

std::string print_table(const HandTable& table, const PrintCell& cell) {
    std::string out = "<div class=\"scrolls\"><table class=\"hand\"><thead><tr><td></td>";
    for (const std::string& column : table.columns)
        out += "<th scope=\"col\">" + escaped(column) + "</th>";
    out += "</tr></thead><tbody>\n";
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        out += "<tr><th scope=\"row\">" + escaped(table.rows[row]) + "</th>";
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            out += "<td>" +
                   cell(row * table.columns.size() + column, table.rows[row] + ", " + table.columns[column]) +
                   "</td>";
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

HandTable cells_table(const lesson::Target& cells, int decimals, const HandoutMap& map) {
    const Problem& problem = map.problem;
    const lesson::CellRange range = lesson::resolve(cells, problem);
    const Tensor* const tensor = map.tensor(cells.tensor);
    if (tensor == nullptr)
        fail_input(tr("common.problem_no", "this problem has no {}", tensor_info(cells.tensor).name));
    const TensorInfo& info = tensor_info(cells.tensor);
    const auto row_axis = static_cast<std::size_t>(std::max(info.rank() - 2, 0));
    const auto column_axis = static_cast<std::size_t>(info.rank() - 1);
    const auto label = [&](std::size_t axis, std::int64_t n) {
        const std::int64_t at = range.first[axis] + n;
        return info.axes[axis] == Axis::Tq   ? problem.query_label(at)
               : info.axes[axis] == Axis::Tk ? problem.key_label(at)
                                             : std::to_string(at);
    };
    HandTable out;
    for (const float value : lesson::values_of(range, *tensor))
        out.cells.push_back({.value = static_cast<double>(value), .decimals = decimals});
    const std::int64_t columns = range.count[column_axis];
    for (std::int64_t n = 0; n < columns; ++n)
        out.columns.push_back(label(column_axis, n));
    const std::int64_t rows = range.count[row_axis];
    const bool several_heads = std::ssize(out.cells) > rows * columns;
    for (std::int64_t n = 0; n * columns < std::ssize(out.cells); ++n) {
        const std::string row = label(row_axis, n % rows);
        out.rows.push_back(
            several_heads ? tr("common.head_3", "head {}", range.first[1] + n / rows) + ", " + row : row);
    }
    return out;
}

HandTable table_of(const lesson::FillTable& table, const HandoutMap& map) {
    HandTable out = cells_table(table.cells, table.decimals, map);
    out.id = table.id;
    out.title = tr("handout.fill_in", "Fill in: {}", lesson::target_text(table.cells));
    out.task = table.task;
    out.last_stage = stage_before(table.cells.tensor);
    return out;
}

std::optional<HandTable> row_by_hand(const lesson::StepScene& scene, const HandoutMap& map) {
    const Problem& problem = map.problem;
    const Dims& d = problem.dims;
    if (d.Tk > most_keys_by_hand || d.Tk < 2)
        return std::nullopt;
    const std::int64_t head = scene.head.value_or(0);
    std::int64_t spoken_of = -1;
    if (scene.row && scene.row->kind != lesson::TargetIndex::Kind::all)
        spoken_of = lesson::query_row(*scene.row, problem);
    const std::int64_t row = d.Tq - 1 == spoken_of ? std::max<std::int64_t>(spoken_of - 1, 0) : d.Tq - 1;
    const std::int64_t begin = (head * d.Tq + row) * d.Tk;
    const float* const masked = map.trace.stage(TensorId::masked)->data() + begin;
    const float* const weights = map.trace.stage(TensorId::weights)->data() + begin;
    const auto largest = static_cast<double>(*std::max_element(masked, masked + d.Tk));
    if (std::isinf(largest))
        return std::nullopt; // the row may read nothing
    HandTable out{
        .title = tr("handout.row_by_hand", "By hand: the row of “{}”", problem.query_label(row)),
        .task = tr("handout.row_task", "Compute the weights of head {} from its scaled scores.", head),
        .hint = tr("handout.row_hint",
                   "exp is e to the power of (score − {}): the largest scaled score of the row is "
                   "subtracted first. A weight is exp divided by the sum of the column.",
                   lesson::with_decimals(largest, 2)),
        .columns = {tr("handout.scaled_score", "scaled score"), "exp", tr("handout.weight", "weight")}};
    out.head = head;
    out.row = row;
    for (std::int64_t j = 0; j < d.Tk; ++j) {
        const auto score = static_cast<double>(masked[j]);
        const bool given = j == 0; // one line as an example
        out.rows.push_back(problem.key_label(j));
        out.cells.push_back({score, 2, true});
        out.cells.push_back({std::exp(score - largest), 3, given});
        out.cells.push_back({static_cast<double>(weights[j]), 2, given});
    }
    return out;
}

std::string interactive_table(const HandTable& table, std::size_t field) {
    const std::string id = "table-" + std::to_string(field);
    const PrintCell cell = [&](std::size_t n, const std::string& label) {
        if (table.cells[n].given)
            return printed(table.cells[n]);
        return "<input inputmode=\"decimal\" autocomplete=\"off\" size=\"5\" data-cell=\"" +
               std::to_string(n) + "\" aria-label=\"" + escaped(label) + "\">";
    };
    return "<form class=\"card fill\" data-table=\"" + std::to_string(field) + "\" data-id=\"" +
           escaped(table.id) + "\" aria-labelledby=\"" + id + "\" novalidate>\n<h3 id=\"" + id + "\">" +
           escaped(table.title) + "</h3>\n<p>" + escaped(table.task) + "</p>\n" + print_table(table, cell) +
           "<p class=\"foot\"><span class=\"hint\">" + escaped(table.hint) +
           "</span><button type=\"button\" class=\"quiet give needs-script\">" +
           escaped(tr("lesson_question.show_answer", "Show the answer")) +
           "</button><button type=\"submit\" class=\"needs-script\">" +
           escaped(tr("lesson_question.check", "Check")) +
           "</button></p>\n<p class=\"told\" role=\"status\"></p>\n</form>\n";
}

std::string empty_table(const HandTable& table) {
    return paper(table, [&](std::size_t n, const std::string&) {
        return table.cells[n].given ? printed(table.cells[n]) : std::string("<span class=\"blank\"></span>");
    });
}

std::string solved_table(const HandTable& table) {
    return paper(table, [&](std::size_t n, const std::string&) {
        return table.cells[n].given ? printed(table.cells[n]) : "<b>" + printed(table.cells[n]) + "</b>";
    });
}

} // namespace headscope::app
