// Longer than 500 lines: one text for each operation.
#include "app/draw/inspector/inspector_sections.h"

#include "app/draw/kit/format.h"
#include "app/draw/matrix/rotation.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

std::string n(std::int64_t i) {
    return std::to_string(i);
}

/// "owns columns 4 to 7"
std::string owns_columns(std::int64_t first, std::int64_t count) {
    return count == 1 ? tr("explanations.owns_column", "owns column {}", first)
                      : tr("explanations.owns_columns", "owns columns {} to {}", first, first + count - 1);
}

std::string owns_rows(std::int64_t first, std::int64_t count) {
    return count == 1 ? tr("explanations.owns_row", "owns row {}", first)
                      : tr("explanations.owns_rows", "owns rows {} to {}", first, first + count - 1);
}

void add_shape(Sheet& sheet, TensorId from, TensorId to) {
    const Dims& dims = sheet.context.dims();
    sheet.section(tr("explanations.shape", "Shape"));
    for (const TensorId id : {from, to})
        sheet.place(name_of(id), tensor_info(id).shape(dims).text());
}

/// The query heads that read a key/value head: "heads 0 to 3 share it".
std::string sharers(const Dims& dims, std::int64_t g) {
    const std::int64_t each = dims.H / dims.Hkv;
    return each == 1
               ? ""
               : tr("explanations.heads_share", "heads {} to {} share it", g * each, (g + 1) * each - 1);
}

/// The rotation by position that makes a number of q_heads or k_heads.
int add_turn(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const RotatedNumber turn = rotated_number(shown, cell);
    const auto own = static_cast<double>(shown.value(turn.own)),
               partner = static_cast<double>(shown.value(turn.partner)), cos = static_cast<double>(turn.cos),
               sin = static_cast<double>(turn.sign * turn.sin);
    const std::string name = name_of(turn.own.tensor);
    const auto last = static_cast<std::size_t>(tensor_info(turn.own.tensor).rank() - 1);
    sheet.section(tr("explanations.turned_position", "Rotated by position"),
                  turn.sign < 0 ? tr("explanations.cos_partner_sin", "{}·cos − partner·sin", name)
                                : tr("explanations.cos_partner_sin_2", "{}·cos + partner·sin", name));
    sheet.place(tr("common.position", "position"), n(cell.at[2]));
    // Translators: two columns that are turned together
    sheet.place(tr("explanations.pair", "pair"), n(turn.pair) + ", " + n(turn.pair + shown.dims().dk / 2),
                tr("explanations.angle", "angle {}°", number(turn.angle, 1)));
    return draw_terms(
        sheet,
        {.columns = {tr("common.column", "column"), name, tr("explanations.factor", "factor"),
                     tr("common.product", "product")},
         .groups = {{.terms = {{.label = n(turn.own.at[last]), .factors = {{own, cos}}, .value = own * cos},
                               {.label = n(turn.partner.at[last]),
                                .factors = {{partner, sin}},
                                .value = partner * sin}}}},
         .name = address_text(shown, cell),
         .total = static_cast<double>(shown.value(cell))});
}

struct Reader {
    std::string address, who;
};

/// Which cells of the stages read a cell of x or x_kv.
std::vector<Reader> readers_of_token(const Shown& shown, const CellAddress& cell) {
    const Problem& problem = shown.problem();
    if (cell.tensor == TensorId::x_kv) {
        const std::string word = shortened(key_word(problem, cell.at[1]), 10);
        return {{"k[" + word + ", :]", tr("explanations.every_column", "every column")},
                {"v[" + word + ", :]", tr("explanations.every_column", "every column")}};
    }
    const std::string word = shortened(query_word(problem, cell.at[1]), 10);
    std::vector<Reader> out{{"q[" + word + ", :]", tr("explanations.every_column", "every column")}};
    if (!problem.has_source()) {
        out.push_back({"k[" + word + ", :]", tr("explanations.every_column", "every column")});
        out.push_back({"v[" + word + ", :]", tr("explanations.every_column", "every column")});
    }
    return out;
}

void add_token_places(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Dims& dims = shown.dims();
    const bool keys = cell.tensor == TensorId::x_kv;
    const auto& names = shown.document->feature_names();
    const auto d = static_cast<std::size_t>(cell.at[2]);
    sheet.place(tr("common.row", "row"), n(cell.at[1]),
                keys ? say_key(shown.problem(), cell.at[1]) : say_query(shown.problem(), cell.at[1]));
    // Translators: follows the number of a row or column: column 3, of 16
    sheet.place(tr("common.column", "column"), n(cell.at[2]),
                tr("common.of", "of {}", keys ? dims.Dkv : extent(Axis::Dq, dims)));
    if (d < names.size() && !names[d].empty())
        sheet.place(tr("explanations.feature", "feature"), names[d]);
    sheet.place(tr("common.head_2", "head"), tr("explanations.none_no_head", "none"),
                tr("explanations.every_head_reads", "every head reads it"));
}

void add_input_places(Sheet& sheet, const CellAddress& cell) {
    const Dims& dims = sheet.context.dims();
    const TensorInfo& info = tensor_info(cell.tensor);
    const Shape shape = info.shape(dims);
    const int last = shape.rank() - 1;
    if (last == 1)
        sheet.place(tr("common.row", "row"), n(cell.at[0]), tr("common.of", "of {}", shape[0]));
    sheet.place(tr("common.column", "column"), n(cell.at[static_cast<std::size_t>(last)]),
                tr("common.of", "of {}", shape[last]));
    const HeadAxis heads = head_axis(info, dims);
    if (heads.axis < 0)
        return sheet.place(tr("common.head_2", "head"), tr("explanations.none_no_head", "none"),
                           tr("explanations.shared_all_heads", "shared by all heads"));
    const bool shared = heads.kv && dims.Hkv != dims.H;
    const std::int64_t h = cell.at[static_cast<std::size_t>(heads.axis)] / heads.width;
    sheet.place(shared ? tr("explanations.kv_head", "K/V head") : tr("common.head_2", "head"), n(h),
                heads.axis == last ? owns_columns(h * heads.width, heads.width)
                                   : owns_rows(h * heads.width, heads.width));
    if (shared)
        sheet.place("", sharers(dims, h));
}

/// Returns true for a projection of the vectors of relative positions.
bool is_of_positions(const TensorInfo& stage) {
    return stage.axes[0] == Axis::distances;
}

/// The cells of the stages that read a cell of a weight or bias.
std::vector<Reader> readers_of_input(const Shown& shown, const CellAddress& cell) {
    const std::string column = n(cell.at[tensor_info(cell.tensor).rank() == 1 ? 0 : 1]);
    std::vector<Reader> readers;
    const AttentionGraph& attention = shown.attention();
    for (const TensorInfo& stage : stage_table()) {
        if (!attention.reads_from(stage.id, cell.tensor))
            continue;
        const graph::Op op = attention.op(stage.id);
        if (op == graph::Op::softmax)
            readers.push_back(
                {std::string(stage.name) + "[" + column + "]", tr("explanations.every_row", "every row")});
        else if (op == graph::Op::head_projection)
            readers.push_back(
                {std::string(stage.name) + "[" + n(cell.at[0] / shown.dims().dv) + "][:, " + column + "]",
                 ""});
        else
            readers.push_back({std::string(stage.name) + "[:, " + column + "]",
                               is_of_positions(stage) ? tr("explanations.every_distance", "every distance")
                                                      : tr("explanations.every_token", "every token")});
    }
    return readers;
}

CellAddress source_cell(const Sheet& sheet, const CellAddress& cell) {
    const ReadSpan from = reads_of(sheet.context.shown, cell)[0];
    return {from.source, from.first};
}

/// How the cell that a number is made from came about.
int add_source(Sheet& sheet, const CellAddress& source) {
    if (sheet.context.shown.attention().op(source.tensor) == graph::Op::linear)
        return add_projection(sheet, source, tr("common.comes", "Comes from"));
    const Shown& shown = sheet.context.shown;
    sheet.section(tr("common.comes", "Comes from"));
    sheet.arithmetic(address_text(shown, source), number(static_cast<double>(shown.value(source)), 2));
    return 2;
}

/// Where a row of a head goes to. `note`: the last line.
void add_head_places(Sheet& sheet, const CellAddress& source, const CellAddress& cell,
                     const std::string& note) {
    const Dims& dims = sheet.context.dims();
    const TensorInfo& info = tensor_info(cell.tensor);
    const HeadAxis owner = head_axis(info, dims);
    const std::int64_t width = extent(info.axes[3], dims), heads = extent(info.axes[1], dims),
                       column = cell.at[1] * width;
    const bool shared = owner.kv && dims.Hkv != dims.H;
    sheet.section(tr("explanations.goes", "Goes to"));
    if (tensor_info(source.tensor).rank() == 3)
        // Translators: column 3, of 16 in W_Q
        sheet.place(tr("common.column", "column"), n(source.at[2]),
                    tr("explanations.of_in", "of {} in {}", heads * width, name_of(source.tensor)));
    sheet.place(shared ? tr("explanations.kv_head", "K/V head") : tr("common.head_2", "head"), n(cell.at[1]),
                owns_columns(column, width));
    if (shared)
        sheet.place("", sharers(dims, cell.at[1]));
    sheet.place(
        tr("explanations.index", "index"), n(cell.at[3]),
        tr("explanations.of_in", "of {} in {}", width, name_of(cell.tensor) + "[" + n(cell.at[1]) + "]"));
    add_shape(sheet, source.tensor, cell.tensor);
    sheet.paragraph(note, sheet.context.theme.muted);
}

int add_split(Sheet& sheet, const CellAddress& cell) {
    const CellAddress source = source_cell(sheet, cell);
    const int decimals = add_source(sheet, source);
    add_head_places(sheet, source, cell,
                    tr("explanations.numbers_moved_changed_0", "{} numbers moved, none changed",
                       grouped(tensor_info(cell.tensor).shape(sheet.context.dims()).count())));
    return decimals;
}

/// RMSNorm of a head's row, or of that of all heads: the mean of the squares, its root, the number over that
/// root, times the weight.
int add_norm(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const auto reads = reads_of(shown, cell);
    const std::int64_t place = reads[1].first[0]; // in the row
    CellAddress own{reads[0].source, reads[0].first};
    own.at[static_cast<std::size_t>(reads[0].axis)] += place;
    const auto row = numbers_of(shown, reads[0]);
    double squares = 0;
    for (const double y : row)
        squares += y * y;
    const double mean = squares / static_cast<double>(row.size()),
                 eps = static_cast<double>(shown.problem().norm_eps), root = std::sqrt(mean + eps),
                 from = static_cast<double>(shown.value(own)),
                 weight = static_cast<double>(shown.value({reads[1].source, reads[1].first})),
                 to = static_cast<double>(shown.value(cell));
    sheet.section(tr("explanations.root_mean_square", "Root mean square"),
                  tr("explanations.mean_squares", "√(mean of squares + ε)"));
    sheet.row(tr_n("explanations.mean_squares_2", "mean of {} squares", "mean of {} squares", std::ssize(row),
                   row.size()),
              number(mean, 4));
    sheet.row("+ ε", fmt::format("{:g}", eps));
    sheet.arithmetic("√" + number(mean, 4), approximate_prefix(true) + number(root, 4));
    sheet.section(tr("explanations.normed", "Normed"),
                  tr("explanations.root", "{} ÷ root · {}", name_of(own.tensor), name_of(reads[1].source)));
    const SumFormat format = step_format({from, root, weight}, to,
                                         [](const std::vector<double>& v) { return v[0] / v[1] * v[2]; });
    sheet.row(address_text(shown, own), number(from, format.decimals));
    sheet.row(name_of(reads[1].source) + "[" + n(place) + "]", number(weight, format.decimals));
    sheet.arithmetic(number(from, format.decimals) + " ÷ " + number(root, format.decimals) + " × " +
                         number(weight, format.decimals),
                     approximate_prefix(format.approximate) + number(to, format.decimals));
    const int decimals = std::max(format.decimals, add_source(sheet, own));
    const bool joined = shown.attention().op(cell.tensor) == graph::Op::joint_norm;
    add_head_places(sheet, own, cell,
                    joined
                        ? tr("explanations.numbers_all_heads_share",
                             "All heads are divided by the same root, so their relative sizes stay the same.")
                        : tr("explanations.every_row_head_gets",
                             "Apart from the norm’s weights, every row of a head gets the same length."));
    return decimals;
}

int add_rotation(Sheet& sheet, const CellAddress& cell) {
    const CellAddress source = source_cell(sheet, cell);
    const int turn = add_turn(sheet, cell);
    const int decimals = std::max(turn, add_source(sheet, source));
    add_head_places(sheet, source, cell,
                    tr("explanations.every_number_head_turned",
                       "Every number of the head is rotated with its partner, half a head away."));
    return decimals;
}

/// A query's number, times the number of its position.
int add_token_scale(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const CellAddress source = source_cell(sheet, cell);
    const auto own = static_cast<double>(shown.value(source)), to = static_cast<double>(shown.value(cell));
    const auto scale =
        static_cast<double>(shown.problem().query_scale->values()[static_cast<std::size_t>(cell.at[2])]);
    const std::string name = name_of(source.tensor);
    sheet.section(tr("explanations.scaled_by_position", "Scaled by position"), name + " × query_scale");
    sheet.place(tr("common.position", "position"), n(cell.at[2]));
    const SumFormat format =
        step_format({own, scale}, to, [](const std::vector<double>& v) { return v[0] * v[1]; });
    sheet.row(address_text(shown, source), number(own, format.decimals));
    sheet.row("query_scale[" + n(cell.at[2]) + "]", number(scale, format.decimals));
    sheet.arithmetic(number(own, format.decimals) + " × " + number(scale, format.decimals),
                     approximate_prefix(format.approximate) + number(to, format.decimals));
    const int decimals = std::max(format.decimals, add_source(sheet, source));
    add_head_places(sheet, source, cell,
                    tr("explanations.every_number_query_scaled",
                       "Every number of a token’s queries is multiplied by the same number, which grows with "
                       "the position."));
    return decimals;
}

/// A number of a head's output, times the sigmoid of its gate.
int add_gated(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const CellAddress gate{TensorId::gate, cell.at}, from{TensorId::head_out, cell.at};
    const auto x = static_cast<double>(shown.value(gate)), own = static_cast<double>(shown.value(from)),
               to = static_cast<double>(shown.value(cell));
    const double opened = 1 / (1 + std::exp(-x));
    sheet.section(tr("explanations.gate", "Gate"), "1 ÷ (1 + exp(−gate))");
    sheet.row(address_text(shown, gate), number(x, 4));
    sheet.arithmetic("sigmoid(" + number(x, 4) + ")", approximate_prefix(true) + number(opened, 4));
    sheet.section(tr("explanations.gated", "Through the gate"), "sigmoid(gate) × head_out");
    const SumFormat format =
        step_format({opened, own}, to, [](const std::vector<double>& v) { return v[0] * v[1]; });
    sheet.row(address_text(shown, from), number(own, format.decimals));
    sheet.arithmetic(number(opened, format.decimals) + " × " + number(own, format.decimals),
                     approximate_prefix(format.approximate) + number(to, format.decimals));
    return std::max(format.decimals, add_projection(sheet, gate, tr("explanations.gate_comes", "The gate")));
}

int add_joined(Sheet& sheet, const CellAddress& cell) {
    const CellAddress source = source_cell(sheet, cell);
    const Shown& shown = sheet.context.shown;
    const Dims& dims = shown.dims();
    const std::int64_t h = source.at[1];
    const auto from = static_cast<double>(shown.value(source)), to = static_cast<double>(shown.value(cell));
    const auto gain = static_cast<double>(shown.problem().gain(h));
    sheet.section(tr("common.comes", "Comes from"), gain == 1.0
                                                        ? tr("explanations.same_number", "the same number")
                                                        : tr("common.gain_head", "× gain of head {}", h));
    int decimals = 2;
    if (gain == 1.0) {
        sheet.arithmetic(address_text(shown, source), number(from, decimals));
    } else {
        const SumFormat format =
            step_format({from, gain}, to, [](const std::vector<double>& v) { return v[0] * v[1]; });
        decimals = format.decimals;
        sheet.row(address_text(shown, source), number(from, decimals));
        sheet.arithmetic(number(from, decimals) + " × " + number(gain, decimals),
                         approximate_prefix(format.approximate) + number(to, decimals));
        if (gain == 0.0)
            sheet.paragraph(
                tr("explanations.gain_head_0_switched", "The gain of this head is 0: it is ablated."),
                sheet.context.theme.text);
    }
    if (fully_masked(*shown.trace, cell.at[0], h, cell.at[1]))
        sheet.paragraph(
            tr("explanations.head_may_read_no", "No key is allowed here, so the head's output is 0."),
            sheet.context.theme.text);
    sheet.section(tr("explanations.goes", "Goes to"));
    sheet.place(tr("explanations.index", "index"), n(source.at[3]),
                tr("explanations.of_in", "of {} in {}", dims.dv, name_of(source.tensor) + "[" + n(h) + "]"));
    sheet.place(tr("common.head_2", "head"), n(h), owns_columns(h * dims.dv, dims.dv));
    sheet.place(tr("common.column", "column"), n(cell.at[2]),
                tr("explanations.of_in", "of {} in {}", dims.H * dims.dv, "concat"));
    add_shape(sheet, source.tensor, TensorId::concat);
    return decimals;
}

int add_given(Sheet& sheet, const CellAddress& cell) {
    if (is_block_weight(cell.tensor))
        return add_weight_around(sheet, cell);
    const Shown& shown = sheet.context.shown;
    const TensorInfo& info = tensor_info(cell.tensor);
    const bool token = cell.tensor == TensorId::x || cell.tensor == TensorId::x_kv;
    sheet.section(tr(info.title), info.shape(shown.dims()).text());
    if (token)
        add_token_places(sheet, cell);
    else
        add_input_places(sheet, cell);
    sheet.section(tr("explanations.read", "Read by"));
    for (const Reader& reader : token ? readers_of_token(shown, cell) : readers_of_input(shown, cell)) {
        const float taken = sheet.put(sheet.left, reader.address, sheet.width(), figure::Font::mono,
                                      Sheet::text_size, sheet.context.theme.ink);
        if (!reader.who.empty() && sheet.width() - taken > 40)
            sheet.put(sheet.right, reader.who, sheet.width() - taken - 12, figure::Font::ui, Sheet::text_size,
                      sheet.context.theme.muted, figure::Align::right);
        sheet.y += Sheet::row_height;
    }
    return 2;
}

int add_output(Sheet& sheet, const CellAddress& cell) {
    const int decimals = add_shares(sheet, cell);
    return std::max(decimals, add_output_terms(sheet, cell));
}

/// Of a checkpoint the heads are many, and the board speaks of them.
int add_contribution_and_shares(Sheet& sheet, const CellAddress& cell) {
    const int decimals = add_contribution(sheet, cell);
    if (sheet.context.shown.document->has_head_grid())
        return decimals;
    return std::max(decimals, add_shares(sheet, {TensorId::output, {cell.at[0], cell.at[2], cell.at[3], 0}}));
}

std::string query_at(const Shown& shown, const CellAddress& cell, std::size_t axis) {
    return plain_query(shown.problem(), cell.at[axis]);
}

std::string key_at(const Shown& shown, const CellAddress& cell, std::size_t axis) {
    return plain_key(shown.problem(), cell.at[axis]);
}

/// The token whose row the cell lies in.
std::string token_at(const Shown& shown, const CellAddress& cell) {
    const TensorInfo& info = tensor_info(cell.tensor);
    for (std::size_t axis = 0; axis < info.axes.size(); ++axis)
        if (info.axes[axis] == Axis::Tk || info.axes[axis] == Axis::Tq)
            return info.axes[axis] == Axis::Tk ? key_at(shown, cell, axis) : query_at(shown, cell, axis);
    return "";
}

std::string say_given(const Shown& shown, const CellAddress& cell) {
    if (is_block_weight(cell.tensor))
        return say_weight_around(cell);
    const TensorInfo& info = tensor_info(cell.tensor);
    const auto& names = shown.document->feature_names();
    const auto feature = static_cast<std::size_t>(cell.at[2]);
    if (cell.tensor == TensorId::x && feature < names.size() && !names[feature].empty())
        // Translators: a feature of a token
        return tr("explanations.of", "“{}” of {}", shortened(names[feature], 20), token_at(shown, cell));
    if (cell.tensor == TensorId::x || cell.tensor == TensorId::x_kv)
        return tr("explanations.number", "number {} of {}", cell.at[2], token_at(shown, cell));
    const AttentionGraph& attention = shown.attention();
    for (const TensorInfo& stage : stage_table()) {
        if (!attention.reads_from(stage.id, cell.tensor))
            continue;
        const graph::Op op = attention.op(stage.id);
        const bool output = stage.id == TensorId::output;
        if (op == graph::Op::joint_norm)
            return tr("explanations.multiplies_number_every_row",
                      "multiplies number {} of every row of {}, counted across the heads", cell.at[0],
                      stage.name);
        if (op == graph::Op::head_norm)
            return tr("explanations.multiplies_number_every_r_2", "multiplies number {} of every row of {}",
                      cell.at[0], stage.name);
        if (op == graph::Op::softmax)
            return tr("explanations.takes_part_every_softmax",
                      "counts in every softmax of head {}, like the score of one more key", cell.at[0]);
        if (op != graph::Op::linear)
            continue;
        if (cell.tensor == TensorId::rel_positions)
            return tr("explanations.relative_position", "number {} of relative position {}", cell.at[1],
                      cell.at[0]);
        if (is_of_positions(stage) && info.rank() == 2)
            return tr("explanations.column_positions_column",
                      "from column {} of the relative positions to column {} of {}", cell.at[0], cell.at[1],
                      stage.name);
        if (info.rank() == 1)
            return output
                       ? tr("explanations.added_column_output", "added to column {} of the output",
                            cell.at[0])
                       : tr("explanations.added_column", "added to column {} of {}", cell.at[0], stage.name);
        return output ? tr("explanations.column_concat_column_output",
                           "from column {} of concat to column {} of the output", cell.at[0], cell.at[1])
                      : tr("explanations.column_tokens_column",
                           "from column {} of the tokens to column {} of {}", cell.at[0], cell.at[1],
                           stage.name);
    }
    return "";
}

std::string say_split(const Shown& shown, const CellAddress& cell) {
    const ReadSpan from = reads_of(shown, cell)[0];
    const int column = tensor_info(from.source).rank() - 1;
    return tr("explanations.same_cell", "the same cell as {}",
              name_of(from.source) + "[" + token_at(shown, cell) + ", " +
                  n(from.first[static_cast<std::size_t>(column)]) + "]");
}

std::string say_head_norm(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.number_over_rows_root", "number {} of {}, divided by its row’s root mean square",
              cell.at[3], token_at(shown, cell));
}

std::string say_joint_norm(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.number_over_root_mean",
              "number {} of {}, divided by the root mean square of all heads’ numbers", cell.at[3],
              token_at(shown, cell));
}

std::string say_rotation(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.number_turned_position", "number {} of {}, rotated by its position", cell.at[3],
              token_at(shown, cell));
}

std::string say_token_scale(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.number_scaled_position", "number {} of {}, scaled by its position", cell.at[3],
              token_at(shown, cell));
}

std::string say_relative_product(const Shown& shown, const CellAddress& cell) {
    const std::string query = query_at(shown, cell, 2), key = key_at(shown, cell, 3);
    return cell.tensor == TensorId::c2p
               ? tr("explanations.c2p", "the query of {} with the distance to {}, in head {}", query, key,
                    cell.at[1])
               : tr("explanations.p2c", "the key of {} with the distance from {}, in head {}", key, query,
                    cell.at[1]);
}

std::string say_score(const Shown& shown, const CellAddress& cell) {
    // Translators: the fields are a key’s token, a query’s token and the number of a head
    return tr("explanations.how_well_fits_query", "how well {} fits the query of {} in head {}",
              key_at(shown, cell, 3), query_at(shown, cell, 2), cell.at[1]);
}

std::string say_mask(const Shown& shown, const CellAddress& cell) {
    const std::string query = query_at(shown, cell, 2), key = key_at(shown, cell, 3);
    return std::isinf(shown.value(cell))
               ? tr("explanations.forbidden_may_not_read", "forbidden: {} may not read {}", query, key)
               : tr("explanations.allowed_may_read", "allowed: {} may read {}", query, key);
}

std::string say_weight(const Shown& shown, const CellAddress& cell) {
    // Translators: follows a weight: 0.42 of all that cat reads in head 2
    return tr("explanations.all_reads_head", "of all that {} reads in head {}", query_at(shown, cell, 2),
              cell.at[1]);
}

std::string say_mean(const Shown& shown, const CellAddress& cell) {
    const std::int64_t H = shown.dims().H;
    return tr_n("explanations.all_reads_averaged_over", "of all that {} reads, averaged over {} head",
                "of all that {} reads, averaged over {} heads", H, query_at(shown, cell, 1), grouped(H));
}

std::string say_value_sum(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.value_feature_reads_head", "value feature {} as {} reads it in head {}",
              cell.at[3], query_at(shown, cell, 2), cell.at[1]);
}

std::string say_gated(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.number_through_gate", "number {} of head {} for {}, after its gate", cell.at[3],
              cell.at[1], query_at(shown, cell, 2));
}

std::string say_joined(const Shown& shown, const CellAddress& cell) {
    const std::int64_t dv = shown.dims().dv, h = cell.at[2] / dv;
    const float gain = shown.problem().gain(h);
    const std::string query = query_at(shown, cell, 1);
    return gain == 1.0F
               ? tr("explanations.number_head", "number {} of head {} for {}", cell.at[2] % dv, h, query)
               : tr("explanations.number_head_times_gain", "number {} of head {} for {}, times head gain {}",
                    cell.at[2] % dv, h, query, number(gain, 2));
}

std::string say_contribution(const Shown& shown, const CellAddress& cell) {
    return tr("explanations.head_adds_output", "contribution of head {} to output[{}, {}]", cell.at[1],
              query_at(shown, cell, 2), cell.at[3]);
}

std::string say_linear(const Shown& shown, const CellAddress& cell) {
    switch (cell.tensor) {
    case TensorId::q:
        return tr("explanations.query_feature", "query feature {} of {}", cell.at[2], token_at(shown, cell));
    case TensorId::k:
        return tr("explanations.key_feature", "key feature {} of {}", cell.at[2], token_at(shown, cell));
    case TensorId::v:
        return tr("explanations.value_feature", "value feature {} of {}", cell.at[2], token_at(shown, cell));
    case TensorId::gate:
        return tr("explanations.gate_before_sigmoid",
                  "gate of number {} of {} in head {}, before the sigmoid", cell.at[3],
                  query_at(shown, cell, 2), cell.at[1]);
    case TensorId::output:
        return tr("explanations.number_after_attention", "number {} of {}, after attention", cell.at[2],
                  query_at(shown, cell, 1));
    default:
        return tr("explanations.relative_position", "number {} of relative position {}", cell.at[1],
                  cell.at[0]);
    }
}

int add_linear(Sheet& sheet, const CellAddress& cell) {
    return cell.tensor == TensorId::output
               ? add_output(sheet, cell)
               : add_projection(sheet, cell, tr("common.term_term", "Term by term"));
}

using Write = int (*)(Sheet& sheet, const CellAddress& cell, int fewest);
using Caption = std::string (*)(const Shown& shown, const CellAddress& cell);

/// Section of the inspector for the stages of one operation.
struct Explanation {
    graph::Op op;
    bool after_input; ///< below the explanation of the same cell of its first input
    Write write;      ///< `fewest`: the decimals of the explanation above it
    Caption caption;
};

/// A writer that does not continue the decimals of another section.
template<int (*write)(Sheet&, const CellAddress&)>
int on_its_own(Sheet& sheet, const CellAddress& cell, int) {
    return write(sheet, cell);
}

using graph::Op;
constexpr std::array explanations{
    Explanation{Op::linear, false, on_its_own<add_linear>, say_linear},
    Explanation{Op::split_heads, false, on_its_own<add_split>, say_split},
    Explanation{Op::head_norm, false, on_its_own<add_norm>, say_head_norm},
    Explanation{Op::joint_norm, false, on_its_own<add_norm>, say_joint_norm},
    Explanation{Op::rotate, false, on_its_own<add_rotation>, say_rotation},
    Explanation{Op::token_scale, false, on_its_own<add_token_scale>, say_token_scale},
    Explanation{Op::relative_product, false, on_its_own<add_relative_product>, say_relative_product},
    Explanation{Op::dot_product, false,
                [](Sheet& s, const CellAddress& c, int) { return add_dot_product(s, c.at); }, say_score},
    Explanation{Op::scale, true,
                [](Sheet& s, const CellAddress& c, int fewest) { return add_scale(s, c.at, fewest); },
                [](const Shown&, const CellAddress&) {
                    return tr("explanations.same_score_scaled_dk", "the same score, divided by √dk");
                }},
    Explanation{Op::soft_cap, true,
                [](Sheet& s, const CellAddress& c, int fewest) { return add_scale(s, c.at, fewest); },
                [](const Shown&, const CellAddress&) {
                    return tr("explanations.same_score_scaled_dk_2",
                              "the same score, divided by √dk and limited by the soft cap");
                }},
    Explanation{Op::mask, true,
                [](Sheet& s, const CellAddress& c, int fewest) { return add_mask(s, c.at, fewest); },
                say_mask},
    Explanation{Op::softmax, true,
                [](Sheet& s, const CellAddress& c, int fewest) { return add_softmax(s, c.at, fewest); },
                say_weight},
    Explanation{Op::mean, false, on_its_own<add_mean>, say_mean},
    Explanation{Op::value_sum, false, on_its_own<add_value_sum>, say_value_sum},
    Explanation{Op::gate, false, on_its_own<add_gated>, say_gated},
    Explanation{Op::join_heads, false, on_its_own<add_joined>, say_joined},
    Explanation{Op::head_projection, false, on_its_own<add_contribution_and_shares>, say_contribution}};
constexpr Explanation given_number{Op::input, false, on_its_own<add_given>, say_given};
constexpr Explanation number_around{Op::input, false, on_its_own<add_around>, say_around};

const Explanation& explanation_of(const Shown& shown, TensorId tensor) {
    if (is_block_stage(tensor))
        return number_around;
    const Op op = shown.attention().op(tensor);
    if (graph::is_leaf(op))
        return given_number;
    const auto found = std::ranges::find(explanations, op, &Explanation::op);
    if (found == explanations.end())
        throw Error(ErrorKind::internal, "no explanation of " + std::string(tensor_info(tensor).name));
    return *found;
}

} // namespace

int explain(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Explanation& explanation = explanation_of(shown, cell.tensor);
    const int fewest =
        explanation.after_input ? explain(sheet, {shown.attention().first_input(cell.tensor), cell.at}) : 0;
    return explanation.write(sheet, cell, fewest);
}

std::string caption_of(const Shown& shown, const CellAddress& cell) {
    return explanation_of(shown, cell.tensor).caption(shown, cell);
}

} // namespace headscope::app
