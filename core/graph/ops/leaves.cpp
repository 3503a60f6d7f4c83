#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Numbers that a run is given, or that belong to the graph: nothing is computed.
class Leaf final : public Operation {
public:
    explicit Leaf(std::string_view name) : name_(name) {}

    std::string_view name() const override { return name_; }
    Page page(Step step) const override { return page_of(step); }
    Axes axes(const Call& call) const override { return call.axes; } // Builder sets them
    std::vector<ReadSpan> reads(const Call&, const Index&) const override { return {}; }
    std::string formula(const Call&, const Names&) const override { return {}; }
    Arithmetic explain(const Call&, const Index&) const override { return {}; }
    std::string pytorch(const Call&, const Names&) const override { return {}; }
    Cost cost(const Call&) const override { return {}; }
    double cell(const Call&, const Index&) const override { return 0; }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 0; }

private:
    std::string_view name_;
};

} // namespace

const Operation& parameter() {
    static const Leaf operation("parameter");
    return operation;
}

const Operation& input() {
    static const Leaf operation("input");
    return operation;
}

const Operation& constant() {
    static const Leaf operation("constant");
    return operation;
}

} // namespace headscope::graph::ops
