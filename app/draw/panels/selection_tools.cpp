#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/panels/panels.h"
#include "app/state/block.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

constexpr float tool_height = 30.0F, tool_gap = 8.0F;

figure::Rect slot(const Sheet& sheet, int column, int columns) {
    const float width =
        (sheet.width() - tool_gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    return {sheet.left + (width + tool_gap) * static_cast<float>(column), sheet.y, width, tool_height};
}

void button(Sheet& sheet, int column, const std::string& label, const Action& action, const std::string& tip,
            bool on = false, int columns = 2) {
    draw_button(sheet.picture, sheet.context, slot(sheet, column, columns), label, action, on, tip);
}

/// A name with a field at its right; `choice` turns the typed text into an operation.
void field(Sheet& sheet, const std::string& name, const std::string& label, const std::string& text,
           const std::function<OperationChoice(const std::string&)>& choice) {
    constexpr float field_width = 130.0F;
    sheet.put(sheet.left, name, sheet.width() - field_width - tool_gap, figure::Font::ui, 13,
              sheet.context.theme.text);
    sheet.picture.fields.push_back(
        {.area = {sheet.right - field_width, sheet.y, field_width, 28},
         .label = label,
         .text = text,
         .action = [choice](const std::string& typed) { return OperateOn{choice(typed)}; },
         .leave = [choice](const std::string& typed) { return ChooseOperation{choice(typed)}; }});
    sheet.y += 34;
}

OperationChoice with_kind(OperationChoice choice, OperationKind kind) {
    choice.kind = kind;
    return choice;
}

bool is_random(OperationKind kind) {
    return kind == OperationKind::normal || kind == OperationKind::xavier_uniform ||
           kind == OperationKind::xavier_normal;
}

void deviation_and_seed(Sheet& sheet, const OperationChoice& now, bool deviation) {
    if (deviation)
        field(sheet, tr("selection_tools.standard_deviation", "standard deviation"), "deviation",
              shortest_number(now.deviation), [now](const std::string& typed) {
                  OperationChoice choice = now;
                  choice.deviation = parse_number(typed);
                  return choice;
              });
    field(sheet, tr("common.seed", "seed"), "seed", std::to_string(now.seed),
          [now](const std::string& typed) {
              OperationChoice choice = now;
              choice.seed = parse_seed(typed);
              return choice;
          });
}

/// The fields of the open operation, and the button that applies it.
void draw_open_operation(Sheet& sheet, const Block& block) {
    const OperationChoice now = sheet.context.view.operation;
    const bool weight = tensor_info(block.tensor).rank() == 2;
    switch (now.kind) {
    case OperationKind::set:
        field(sheet, tr("selection_tools.set_every_number", "set every number to"), "set to",
              shortest_number(now.value), [now](const std::string& typed) {
                  OperationChoice choice = now;
                  choice.value = parse_number(typed);
                  return choice;
              });
        break;
    case OperationKind::scale:
        field(sheet, tr("selection_tools.multiply_every_number", "multiply every number by"), "scale by",
              shortest_number(now.factor), [now](const std::string& typed) {
                  OperationChoice choice = now;
                  choice.factor = parse_number(typed);
                  return choice;
              });
        break;
    case OperationKind::noise:
        deviation_and_seed(sheet, now, true);
        break;
    case OperationKind::normal:
    case OperationKind::xavier_uniform:
    case OperationKind::xavier_normal: {
        std::vector<Segment> ways{{tr("selection_tools.normal", "normal"),
                                   ChooseOperation{with_kind(now, OperationKind::normal)},
                                   now.kind == OperationKind::normal || !weight,
                                   tr("selection_tools.normal_numbers_standard",
                                      "Normal numbers with a standard deviation of your choice")}};
        if (weight) {
            ways.push_back({tr("selection_tools.xavier_unif", "Xavier unif."),
                            ChooseOperation{with_kind(now, OperationKind::xavier_uniform)},
                            now.kind == OperationKind::xavier_uniform,
                            tr("selection_tools.even_within_6_rows",
                               "Uniform within ±√(6 / (rows + columns)) of the whole matrix")});
            ways.push_back(
                {tr("selection_tools.xavier_norm", "Xavier norm."),
                 ChooseOperation{with_kind(now, OperationKind::xavier_normal)},
                 now.kind == OperationKind::xavier_normal,
                 tr("selection_tools.normal_standard",
                    "Normal with a standard deviation of √(2 / (rows + columns)) of the whole matrix")});
        }
        draw_segmented(sheet.picture, sheet.context, sheet.left, sheet.y, ways);
        sheet.y += 36;
        deviation_and_seed(sheet, now, now.kind == OperationKind::normal);
        break;
    }
    case OperationKind::none:
    case OperationKind::zero:
    case OperationKind::identity:
        return;
    }
    button(sheet, 0, tr("selection_tools.apply", "Apply"), OperateOn{now},
           tr("selection_tools.enter_same", "Enter does the same"), true);
    button(sheet, 1, tr("selection_tools.close", "Close"),
           ChooseOperation{with_kind(now, OperationKind::none)}, {});
    sheet.y += tool_height + 12;
}

void draw_tools(Sheet& sheet, const Block& block) {
    const OperationChoice now = sheet.context.view.operation;
    const auto open = [&](OperationKind kind) { return ChooseOperation{with_kind(now, kind)}; };
    const auto at_once = [&](const BlockOperation& operation) { return EditBlock{block, operation}; };
    sheet.section(tr("selection_tools.selection", "Edit this selection"),
                  std::to_string(block.rows) + " × " + std::to_string(block.cols));
    sheet.y += 2;
    button(sheet, 0, tr("selection_tools.set", "Set…"), open(OperationKind::set),
           tr("selection_tools.one_number_all", "One number for all"), now.kind == OperationKind::set);
    button(sheet, 1, tr("selection_tools.scale", "Scale…"), open(OperationKind::scale),
           tr("selection_tools.times_factor", "Multiply by a factor"), now.kind == OperationKind::scale);
    sheet.y += tool_height + tool_gap;
    button(sheet, 0, tr("selection_tools.zero", "Zero"), at_once(Zero{}),
           tr("selection_tools.delete_same", "Delete does the same"));
    button(sheet, 1, tr("selection_tools.add_noise", "Add noise…"), open(OperationKind::noise),
           tr("selection_tools.normal_numbers_seed", "Normal numbers from a seed"),
           now.kind == OperationKind::noise);
    sheet.y += tool_height + tool_gap;
    button(sheet, 0, tr("selection_tools.randomise", "Randomize…"),
           open(is_random(now.kind) ? now.kind : OperationKind::normal),
           tr("selection_tools.new_numbers_seed_normal", "New numbers from a seed: normal or Xavier"),
           is_random(now.kind));
    button(sheet, 1, tr("selection_tools.identity", "Identity"), at_once(MakeIdentity{}),
           tr("selection_tools.1_blocks_diagonal_else", "1 on the block's diagonal, else 0"));
    sheet.y += tool_height + tool_gap;
    button(sheet, 0, tr("selection_tools.copy_tsv", "Copy TSV"), CopyNumbers{},
           tr("selection_tools.spreadsheet", "{}: for a spreadsheet", key_hint("copy")));
    button(sheet, 1, tr("selection_tools.paste_tsv", "Paste TSV"), PasteNumbers{},
           tr("selection_tools.spreadsheet_selected", "{}: from a spreadsheet, from the selected cell on",
              key_hint("paste")));
    sheet.y += tool_height + 12;
    draw_open_operation(sheet, block);
}

/// The numbers around the selected cell, for a matrix whose cells on the canvas are too small to drag.
void draw_neighbourhood(Sheet& sheet, const CellAddress& cell) {
    const DrawContext& context = sheet.context;
    const Block all = matrix_of(cell, context.dims());
    constexpr std::int64_t most_rows = 9;
    constexpr float cell_w = 44.0F, cell_h = 28.0F, label = 34.0F;
    const auto most_cols = static_cast<std::int64_t>((sheet.width() - label) / cell_w);
    const auto window = [](std::int64_t at, std::int64_t extent, std::int64_t most) {
        const std::int64_t shown = std::min(extent, most);
        return std::pair(std::clamp<std::int64_t>(at - shown / 2, 0, extent - shown), shown);
    };
    const int down = row_axis(cell.tensor);
    const std::int64_t first_row = down < 0 ? 0 : all.first[static_cast<std::size_t>(down)];
    const auto across = static_cast<std::size_t>(col_axis(cell.tensor));
    const auto [row, rows] =
        window(down < 0 ? 0 : cell.at[static_cast<std::size_t>(down)] - first_row, all.rows, most_rows);
    const auto [col, cols] = window(cell.at[across], all.cols, most_cols);
    sheet.section(tr("selection_tools.numbers_around", "Numbers around it"),
                  tr("selection_tools.drag_type", "drag, type"));
    const float top = sheet.y + 20;
    MatrixSpec spec{.tensor = cell.tensor,
                    .origin = all.at(row, col),
                    .row_axis = down < 0 ? 3 : down,
                    .col_axis = col_axis(cell.tensor),
                    .rows = rows,
                    .cols = cols,
                    .x = sheet.left + label,
                    .y = top,
                    .cell_w = cell_w,
                    .cell_h = cell_h,
                    .high = largest_magnitude(context, cell.tensor, context.view.batch)};
    const MatrixGrid grid = draw_matrix(sheet.picture, context, spec);
    for (std::int64_t c = 0; c < cols; ++c)
        draw_text(sheet.picture, context, grid.cell(0, c).x + cell_w / 2, top - 7, std::to_string(col + c),
                  figure::Font::mono, 12, context.theme.muted, figure::Align::center);
    for (std::int64_t r = 0; r < rows && down >= 0; ++r)
        draw_text(sheet.picture, context, sheet.left + label - 8,
                  figure::baseline_for(grid.cell(r, 0).y + cell_h / 2, 12),
                  std::to_string(first_row + row + r), figure::Font::mono, 12, context.theme.muted,
                  figure::Align::right);
    sheet.y = grid.area.bottom() + 12;
}

} // namespace

Picture with_selection_tools(const Picture& inspector, const DrawContext& context) {
    const auto block = selected_block(context.view);
    const auto cell = context.view.selected;
    if (!block || !cell || !is_owned(cell->tensor) || context.shown.tensor(cell->tensor) == nullptr)
        return inspector;
    Sheet sheet(context);
    constexpr std::int64_t readable =
        24; ///< with more rows or columns, cells on the canvas may be too small to drag
    const Block all = matrix_of(*cell, context.dims());
    if (std::max(all.rows, all.cols) > readable)
        draw_neighbourhood(sheet, *cell);
    draw_tools(sheet, *block);
    draw_selection(sheet.picture, context);
    Picture picture = inspector;
    const float below = inspector.scene.height - Sheet::pad + 12;
    Picture tools = sheet.finish();
    const float end = below + tools.scene.height;
    picture.append(std::move(tools), 0, below);
    picture.scene.height = end;
    return picture;
}

} // namespace headscope::app
