#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <bit>
#include <string>

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

/// Multiplies the queries, or the keys, of each head by the vectors of the distances, and copies the product
/// with the vector of each pair's distance.
class RelativeProductKernel final : public Kernel {
public:
    RelativeProductKernel(NodeId id, const Node& node, const Graph& graph,
                          std::shared_ptr<CpuMachine> machine)
        : node_(id), x_(node.inputs[0].node), positions_(node.inputs[1].node), name_(node.name),
          of_keys_(std::get<graph::RelativeProduct>(node.attributes).of_keys), B_(node.axes.size(0)),
          H_(node.axes.size(1)), T_(node.axes.size(2)), dk_(graph.node(x_).axes.size(3)),
          machine_(std::move(machine)) {
        const RelativeRows& rows = std::get<graph::RelativeProduct>(node.attributes).rows;
        for (std::int64_t distance = 1 - T_; distance < T_; ++distance)
            rows_.push_back(rows.row_of(distance));
        const auto [least, most] = std::ranges::minmax(rows_);
        first_ = least;
        count_ = most + 1 - least;
    }

    void compute(Values& values, Progress& progress) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        std::vector<std::int64_t> heads;
        for (std::int64_t h = 0; h < H_; ++h)
            if ((values.computed(node_) & run::head_bit(h, H_)) != 0)
                heads.push_back(h);
        const HeadVectors vectors = head_vectors(values[x_], dk_);
        const Tensor& positions = values[positions_];
        const Kernels& kernels = machine_->kernels;
        const std::int64_t packed_size = whole_panels(kernels, count_) * dk_,
                           space = packed_size + rows_at_once * count_;
        float* const memory = machine_->scratch_for(space);
        const std::int64_t tasks = B_ * std::ssize(heads);
        const auto compute_head = [&](std::int64_t task, int worker) {
            const std::int64_t h = heads[static_cast<std::size_t>(task) % heads.size()],
                               b = task / std::ssize(heads);
            float *const packed = memory + worker * space, *const products = packed + packed_size;
            pack_transposed_panels(
                kernels, {positions.data() + (first_ * H_ + h) * dk_, H_ * dk_, count_, dk_}, packed);
            for (std::int64_t t = 0; t < T_; t += rows_at_once) {
                const Block x{vectors.data + b * vectors.of_entry + h * vectors.of_head + t * vectors.of_row,
                              vectors.of_row, std::min(rows_at_once, T_ - t), dk_};
                if (!multiply_packed(kernels, x, packed, 0, count_, nullptr, products, count_))
                    engine::fail_head_rows(name_);
                copy_pairs(products, t, x.rows, out->data() + (b * H_ + h) * T_ * T_);
            }
        };
        machine_->for_tasks(progress, tasks, 2 * tasks * T_ * count_ * dk_, compute_head);
    }

private:
    static constexpr std::int64_t rows_at_once = 64;

    /// products: (rows, count), of the vectors from `first` on; pairs: (T, T).
    void copy_pairs(const float* products, std::int64_t first, std::int64_t rows, float* pairs) const {
        for (std::int64_t r = 0; r < rows; ++r) {
            const float* const row = products + r * count_ - first_;
            const std::int64_t t = first + r;
            if (of_keys_)
                for (std::int64_t i = 0; i < T_; ++i)
                    pairs[i * T_ + t] = row[row_of(i - t)];
            else
                for (std::int64_t j = 0; j < T_; ++j)
                    pairs[t * T_ + j] = row[row_of(t - j)];
        }
    }
    std::int64_t row_of(std::int64_t distance) const {
        return rows_[static_cast<std::size_t>(distance + T_ - 1)];
    }
    NodeId node_, x_, positions_;
    std::string name_;
    bool of_keys_;
    std::int64_t B_, H_, T_, dk_;
    std::int64_t first_ = 0, count_ = 0; ///< rows of the positions that are read
    std::vector<std::int64_t> rows_;     ///< of the positions, by i - j + T - 1
    std::shared_ptr<CpuMachine> machine_;
};

} // namespace

void add_score_biases(StepList& list) {
    list.for_each(Op::relative_product, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id},
                  .kernel = std::make_unique<RelativeProductKernel>(id, node, list.graph(), list.machine()),
                  .by_heads = true});
    });
    list.for_each(Op::alibi, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id}, .kernel = std::make_unique<AlibiKernel>(id, node)});
    });
    list.for_each(Op::distance_bias, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id}, .kernel = std::make_unique<DistanceBiasKernel>(id, node, list.graph())});
    });
}

} // namespace headscope::cpu::nodes
