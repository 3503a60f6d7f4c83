#include "app/draw/block/expert_rows.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/graph/labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace headscope::app {

namespace {

using checkpoint::ExpertRun;

/// The indices of the numbers with the largest absolute values, at most `count`.
std::vector<std::int64_t> columns_with_largest(std::span<const float> numbers, std::size_t count) {
    std::vector<std::int64_t> all(numbers.size());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    std::ranges::stable_sort(all, std::ranges::greater{},
                             [&](std::int64_t k) { return std::abs(numbers[static_cast<std::size_t>(k)]); });
    all.resize(std::min(all.size(), count));
    return all;
}

class ExpertRows {
public:
    ExpertRows(Picture& p, const DrawContext& c, const ExpertRun& e)
        : picture(p), context(c), expert(e), rows(std::ssize(e.tokens)),
          labels(row_label_width(c, false) + 12) {
        const auto at = static_cast<std::int64_t>(e.row());
        shown = std::min(rows, most_rows);
        first = std::clamp<std::int64_t>(at - shown / 2, 0, rows - shown);
    }

    std::size_t columns_that_fit() const {
        const float room = context.width - 2 * canvas_pad - labels;
        return static_cast<std::size_t>(std::max(1.0F, std::floor(room / column_width)));
    }

    bool are_all_shown() const { return shown == rows; }

    struct Block {
        std::string name, what;
        const TensorPtr& numbers;
        std::vector<std::int64_t> columns;
        bool units; ///< the columns are units; else dimensions
    };
    /// Returns the lower edge.
    float draw(const Block& block, std::int64_t unit, float y) {
        const Theme& theme = context.theme;
        const float name = draw_text(picture, context, canvas_pad, y + 14, block.name,
                                     figure::Font::mono_semibold, 15, theme.ink);
        draw_text(picture, context, canvas_pad + name + 12, y + 14, block.what, figure::Font::ui, 12.5F,
                  theme.muted);
        const auto value = [&](std::int64_t row, std::int64_t col) {
            return block.numbers->at(0, first + row, block.columns[static_cast<std::size_t>(col)]);
        };
        const auto cols = std::ssize(block.columns);
        float high = 1e-6F;
        for (std::int64_t row = 0; row < shown; ++row)
            for (std::int64_t col = 0; col < cols; ++col)
                high = std::max(high, std::abs(value(row, col)));
        const MatrixGrid grid = draw_matrix(picture, context,
                                            {.tensor = TensorId::routing,
                                             .rows = shown,
                                             .cols = cols,
                                             .x = canvas_pad + labels,
                                             .y = y + head_height,
                                             .cell_w = column_width,
                                             .cell_h = row_height,
                                             .fill = CellFill::diverging,
                                             .high = high,
                                             .value = value});
        picture.grids.pop_back(); // its cells are in no tensor of the layer
        for (std::int64_t col = 0; col < cols; ++col)
            draw_column(block, grid, col, unit);
        for (std::int64_t row = 0; row < shown; ++row)
            draw_row(grid, row);
        if (context.controls && block.units)
            add_cells(block, grid);
        picture.scene.width = std::max(picture.scene.width, grid.area.right() + canvas_pad);
        return grid.area.bottom() + 12;
    }

private:
    static constexpr float column_width = 46, row_height = 22, head_height = 44;
    static constexpr std::int64_t most_rows = 12;

    std::int64_t token(std::int64_t row) const {
        return expert.tokens[static_cast<std::size_t>(first + row)];
    }

    void draw_column(const Block& block, const MatrixGrid& grid, std::int64_t col, std::int64_t unit) {
        const figure::Rect cell = grid.cell(0, col);
        const std::int64_t k = block.columns[static_cast<std::size_t>(col)];
        const bool on = block.units && k == unit;
        draw_text(picture, context, cell.x + cell.w / 2, grid.area.y - 6, std::to_string(k),
                  on ? figure::Font::mono_semibold : figure::Font::mono, 12,
                  on ? context.theme.ink : context.theme.muted, figure::Align::center);
    }

    /// The token of a row; a click makes it the current one.
    void draw_row(const MatrixGrid& grid, std::int64_t row) {
        const Theme& theme = context.theme;
        const figure::Rect cell = grid.cell(row, 0);
        const bool on = token(row) == expert.token,
                   used = context.shown.tensor(TensorId::routing)->at(0, token(row), expert.expert) != 0;
        draw_text(picture, context, grid.area.x - 12, figure::baseline_for(cell.y + cell.h / 2, 12.5F),
                  shortened(query_word(context.shown.problem(), token(row)), 10),
                  on ? figure::Font::ui_semibold : figure::Font::ui, 12.5F,
                  on     ? theme.ink
                  : used ? theme.text
                         : theme.muted,
                  figure::Align::right);
        if (context.controls)
            picture.add_hotspot({canvas_pad, cell.y, grid.area.x - canvas_pad - 4, cell.h},
                                "expert row " + std::to_string(token(row)),
                                Select{CellAddress{TensorId::routing, {0, token(row), expert.expert, 0}}},
                                tr("expert_rows.current_token", "Makes “{}” the current token",
                                   query_word(context.shown.problem(), token(row))));
    }

    /// Hotspots that select a unit, with its number.
    void add_cells(const Block& block, const MatrixGrid& grid) {
        for (std::int64_t row = 0; row < shown; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col) {
                const std::int64_t k = block.columns[static_cast<std::size_t>(col)];
                const float number_there = block.numbers->at(0, first + row, k);
                picture.add_hotspot(grid.cell(row, col),
                                    block.name + " " + std::to_string(token(row)) + " " + std::to_string(k),
                                    Select{CellAddress{TensorId::expert_W_out, {expert.expert, k, 0, 0}}},
                                    tr("expert_rows.unit_at_token", "{} of unit {} at “{}”: {}", block.name,
                                       k, query_word(context.shown.problem(), token(row)),
                                       number(static_cast<double>(number_there), 4)));
            }
    }

    Picture& picture;
    const DrawContext& context;
    const ExpertRun& expert;
    std::int64_t rows, shown = 0, first = 0;
    float labels;
};

} // namespace

float draw_expert_rows(Picture& picture, const DrawContext& context, const ExpertRun& expert,
                       std::int64_t unit, float y) {
    const Theme& theme = context.theme;
    ExpertRows rows(picture, context, expert);
    const auto users = std::ranges::count_if(expert.tokens, [&](std::int64_t token) {
        return context.shown.tensor(TensorId::routing)->at(0, token, expert.expert) != 0;
    });
    const float title =
        draw_text(picture, context, canvas_pad, y + 16,
                  tr("expert_rows.expert_at_tokens", "Expert {} at its tokens", expert.expert),
                  figure::Font::ui_semibold, 15, theme.ink);
    draw_text(picture, context, canvas_pad + title + 12, y + 16,
              tr_n("expert_rows.tokens_use_it", "{} of {} tokens uses it.", "{} of {} tokens use it.", users,
                   grouped(users), grouped(context.dims().Tq)) +
                  (rows.are_all_shown()
                       ? ""
                       : " " + tr("expert_rows.near_current", "Those near the current token are shown.")),
              figure::Font::ui, 12.5F, theme.muted);
    y += 30;
    const std::size_t fit = rows.columns_that_fit();
    std::vector<std::int64_t> units = columns_with_largest(expert.adds, fit);
    if (std::ranges::find(units, unit) == units.end())
        units.back() = unit;
    const auto D = static_cast<std::size_t>(expert.out->shape()[2]);
    const std::vector<std::int64_t> dimensions =
        columns_with_largest(expert.out->values().subspan(expert.row() * D, D), fit);
    const checkpoint::RunPart& block = *context.shown.block;
    const graph::Node& routing = block.graph().node(block.node(TensorId::routing));
    const auto formula = [&](const graph::Label& label) {
        const std::string name = routing.name.substr(0, routing.prefix) + std::string(label.name),
                          text = block.graph().formula(block.graph().find(name));
        return text.substr(text.find("= ") + 2);
    };
    const std::string out = std::string("act · W_out") +
                            (context.shown.tensor(TensorId::expert_b_out) == nullptr ? "" : " + b_out") +
                            "; " +
                            (block.stages().scales_expert_input(block.place)
                                 ? tr("expert_rows.largest_dimensions", "the largest dimensions")
                                 : tr("expert_rows.largest_before_fraction",
                                      "the largest dimensions, before the fraction multiplies them"));
    y = rows.draw({"gate",
                   tr("expert_rows.strongest_units", "{}; the units that add most",
                      formula(graph::labels::expert_gate)),
                   expert.gate, units, true},
                  unit, y);
    y = rows.draw({"in", formula(graph::labels::expert_in), expert.in, units, true}, unit, y);
    y = rows.draw({"act", formula(graph::labels::expert_act), expert.act, units, true}, unit, y);
    y = rows.draw({"out", out, expert.out, dimensions, false}, unit, y);
    return y + 8;
}

} // namespace headscope::app
