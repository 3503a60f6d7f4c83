#include "core/base/message.h"
#include "core/graph/ops/attention/head_rows.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: queries or keys, (B, T, H·dk) or (B, H, T, dk), cosines and sines (B or 1, T, width). Each pair of
/// numbers of a head is rotated by an angle that grows with the position of its token (Su et al. 2021,
/// "RoFormer"): y[c] = x[c] cos[c] - x[partner] sin[c] for the first number of a pair, + for the second.
class Rotate final : public Operation {
public:
    std::string_view name() const override { return "rotate"; }
    // Translators: says, above an arrow, what a step does to the rows of a head
    std::string verb() const override { return tr("stage_table.turn", "rotate"); }
    Page page(Step) const override { return Page::split; }

    Axes axes(const Call& call) const override {
        const Axes rows = head_rows(call);
        const auto& rotation = call.as<Rotation>();
        const std::int64_t count = rotation.width > 0 ? rotation.width : rows.size(3);
        expect(call, 0, count % 2 == 0 && rotation.first + count <= rows.size(3),
               tr("graph.even_width", "an even width of at least {}", rotation.first + count));
        for (const std::size_t table : {1U, 2U}) {
            const Axes& axes = call.axes_of(table);
            const bool fits = axes.rank() == 3 && (axes.size(0) == 1 || axes.size(0) == rows.size(0)) &&
                              axes.size(1) == rows.size(2) && axes.size(2) == count;
            expect(call, table, fits, Axes{rows[0], rows[2], {rows[3].name, count}}.text());
        }
        return rows;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{one_cell(0, head_row_cell(call, at))};
        if (is_rotated(call, at)) {
            spans.push_back(one_cell(0, head_row_cell(call, partner_of(call, at))));
            for (const std::size_t table : {1U, 2U})
                spans.push_back(one_cell(table, angle_cell(call, table, at)));
        }
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        return tr("graph.rotated", "{}[h] = {}, rotated by position", names.out,
                  head_rows_formula(call, names));
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const Factor own = factor(call, 0, head_row_cell(call, at));
        if (!is_rotated(call, at))
            return Arithmetic::of(own);
        Arithmetic arithmetic;
        arithmetic.add_term({own, factor(call, 1, angle_cell(call, 1, at))});
        std::vector<Factor> other{factor(call, 0, head_row_cell(call, partner_of(call, at))),
                                  factor(call, 2, angle_cell(call, 2, at))};
        if (is_first(call, at))
            other.insert(other.begin(), number(-1, "−"));
        arithmetic.add_term(std::move(other));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& rotation = call.as<Rotation>();
        const std::string& y = names.out;
        const std::int64_t end = rotation.first + width(call);
        const bool whole = width(call) == call.axes.size(3);
        std::string lines = rotation_comment(rotation) + y + " = " + head_rows_python(call, names) + "\n";
        const std::string part =
            whole ? y : y + "[..., " + std::to_string(rotation.first) + ":" + std::to_string(end) + "]";
        std::string partner;
        switch (rotation.pairs) {
        case Rotation::Pairs::halves:
            lines += "first, second = " + part + ".chunk(2, dim=-1)\n";
            partner = "torch.cat([-second, first], dim=-1)";
            break;
        case Rotation::Pairs::neighbors:
            lines += "first, second = " + part + ".unflatten(-1, (-1, 2)).unbind(-1)\n";
            partner = "torch.stack([-second, first], dim=-1).flatten(-2)";
            break;
        }
        const std::string rotated =
            part + " * " + names.in[1] + ".unsqueeze(1) + " + partner + " * " + names.in[2] + ".unsqueeze(1)";
        return lines + y + " = " +
               (whole ? rotated
                      : "torch.cat([" + y + "[..., :" + std::to_string(rotation.first) + "], " + rotated +
                            ", " + y + "[..., " + std::to_string(end) + ":]], dim=-1)") +
               "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        const double own = call.in[0].at(head_row_cell(call, at));
        if (!is_rotated(call, at))
            return own;
        const double partner = call.in[0].at(head_row_cell(call, partner_of(call, at)));
        const double cosine = call.in[1].at(angle_cell(call, 1, at)),
                     sine = call.in[2].at(angle_cell(call, 2, at));
        return own * cosine + (is_first(call, at) ? -partner : partner) * sine;
    }

    bool is_linear_in(const Call&, std::size_t input) const override { return input == 0; }
    double coefficient(const Call& call, const Index& at, std::size_t, const Index& from) const override {
        if (!is_rotated(call, at))
            return 1;
        if (from == head_row_cell(call, at))
            return call.in[1].at(angle_cell(call, 1, at));
        const double sine = call.in[2].at(angle_cell(call, 2, at));
        return is_first(call, at) ? -sine : sine;
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 2; }

private:
    static std::string rotation_comment(const Rotation& rotation) {
        return "# Rotary position embedding (Su et al. 2021, \"RoFormer\"): " +
               std::string(
                   rotation.pairs == Rotation::Pairs::halves
                       ? "number c of the first half is rotated together with number c of the second.\n"
                       : "numbers 2c and 2c + 1 are rotated together.\n");
    }
    static std::int64_t width(const Call& call) {
        const auto& rotation = call.as<Rotation>();
        return rotation.width > 0 ? rotation.width : call.axes.size(3);
    }
    /// The number within the rotated part.
    static std::int64_t place(const Call& call, const Index& at) { return at[3] - call.as<Rotation>().first; }
    static bool is_rotated(const Call& call, const Index& at) {
        return place(call, at) >= 0 && place(call, at) < width(call);
    }
    /// Returns true for the first number of its pair.
    static bool is_first(const Call& call, const Index& at) {
        switch (call.as<Rotation>().pairs) {
        case Rotation::Pairs::halves:
            return place(call, at) < width(call) / 2;
        case Rotation::Pairs::neighbors:
            return place(call, at) % 2 == 0;
        }
        return true;
    }
    static Index partner_of(const Call& call, const Index& at) {
        const std::int64_t apart = call.as<Rotation>().pairs == Rotation::Pairs::halves ? width(call) / 2 : 1;
        return with(at, 3, is_first(call, at) ? at[3] + apart : at[3] - apart);
    }
    static Index angle_cell(const Call& call, std::size_t table, const Index& at) {
        return {call.axes_of(table).size(0) == 1 ? 0 : at[0], at[2], place(call, at)};
    }
};

} // namespace

const Operation& rotate() {
    static const Rotate operation;
    return operation;
}

} // namespace headscope::graph::ops
