#include "core/engine/cpu/dense.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"
#include "core/engine/cpu/projections.h"
#include "core/engine/range_fault.h"
#include "core/run/part.h"

#include <algorithm>
#include <cmath>

namespace headscope::cpu::nodes {

namespace {

/// x W + b: the inputs of a node.
struct LinearNode {
    NodeId node, x, W, b;
    float limit;
    run::HeadAxis heads; ///< of the columns
    run::HeadSet all;
    std::string name, weight;
};

/// Columns of adjacent heads of a node.
struct Columns {
    const LinearNode* of;
    std::int64_t first, count;
};

/// Computes several products that do not depend on each other, divided among the threads together.
class ProductsKernel final : public Kernel {
public:
    ProductsKernel(std::vector<LinearNode> linears, std::shared_ptr<CpuMachine> machine)
        : linears_(std::move(linears)), machine_(std::move(machine)) {}
    void compute(Values& values, Progress& progress) const override;

private:
    void add_columns(const LinearNode& linear, run::HeadSet computed) const;
    [[noreturn]] static void fail(const Columns& columns, const ProductPart& part, const Values& values);

    std::vector<LinearNode> linears_;
    std::shared_ptr<CpuMachine> machine_;
    mutable std::vector<Columns> columns_; ///< of the current run
};

void ProductsKernel::add_columns(const LinearNode& linear, run::HeadSet computed) const {
    const run::HeadAxis& heads = linear.heads;
    if (computed == linear.all)
        return columns_.push_back({&linear, 0, heads.heads * heads.width});
    bool was_computed = false;
    for (std::int64_t h = 0; h < heads.heads; ++h) {
        const bool is_computed = (computed & run::head_bit(h, heads.heads)) != 0;
        if (is_computed && was_computed)
            columns_.back().count += heads.width;
        else if (is_computed)
            columns_.push_back({&linear, h * heads.width, heads.width});
        was_computed = is_computed;
    }
}

void ProductsKernel::compute(Values& values, Progress& progress) const {
    CpuMachine& machine = *machine_;
    columns_.clear();
    for (const LinearNode& linear : linears_)
        if (values.out(linear.node) != nullptr)
            add_columns(linear, values.computed(linear.node));
    std::vector<WideProduct>& products = machine.products;
    products.clear();
    for (const Columns& c : columns_) {
        const LinearNode& linear = *c.of;
        const Tensor &x = values[linear.x], &W = values[linear.W];
        const std::int64_t depth = x.shape().back(0), stride = W.shape()[1];
        WideProduct product{
            .A = {x.data(), depth, x.count() / depth, depth},
            .B = {W.data() + c.first, stride, depth, c.count},
            .bias = linear.b == no_node ? nullptr : values[linear.b].data() + c.first,
            .C = values.out(linear.node)->data() + c.first,
            .C_stride = stride,
        };
        if (c.first % machine.kernels.panel == 0)
            if (const float* panels = cached_panels(values.owner(linear.W), machine, progress);
                panels != nullptr)
                product.panels = panels + c.first * depth;
        products.push_back(product);
    }
    multiply_all(products, machine, progress, [&](const ProductPart& part) {
        const Columns& c = columns_[part.product];
        fail(c, part, values);
    });
    for (const Columns& c : columns_)
        if (const float limit = c.of->limit; limit != 0.0F) {
            Tensor& y = *values.out(c.of->node);
            const std::int64_t width = y.shape().back(0);
            for (std::int64_t at = c.first; at < y.count(); at += width)
                for (float& number :
                     y.values().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(c.count)))
                    number = std::clamp(number, -limit, limit);
        }
}

void ProductsKernel::fail(const Columns& columns, const ProductPart& part, const Values& values) {
    const Tensor &x = values[columns.of->x], &y = *values.out(columns.of->node);
    const run::Box* const rows = values.part(columns.of->node);
    const std::int64_t width = y.shape().back(0), T = x.shape().rank() > 1 ? x.shape().back(1) : 1;
    std::int64_t row = part.row, c = columns.first + part.first;
    for (std::int64_t at = 0; at < part.rows * part.count; ++at) {
        row = part.row + at / part.count;
        c = columns.first + part.first + at % part.count;
        if (!std::isfinite(y.data()[row * width + c]))
            break;
    }
    engine::fail_projection(columns.of->name, columns.of->weight,
                            row / T + (rows == nullptr ? 0 : rows->first[0]),
                            row % T + (rows == nullptr ? 0 : rows->first[1]), c);
}

/// x tableᵀ + b, for the unembedding.
class TableProductKernel final : public Kernel {
public:
    TableProductKernel(NodeId node, NodeId x, NodeId table, NodeId b, std::shared_ptr<CpuMachine> machine)
        : node_(node), x_(x), table_(table), b_(b), cpu_(std::move(machine)) {}
    void compute(Values& values, Progress& progress) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        cpu_.multiply_by_rows(values[x_], values[table_], b_ == no_node ? nullptr : &values[b_], *out,
                              progress);
        if (!values.changed_rows(table_).empty())
            multiply_changed_rows(values, *out, progress);
    }

private:
    /// Writes the columns of the result that changed rows of the table make.
    void multiply_changed_rows(const Values& values, Tensor& out, const Progress& cancel) const {
        const std::span<const run::NodeIntervention> changed = values.changed_rows(table_);
        const Tensor& x = values[x_];
        const std::int64_t D = x.shape().back(0), rows = x.count() / D, width = out.shape().back(0),
                           count = std::ssize(changed);
        Tensor table(Shape{count, D}), bias(Shape{count}, 0.0F), columns(Shape{1, rows, count});
        for (std::int64_t n = 0; n < count; ++n) {
            const std::int64_t row = changed[static_cast<std::size_t>(n)].box.first[0];
            std::copy_n(table_row(values, table_, row), D, table.data() + n * D);
            if (b_ != no_node)
                bias.data()[n] = values[b_].data()[row];
        }
        cpu_.multiply_by_rows(x, table, b_ == no_node ? nullptr : &bias, columns, cancel);
        for (std::int64_t n = 0; n < count; ++n)
            for (std::int64_t i = 0; i < rows; ++i)
                out.data()[i * width + changed[static_cast<std::size_t>(n)].box.first[0]] =
                    columns.data()[i * count + n];
    }

    NodeId node_, x_, table_, b_;
    mutable CpuDense cpu_;
};

LinearNode linear_node(NodeId id, const Node& node) {
    const run::HeadAxis heads = run::head_axis(node.axes);
    const bool by_columns = heads.axis == node.axes.rank() - 1;
    LinearNode linear{.node = id,
                      .x = node.inputs[0].node,
                      .W = node.inputs[1].node,
                      .b = optional_input(node, 2),
                      .limit = static_cast<float>(std::get<graph::Linear>(node.attributes).limit),
                      .heads = by_columns ? heads : run::HeadAxis{.width = node.axes.back(0).size},
                      .all = 1,
                      .name = node.name,
                      .weight = node.inputs[1].name};
    linear.all = run::all_heads(linear.heads.heads);
    return linear;
}

} // namespace

/// Adjacent products form one step.
void add_products(StepList& list) {
    std::vector<LinearNode> group;
    const auto add_group = [&] {
        if (group.empty())
            return;
        std::vector<NodeId> nodes;
        for (const LinearNode& linear : group)
            nodes.push_back(linear.node);
        list.add({.nodes = std::move(nodes),
                  .kernel = std::make_unique<ProductsKernel>(std::move(group), list.machine()),
                  .by_heads = true,
                  .by_rows = true});
        group.clear();
    };
    for (NodeId id = 0; id < static_cast<NodeId>(list.graph().nodes().size()); ++id) {
        const Node& node = list.node(id);
        if (node.inputs.empty())
            continue;
        const bool is_linear = node.op == Op::linear && list.is_free(id);
        if (is_linear && std::get<graph::Linear>(node.attributes).transposed) {
            add_group();
            const NodeId table = node.inputs[1].node;
            list.add({.nodes = {id},
                      .kernel = std::make_unique<TableProductKernel>(id, node.inputs[0].node, table,
                                                                     optional_input(node, 2), list.machine()),
                      .reads_changed_rows = {table},
                      .by_rows = true});
            continue;
        }
        const bool depends = std::ranges::any_of(group, [&](const LinearNode& linear) {
            return std::ranges::find(node.inputs, linear.node, &graph::Reading::node) != node.inputs.end();
        });
        if (!is_linear || depends)
            add_group();
        if (is_linear)
            group.push_back(linear_node(id, node));
    }
    add_group();
}

} // namespace headscope::cpu::nodes
