#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Input: x (..., n). Columns [first, first + count) of each row.
class SliceOperation final : public Operation {
public:
    std::string_view name() const override { return "slice"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const auto& slice = call.as<Slice>();
        const Axes& x = call.axes_of(0);
        const std::int64_t end = slice.first + slice.axis.size;
        expect(call, 0, x.rank() >= 1 && slice.first >= 0 && end <= x.back(0).size,
               "≥ " + std::to_string(end));
        return x.with(x.rank() - 1, slice.axis);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {one_cell(0, from(call, at))};
    }
    std::string formula(const Call& call, const Names& names) const override {
        return names.out + " = " + names.in[0] + columns(call);
    }
    Arithmetic explain(const Call& call, const Index& at) const override {
        return Arithmetic::of(factor(call, 0, from(call, at)));
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& slice = call.as<Slice>();
        return names.out + " = " + names.in[0] + "[..., " + std::to_string(slice.first) + ":" +
               std::to_string(slice.first + slice.axis.size) + "]\n";
    }
    double cell(const Call& call, const Index& at) const override { return call.in[0].at(from(call, at)); }
    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call&, const Index&, std::size_t, const Index&) const override { return 1; }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 0; }

private:
    static Index from(const Call& call, const Index& at) {
        return with(at, call.axes.rank() - 1, column(at, call.axes.rank()) + call.as<Slice>().first);
    }
    static std::string columns(const Call& call) {
        const auto& slice = call.as<Slice>();
        return "[:, " + std::to_string(slice.first) + " : " + std::to_string(slice.first + slice.axis.size) +
               "]";
    }
};

} // namespace

const Operation& slice() {
    static const SliceOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
