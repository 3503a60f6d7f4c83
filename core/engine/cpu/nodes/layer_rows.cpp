#include "core/engine/cpu/rows/layer_rows.h"

#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"

#include <algorithm>
#include <cmath>

namespace headscope::cpu::nodes {

namespace {

/// A kernel that computes one node, row by row.
class RowsKernel : public Kernel {
public:
    RowsKernel(NodeId id, const Node& node, const std::shared_ptr<CpuMachine>& machine)
        : node_(id), attributes_(node.attributes), cpu_(machine) {
        for (const graph::Reading& input : node.inputs)
            inputs_.push_back(input.node);
    }
    void compute(Values& values, Progress& progress) const final {
        if (Tensor* const out = values.out(node_); out != nullptr)
            fill(*out, values, progress);
    }

protected:
    virtual void fill(Tensor& out, const Values& values, const Progress& progress) const = 0;
    const Tensor& input(const Values& values, std::size_t at) const { return values[inputs_[at]]; }
    const float* optional(const Values& values, std::size_t at) const {
        return at < inputs_.size() ? input(values, at).data() : nullptr;
    }
    std::size_t input_count() const { return inputs_.size(); }
    NodeId input_id(std::size_t at) const { return inputs_[at]; }
    template<class Kind>
    const Kind& as() const {
        return std::get<Kind>(attributes_);
    }
    CpuDense& cpu() const { return cpu_; }

private:
    NodeId node_;
    graph::Attributes attributes_;
    std::vector<NodeId> inputs_;
    mutable CpuDense cpu_;
};

class EmbeddingKernel final : public RowsKernel {
public:
    using RowsKernel::RowsKernel;

private:
    NodeId table() const { return input_id(1); }
    /// Adds to zero, as a sum of embeddings does: a row of -0 becomes 0.
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        const Tensor& ids = input(values, 0);
        const std::int64_t D = input(values, 1).shape()[1];
        const auto factor = static_cast<float>(as<graph::Embedding>().factor);
        for (std::int64_t token = 0; token < ids.count(); ++token) {
            const float* const row = table_row(values, table(), static_cast<std::int64_t>(ids.data()[token]));
            std::transform(row, row + D, out.data() + token * D, [](float number) { return 0.0F + number; });
        }
        if (factor != 1.0F)
            for (float& number : out.values())
                number *= factor;
    }
};

class AddKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        add(input(values, 0).values(), input(values, 1).values(), out.values());
        for (std::size_t term = 2; term < input_count(); ++term)
            add(out.values(), input(values, term).values(), out.values());
    }
};

/// The second input has the axes of the first, or one number for each of its rows or columns.
class MultiplyKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        const Tensor &a = input(values, 0), &b = input(values, 1);
        const std::int64_t width = b.count() == a.count() ? 1 : a.shape().back(0);
        const bool by_column = b.shape().rank() == 1;
        for (std::int64_t at = 0; at < out.count(); ++at)
            out.data()[at] = a.data()[at] * b.data()[by_column ? at % b.count() : at / width];
    }
};

class SliceKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        const Tensor& x = input(values, 0);
        const std::int64_t from = x.shape().back(0), width = out.shape().back(0);
        for (std::int64_t row = 0; row < out.count() / width; ++row)
            std::copy_n(x.data() + row * from + as<graph::Slice>().first, width, out.data() + row * width);
    }
};

class ConcatKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        const std::int64_t width = out.shape().back(0);
        std::int64_t first = 0;
        for (std::size_t part = 0; part < input_count(); ++part) {
            const Tensor& x = input(values, part);
            const std::int64_t own = x.shape().back(0);
            for (std::int64_t row = 0; row < out.count() / width; ++row)
                std::copy_n(x.data() + row * own, own, out.data() + row * width + first);
            first += own;
        }
    }
};

template<bool Centered>
class NormKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        norm_rows(cpu(), input(values, 0), Centered, optional(values, 1), optional(values, 2),
                  as<graph::Norm>().eps, out);
    }
};

class MatchMagnitudeKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        match_magnitudes(cpu(), input(values, 0), input(values, 1), as<graph::Magnitude>().least, out);
    }
};

class MixKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        constexpr std::size_t first_term = 2;
        std::ranges::copy(input(values, 1).values(), out.data());
        for (std::size_t term = first_term; term < input_count(); ++term)
            add_scaled_rows(input(values, 0),
                            as<graph::Mix>().first + static_cast<std::int64_t>(term - first_term),
                            static_cast<float>(as<graph::Mix>().offset), input(values, term), out);
    }
};

class GaussianTopKKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        keep_gaussian_top(cpu(), input(values, 0), as<graph::GaussianTopK>().deviations, out);
    }
};

class ActivationKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress& progress) const override {
        std::ranges::copy(input(values, 0).values(), out.data());
        activate(cpu(), out.values(), as<graph::Activation>().function, progress);
    }
};

class GateKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress& progress) const override {
        std::ranges::copy(input(values, 1).values(), out.data());
        Tensor gates(out.shape(), input(values, 0).values());
        open_gates(cpu(), out.values(), gates.values(), as<graph::Gate>(), progress);
    }
};

class ScaleKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        const auto factor = static_cast<float>(as<graph::Scale>().factor);
        std::ranges::transform(input(values, 0).values(), out.data(),
                               [factor](float number) { return factor * number; });
    }
};

class SoftCapKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        std::ranges::copy(input(values, 0).values(), out.data());
        cap_scores(out.values(), static_cast<float>(as<graph::Scale>().cap));
    }
};

class SoftmaxKernel final : public RowsKernel {
    using RowsKernel::RowsKernel;
    void fill(Tensor& out, const Values& values, const Progress&) const override {
        softmax_rows(input(values, 0), out);
    }
};

/// Adds a step for each free node of a kind that `fits`.
template<class RowsKind, class Fits>
void add_all(StepList& list, Op op, const Fits& fits) {
    list.for_each(op, [&](NodeId id, const Node& node) {
        if (fits(node))
            list.add_rows(id, std::make_unique<RowsKind>(id, node, list.machine()));
    });
}

} // namespace

void add_layer_rows(StepList& list) {
    const auto always = [](const Node&) { return true; };
    const auto of_one_shape = [&](const Node& node) {
        return std::ranges::all_of(node.inputs, [&](const graph::Reading& input) {
            return list.node(input.node).axes.shape() == node.axes.shape();
        });
    };
    const auto rows_of = [](const graph::Axes& axes) { return axes.shape().count() / axes.back(0).size; };
    const auto has_equal_rows = [&](const Node& node) {
        return std::ranges::all_of(node.inputs, [&](const graph::Reading& input) {
            return rows_of(list.node(input.node).axes) == rows_of(node.axes);
        });
    };
    const auto is_by_rows = [&](const Node& node) {
        const graph::Axes& second = list.node(node.inputs[1].node).axes;
        return of_one_shape(node) || (second.back(0).size == 1 && has_equal_rows(node)) ||
               (second.rank() == 1 && second.size(0) == node.axes.back(0).size);
    };
    const auto is_plain_scale = [](const Node& node) {
        return std::get<graph::Scale>(node.attributes).root_of == 0 && node.inputs.size() == 1;
    };
    const auto is_plain_cap = [&](const Node& node) {
        return is_plain_scale(node) && std::get<graph::Scale>(node.attributes).factor == 1;
    };
    const auto has_gate = [&](const Node& node) {
        return of_one_shape(node) && has_gate_kernel(std::get<graph::Gate>(node.attributes));
    };
    const auto is_plain_softmax = [](const Node& node) {
        const auto& softmax = std::get<graph::Softmax>(node.attributes);
        return !softmax.sink && !softmax.empty_rows;
    };
    list.for_each(Op::embedding, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id},
                  .kernel = std::make_unique<EmbeddingKernel>(id, node, list.machine()),
                  .reads_changed_rows = {node.inputs[1].node},
                  .by_rows = true});
    });
    add_all<AddKernel>(list, Op::add, of_one_shape);
    add_all<MultiplyKernel>(list, Op::multiply, is_by_rows);
    add_all<SliceKernel>(list, Op::slice, always);
    add_all<ConcatKernel>(list, Op::concat, has_equal_rows);
    add_all<NormKernel<false>>(list, Op::rms_norm, always);
    add_all<NormKernel<true>>(list, Op::layer_norm, always);
    add_all<MatchMagnitudeKernel>(list, Op::match_magnitude, always);
    add_all<MixKernel>(list, Op::mix, always);
    add_all<GaussianTopKKernel>(list, Op::gaussian_top_k, always);
    add_all<ActivationKernel>(list, Op::activation, always);
    add_all<GateKernel>(list, Op::gate, has_gate);
    add_all<ScaleKernel>(list, Op::scale, is_plain_scale);
    add_all<SoftCapKernel>(list, Op::soft_cap, is_plain_cap);
    add_all<SoftmaxKernel>(list, Op::softmax, is_plain_softmax);
}

} // namespace headscope::cpu::nodes
