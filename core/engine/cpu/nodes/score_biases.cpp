#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"

#include <bit>

namespace headscope::cpu::nodes {

namespace {

/// The nearest bfloat16, ties to even.
float as_bfloat16(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    return std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U);
}

class AlibiKernel final : public Kernel {
public:
    AlibiKernel(NodeId id, const Node& node)
        : node_(id), places_(node.inputs[0].node), alibi_(std::get<graph::Alibi>(node.attributes)) {}

    /// In float32 and bfloat16, as models compute it.
    void compute(Values& values, Progress&) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        const std::int64_t B = out->shape()[0], H = out->shape()[1], T = out->shape()[2];
        const auto divisor = static_cast<float>(alibi_.divisor);
        for (std::int64_t row = 0; row < B * H; ++row) {
            const float* const places = values[places_].data() + row / H * T;
            const float slope = alibi_.slopes[static_cast<std::size_t>(row % H)];
            for (std::int64_t j = 0; j < T; ++j)
                out->data()[row * T + j] = alibi_.bfloat16
                                               ? as_bfloat16(as_bfloat16(slope) * places[j]) / divisor
                                               : slope * places[j] / divisor;
        }
    }

private:
    NodeId node_, places_;
    graph::Alibi alibi_;
};

/// Copies the biases of each distance from the table.
class DistanceBiasKernel final : public Kernel {
public:
    DistanceBiasKernel(NodeId id, const Node& node, const Graph& graph)
        : node_(id), table_(node.inputs[0].node), Tq_(node.axes.size(1)), Tk_(node.axes.size(2)) {
        const auto bucket = [&](std::int64_t i, std::int64_t j) {
            return graph.reads(id, {0, i, j}).front().first[0];
        };
        // Distances from the last query to the first key on, up to those from the first query to the last
        // key.
        for (std::int64_t j = 0; j < Tk_; ++j)
            buckets_.push_back(bucket(Tq_ - 1, j));
        for (std::int64_t i = Tq_ - 2; i >= 0; --i)
            buckets_.push_back(bucket(i, Tk_ - 1));
    }

    void compute(Values& values, Progress& progress) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        const Tensor& table = values[table_];
        const std::int64_t H = out->shape()[0];
        float* to = out->data();
        for (std::int64_t h = 0; h < H; ++h) {
            progress.check();
            for (std::int64_t i = 0; i < Tq_; ++i)
                for (std::int64_t j = 0; j < Tk_; ++j)
                    *to++ = table.data()[buckets_[static_cast<std::size_t>(Tq_ - 1 - i + j)] * H + h];
        }
    }

private:
    NodeId node_, table_;
    std::int64_t Tq_, Tk_;
    std::vector<std::int64_t> buckets_; ///< by Tq - 1 - i + j
};

} // namespace

void add_score_biases(StepList& list) {
    list.for_each(Op::alibi, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id}, .kernel = std::make_unique<AlibiKernel>(id, node)});
    });
    list.for_each(Op::distance_bias, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id}, .kernel = std::make_unique<DistanceBiasKernel>(id, node, list.graph())});
    });
}

} // namespace headscope::cpu::nodes
