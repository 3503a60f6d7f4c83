#include "core/base/joined.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: arrays that differ in their innermost axis. Their columns side by side; the later ones are
/// repeated to the other axes of the first, as the rotated part of a key that all heads share (DeepSeek-AI
/// 2024, "DeepSeek-V2").
class ConcatOperation final : public Operation {
public:
    std::string_view name() const override { return "concat"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes& first = call.axes_of(0);
        expect(call, 0, first.rank() >= 1, "(B, Tq, D)");
        std::int64_t columns = 0;
        for (std::size_t input = 0; input < call.in.size(); ++input) {
            const Axes& part = call.axes_of(input);
            const bool fits =
                part.rank() == first.rank() && can_repeat(part.with(part.rank() - 1, first.back(0)), first);
            expect(call, input, fits, first.text());
            columns += part.back(0).size;
        }
        return first.with(first.rank() - 1, {call.as<Concat>().name, columns});
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        const Cell cell = source(call, at);
        return {one_cell(cell.input, cell.at)};
    }
    std::string formula(const Call&, const Names& names) const override {
        return names.out + " = [" + joined(names.in) + "]";
    }
    Arithmetic explain(const Call& call, const Index& at) const override {
        const Cell cell = source(call, at);
        return Arithmetic::of(factor(call, cell.input, cell.at));
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        std::string parts;
        for (std::size_t input = 0; input < call.in.size(); ++input) {
            const Axes& part = call.axes_of(input);
            parts += (input == 0 ? "" : ", ") + names.in[input];
            std::string sizes;
            bool repeated = false;
            for (int axis = 0; axis + 1 < part.rank(); ++axis) {
                repeated = repeated || part.size(axis) != call.axes.size(axis);
                sizes += call.axes[axis].name + ", ";
            }
            parts += repeated ? ".expand(" + sizes + "-1)" : "";
        }
        return names.out + " = torch.cat([" + parts + "], dim=-1)\n";
    }
    double cell(const Call& call, const Index& at) const override {
        const Cell cell = source(call, at);
        return call.in[cell.input].at(cell.at);
    }
    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call&, const Index&, std::size_t, const Index&) const override { return 1; }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 0; }

private:
    static Cell source(const Call& call, const Index& at) {
        const int last = call.axes.rank() - 1;
        std::int64_t c = column(at, call.axes.rank());
        std::size_t input = 0;
        for (; c >= call.axes_of(input).back(0).size; ++input)
            c -= call.axes_of(input).back(0).size;
        Index from = with(at, last, c);
        for (int axis = 0; axis < last; ++axis)
            if (call.axes_of(input).size(axis) == 1)
                from = with(from, axis, 0);
        return {input, from};
    }
};

} // namespace

const Operation& concat() {
    static const ConcatOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
