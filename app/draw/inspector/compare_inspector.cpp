#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/panels/compare_panels.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

constexpr std::size_t most_listed_rows = 12, most_heads = 8;

std::string change_text(float change) {
    if (std::isnan(change))
        return tr("compare_inspector.masked_both", "masked in both");
    if (std::isinf(change))
        return change > 0 ? tr("compare_inspector.masked", "masked in A only")
                          : tr("compare_inspector.masked_b", "masked in B only");
    if (change == 0)
        return "·";
    return signed_number(change, std::abs(change) < 0.005F ? 4 : 2);
}

int decimals_of(float change) {
    return change != 0 && std::abs(change) < 0.005F ? 4 : 2;
}

/// The run of result cells that an input's cell is read by at once.
struct Touched {
    ReadSpan span;
    std::string name;
};

std::optional<Touched> touched_by(const DrawContext& context, const CellAddress& cell) {
    const Dims& dims = context.dims();
    const std::int64_t b = context.view.batch;
    if (cell.tensor == TensorId::x)
        return Touched{{TensorId::output, {b, cell.at[1], 0, 0}, 2, dims.D},
                       "output[" + query_word(context.shown.problem(), cell.at[1]) + ", :]"};
    const AttentionGraph& attention = context.shown.attention();
    for (const TensorInfo& stage : stage_table()) {
        const bool projects = attention.op(stage.id) == graph::Op::linear && stage.rank() == 3;
        if (!projects || !attention.reads_from(stage.id, cell.tensor))
            continue;
        const std::int64_t c = cell.at[tensor_info(cell.tensor).rank() == 2 ? 1 : 0];
        return Touched{{stage.id, {b, 0, c, 0}, 1, extent(stage.axes[1], dims)},
                       std::string(stage.name) + "[:, " + std::to_string(c) + "]"};
    }
    return std::nullopt;
}

void add_cell(Sheet& sheet, const CellAddress& cell) {
    const Comparison& compare = *sheet.context.compare;
    const analysis::TensorDifference* difference = compare.of(cell.tensor);
    if (difference == nullptr)
        return;
    const float change = compare.change_at(cell);
    const int decimals = decimals_of(change);
    sheet.section(tr("compare_inspector.compared", "Compared with A"),
                  compare.name().size() <= 24 ? compare.name() : "");
    sheet.row(tr("compare_bar.baseline", "A baseline"), number(compare.baseline().value(cell), decimals));
    sheet.row(tr("common.b_now", "B now"), number(compare.now().value(cell), decimals));
    sheet.row("B − A", change_text(change), true);
}

/// A row of the table: a name, A, B, and B − A on its colour.
void add_row(Sheet& sheet, const std::string& name, float a, float b, float limit) {
    const Theme& theme = sheet.context.theme;
    const float change = b - a;
    const float column = 66, last = 76;
    sheet.put(sheet.left, name, sheet.width() - 2 * column - last + 8, figure::Font::ui, 13, theme.text);
    sheet.put(sheet.right - last - column - 8, number(a, 2), column, figure::Font::mono, Sheet::text_size,
              theme.text, figure::Align::right);
    sheet.put(sheet.right - last - 8, number(b, 2), column, figure::Font::mono_semibold, Sheet::text_size,
              theme.ink, figure::Align::right);
    const figure::Color fill = ramp_color(theme.diverging, 0.5F + 0.5F * change / limit);
    sheet.picture.scene.add(figure::RectItem{
        .area = {sheet.right - last, sheet.y + 1, last, Sheet::row_height - 2}, .fill = fill});
    sheet.put(sheet.right - 8, change_text(change), last - 10, figure::Font::mono, Sheet::text_size,
              text_on(fill), figure::Align::right);
    sheet.y += Sheet::row_height;
}

void add_touched(Sheet& sheet, const CellAddress& cell) {
    const DrawContext& context = sheet.context;
    const auto touched = touched_by(context, cell);
    const analysis::TensorDifference* difference =
        touched ? context.compare->of(touched->span.source) : nullptr;
    if (difference == nullptr)
        return;
    const ReadSpan& span = touched->span;
    const auto address = [&](std::int64_t i) {
        CellAddress at{span.source, span.first};
        at.at[static_cast<std::size_t>(span.axis)] += i;
        return at;
    };
    const auto change = [&](std::int64_t i) {
        return difference->cells->data()[difference->cells->shape().offset(address(i).at)];
    };
    std::vector<std::int64_t> rows(static_cast<std::size_t>(span.count));
    std::iota(rows.begin(), rows.end(), 0);
    const bool all = rows.size() <= most_listed_rows;
    if (!all) {
        std::ranges::stable_sort(rows, std::greater{}, [&](std::int64_t i) { return std::abs(change(i)); });
        rows.resize(most_listed_rows);
        std::ranges::sort(rows);
    }
    sheet.section(tr("compare_inspector.cell_touches", "Numbers that depend on this cell"), touched->name);
    const Theme& theme = context.theme;
    const float last = 76, column = 66;
    sheet.put(sheet.right - last - column - 8, "A", column, figure::Font::mono, 12, theme.muted,
              figure::Align::right);
    sheet.put(sheet.right - last - 8, "B", column, figure::Font::mono, 12, theme.muted, figure::Align::right);
    sheet.put(sheet.right - 8, "B − A", last, figure::Font::mono, 12, theme.muted, figure::Align::right);
    sheet.y += 22;
    const float limit = symmetric_end(std::abs(difference->largest));
    const bool by_token = span.axis == 1;
    const bool keys = by_token && tensor_info(span.source).axes[1] == Axis::Tk;
    const Problem& problem = context.shown.problem();
    for (const std::int64_t i : rows) {
        const std::string name = !by_token ? tr("compare_inspector.number", "number {}", i)
                                 : keys    ? key_word(problem, i)
                                           : query_word(problem, i);
        add_row(sheet, name, context.compare->baseline().value(address(i)),
                context.compare->now().value(address(i)), limit);
    }
    if (!all)
        sheet.paragraph(tr("compare_inspector.changed_most", "The {} of {} that changed most.",
                           most_listed_rows, span.count),
                        theme.muted);
}

void add_heads(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const TensorId id = tensor_compared_by_head(context.view);
    const analysis::TensorDifference* change = context.compare->of(id);
    if (change == nullptr || change->head_norms.empty())
        return;
    const auto& norms = change->head_norms;
    std::vector<std::size_t> heads(norms.size());
    std::iota(heads.begin(), heads.end(), 0U);
    const bool all = heads.size() <= most_heads;
    if (!all) {
        std::ranges::stable_sort(heads, std::greater{}, [&](std::size_t h) { return norms[h]; });
        heads.resize(most_heads);
        std::ranges::sort(heads);
    }
    sheet.section(tr("compare_inspector.change_head", "Change by head"),
                  tr("compare_inspector.b", "‖B − A‖ of {}", tensor_info(id).name));
    const double largest = std::max(std::ranges::max(norms), 1e-30);
    const std::int64_t H = context.dims().H, shared = H / static_cast<std::int64_t>(norms.size());
    for (const std::size_t h : heads) {
        const std::int64_t first = static_cast<std::int64_t>(h) * shared;
        const figure::Color colour = theme.head(first, H).colour;
        const float middle = sheet.y + Sheet::row_height / 2;
        figure::Scene& scene = sheet.picture.scene;
        const bool off = shared == 1 && context.shown.problem().gain(first) == 0.0F;
        scene.add(figure::RectItem{.area = {sheet.left, middle - 5, 10, 10},
                                   .fill = off ? figure::Color{0} : colour,
                                   .stroke = colour});
        sheet.put(sheet.left + 18,
                  shared == 1 ? tr("common.head", "Head {}", h)
                              : tr("compare_inspector.k_v_head", "K/V head {}", h),
                  76, figure::Font::ui, 13, theme.text);
        const float bar = sheet.left + 96, room = sheet.right - 62 - bar;
        scene.add(figure::RectItem{
            .area = {bar, middle - 5, std::max(room * static_cast<float>(norms[h] / largest), 1.0F), 10},
            .fill = colour});
        sheet.put(sheet.right, norms[h] == 0 ? "·" : number(norms[h], norms[h] < 0.005 ? 4 : 2), 56,
                  figure::Font::mono, Sheet::text_size, theme.ink, figure::Align::right);
        sheet.y += Sheet::row_height;
    }
    const bool added = id == TensorId::contributions;
    const analysis::TensorDifference* total = added ? context.compare->of(TensorId::output) : change;
    if (total != nullptr)
        sheet.row(added ? "output" : tr("compare_inspector.all_heads", "all heads"),
                  number(total->norm, total->norm < 0.005 ? 4 : 2), true);
    const std::string lengths = added ? tr("compare_inspector.changes_add_up_cell",
                                           "The heads’ changes add up cell by cell. Their norms do not.")
                                      : tr("compare_inspector.root_sum_all_squared",
                                           "‖ ‖: root of the sum of all squared changes (Frobenius norm).");
    sheet.paragraph(all ? lengths
                        : tr("compare_inspector.heads_changed_most", "The heads that changed most.") + " " +
                              lengths,
                    theme.muted);
}

} // namespace

void add_change_sections(Sheet& sheet, const CellAddress& cell) {
    const Comparison* compare = sheet.context.compare;
    if (compare == nullptr || !compare->comparable())
        return;
    add_cell(sheet, cell);
    add_touched(sheet, cell);
    add_heads(sheet);
}

} // namespace headscope::app
