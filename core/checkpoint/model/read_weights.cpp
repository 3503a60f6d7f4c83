#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/rope.h"
#include "core/engine/cpu/worker_pool.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

namespace headscope::checkpoint {

namespace {

using ConstView = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

constexpr std::int64_t threads_from = std::int64_t{1} << 20U; ///< numbers of a layer, about

int reading_threads() {
    constexpr unsigned most = 8;
    return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, most));
}

/// From (rows, cols) to (cols, rows).
void transpose(const float* numbers, std::int64_t rows, std::int64_t cols, float* out) {
    const ConstView from(numbers, rows, cols, Eigen::OuterStride<>(cols));
    MutableRows to(out, cols, rows);
    constexpr std::int64_t tile = 32; // both sides of one stay in the L1 cache
    for (std::int64_t row = 0; row < rows; row += tile)
        for (std::int64_t col = 0; col < cols; col += tile) {
            const std::int64_t height = std::min(tile, rows - row), width = std::min(tile, cols - col);
            to.block(col, row, width, height) = from.block(row, col, height, width).transpose();
        }
}

TensorPtr transposed(const Tensor& tensor) {
    const std::int64_t rows = tensor.shape()[0], cols = tensor.shape()[1];
    auto out = std::make_shared<Tensor>(Shape{cols, rows});
    transpose(tensor.data(), rows, cols, out->data());
    return out;
}

/// Same of each of the matrices that a tensor of three axes holds.
TensorPtr transposed_each(const Tensor& tensor) {
    const std::int64_t count = tensor.shape()[0], rows = tensor.shape()[1], cols = tensor.shape()[2];
    auto out = std::make_shared<Tensor>(Shape{count, cols, rows});
    for (std::int64_t at = 0; at < count; ++at) {
        const std::int64_t first = at * rows * cols;
        transpose(tensor.data() + first, rows, cols, out->data() + first);
    }
    return out;
}

/// Positions that are not learned, (rows, D).
TensorPtr sinusoid_table(const Architecture& a) {
    const std::int64_t rows = a.position_rows, D = a.D;
    auto table = std::make_shared<Tensor>(Shape{rows, D}, 0.0F);
    const bool to_last = a.sinusoids == Sinusoids::to_last;
    // Of an odd D one half is wider, or the last column has zeros.
    const std::int64_t sines = to_last ? D / 2 : (D + 1) / 2, width = to_last ? 2 * sines : D;
    const double steps = to_last ? static_cast<double>(D / 2 - 1) : static_cast<double>(D) / 2.0;
    for (std::int64_t t = 0; t < rows; ++t)
        for (std::int64_t c = 0; c < width && !(to_last && t == a.pad_id); ++c) {
            const std::int64_t pair = c < sines ? c : c - sines;
            const double angle =
                static_cast<double>(t) / std::pow(10000.0, static_cast<double>(pair) / steps);
            table->at(t, c) = static_cast<float>(c < sines ? std::sin(angle) : std::cos(angle));
        }
    return table;
}

/// Columns [first, first + count) of a matrix, or that part of a vector.
struct Columns {
    std::int64_t first, count;
};

/// These columns side by side.
TensorPtr gathered(const Tensor& tensor, const std::vector<Columns>& parts) {
    std::int64_t width = 0;
    for (const Columns& part : parts)
        width += part.count;
    const bool vector = tensor.shape().rank() == 1;
    const std::int64_t rows = vector ? 1 : tensor.shape()[0], stride = tensor.shape().back(0);
    auto out = std::make_shared<Tensor>(vector ? Shape{width} : Shape{rows, width});
    float* to = out->data();
    for (std::int64_t row = 0; row < rows; ++row)
        for (const Columns& part : parts)
            to = std::copy_n(tensor.data() + row * stride + part.first, part.count, to);
    return out;
}

/// Queries, keys and values cut out of the tensor that holds all three.
void cut_qkv(WeightSet& set, TensorId whole_id, std::array<TensorId, 3> parts, const Architecture& a) {
    const TensorPtr whole = std::exchange(set[whole_id], nullptr);
    if (whole == nullptr)
        return;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const PackedColumns at = columns_of(static_cast<QkvPart>(part), a);
        std::vector<Columns> columns;
        for (std::int64_t block = 0; block < at.blocks; ++block)
            columns.push_back({block * at.stride + at.first, at.count});
        set[parts[part]] = gathered(*whole, columns);
    }
}

/// W_Q and W_G, or their biases, cut out of the tensor that holds both for each head.
void cut_queries_and_gates(WeightSet& set, TensorId whole_id, TensorId queries, TensorId gates,
                           const Architecture& a) {
    const TensorPtr whole = std::exchange(set[whole_id], nullptr);
    if (whole == nullptr)
        return;
    for (const auto& [id, first] : {std::pair{queries, std::int64_t{0}}, std::pair{gates, a.dk}}) {
        std::vector<Columns> columns;
        for (std::int64_t h = 0; h < a.H; ++h)
            columns.push_back({2 * h * a.dk + first, a.dk});
        set[id] = gathered(*whole, columns);
    }
}

/// The weights of a delta layer, cut out of the tensors that hold several.
void cut_delta(WeightSet& set, const Architecture& a) {
    using enum TensorId;
    for (const TensorId id : {delta_W_Q, delta_W_K, delta_W_V, delta_W_Z, delta_W_B, delta_W_A, delta_conv_Q,
                              delta_conv_K, delta_conv_V})
        if (const auto at = delta_columns(id, a); at && set[at->whole] != nullptr) {
            std::vector<Columns> columns;
            for (std::int64_t block = 0; block < at->columns.blocks; ++block)
                columns.push_back({block * at->columns.stride + at->columns.first, at->columns.count});
            set[id] = gathered(*set[at->whole], columns);
        }
    for (const TensorId whole : {delta_W_QKVZ, delta_W_BA, delta_conv})
        set[whole] = nullptr;
}

void cut_gate(WeightSet& set) {
    const TensorPtr whole = std::exchange(set[TensorId::mlp_gate_in], nullptr);
    if (whole == nullptr)
        return;
    const std::int64_t width = whole->shape().back(0) / 2;
    set[TensorId::W_gate] = gathered(*whole, {{0, width}});
    set[TensorId::W_in] = gathered(*whole, {{width, width}});
}

/// Of a tensor (..., 2 n) the numbers of the gates and the others: those at even and at odd places, or the
/// first n and the last n.
void cut_experts(WeightSet& set, TensorId whole_id, TensorId gate, TensorId in, GatePacking packing) {
    const TensorPtr whole = std::exchange(set[whole_id], nullptr);
    if (whole == nullptr)
        return;
    const Shape& all = whole->shape();
    const std::int64_t half = all.back(0) / 2;
    const Shape shape = all.rank() == 3 ? Shape{all[0], all[1], half} : Shape{all[0], half};
    const std::int64_t step = packing == GatePacking::in_turn ? 2 : 1,
                       second = packing == GatePacking::in_turn ? 1 : half;
    for (const auto& [id, first] : {std::pair{gate, std::int64_t{0}}, std::pair{in, second}}) {
        auto part = std::make_shared<Tensor>(shape);
        for (std::int64_t at = 0; at < part->count(); ++at)
            part->data()[at] = whole->data()[at / half * 2 * half + first + at % half * step];
        set[id] = std::move(part);
    }
}

/// W_K and W_V of LatentAttention. The file has one matrix (rank, H (dk - rotary_width + dv)): of each head
/// the numbers of its key that do not turn, then its value. x_kv has behind the latent vector the numbers
/// that turn, which every key has as they are.
void cut_latent(WeightSet& set, const Architecture& a) {
    const TensorPtr whole = std::exchange(set[TensorId::W_UKV], nullptr);
    if (whole == nullptr)
        return;
    const std::int64_t still = a.dk - a.rotary_width, rank = a.latent->rank, of_head = still + a.dv();
    auto W_K = std::make_shared<Tensor>(Shape{a.Dkv(), a.H * a.dk}, 0.0F),
         W_V = std::make_shared<Tensor>(Shape{a.Dkv(), a.H * a.dv()}, 0.0F);
    for (std::int64_t h = 0; h < a.H; ++h) {
        for (std::int64_t row = 0; row < rank; ++row) {
            const float* const from = whole->data() + (row * a.H + h) * of_head;
            std::copy_n(from, still, &W_K->at(row, h * a.dk));
            std::copy_n(from + still, a.dv(), &W_V->at(row, h * a.dv()));
        }
        for (std::int64_t c = 0; c < a.rotary_width; ++c)
            W_K->at(rank + c, h * a.dk + still + c) = 1.0F;
    }
    set[TensorId::W_K] = std::move(W_K);
    set[TensorId::W_V] = std::move(W_V);
}

/// Brings the columns of each head into the order in which attention turns them.
void reorder_heads(TensorPtr& tensor, const std::vector<std::int64_t>& order) {
    if (tensor == nullptr || order.empty())
        return;
    std::vector<Columns> columns;
    const std::int64_t width = tensor->shape().back(0), dk = std::ssize(order);
    for (std::int64_t head = 0; head < width; head += dk)
        for (const std::int64_t c : order)
            columns.push_back({head + c, 1});
    tensor = gathered(*tensor, columns);
}

/// Whether a norm multiplies by it.
bool is_norm(TensorId weight) {
    using enum TensorId;
    constexpr std::array norms{
        norm1_weight, norm2_weight, norm1_after_weight, norm2_after_weight, final_norm_weight,
        q_norm,       k_norm,       q_norm_all,         k_norm_all};
    return std::ranges::find(norms, weight) != norms.end();
}

} // namespace

/// (experts, d_in, d_out) from the tensors of the experts, or likewise of copies of the residual stream.
TensorPtr Model::load_experts(const TensorName& row, std::string_view prefix, std::int64_t l) const {
    const std::int64_t in = extent_of(row.in, *architecture_), out = extent_of(row.out, *architecture_);
    auto all = std::make_shared<Tensor>(Shape{tensors_per_weight(row, *architecture_), in, out});
    float* to = all->data();
    for (const std::string& name : names_in_files(row, prefix, l))
        to = std::ranges::copy(transposed(*files_.tensor(name))->values(), to).out;
    return all;
}

TensorPtr Model::load(const TensorName& row, std::string_view prefix, std::int64_t l) const {
    if (row.layout == Layout::expert_linears || row.layout == Layout::copy_linears)
        return load_experts(row, prefix, l);
    TensorPtr tensor = files_.tensor(name_in_files(row, prefix, l));
    if (row.layout == Layout::channels)
        return transposed(Tensor(Shape{tensor->shape()[0], tensor->shape()[2]}, tensor->values()));
    if (row.layout == Layout::experts_linear)
        return transposed_each(*tensor);
    if (adds_one(architecture_->norm) && is_norm(row.weight)) {
        auto plus_one = std::make_shared<Tensor>(tensor->shape(), tensor->values());
        for (float& weight : plus_one->values())
            weight += 1.0F;
        return plus_one;
    }
    if (row.layout == Layout::row)
        return std::make_shared<const Tensor>(Shape{tensor->count()}, tensor->values());
    return row.layout == Layout::linear ? transposed(*tensor) : tensor;
}

TensorPtr Model::weight(TensorId id) const {
    const NameMap& map = architecture_->names;
    const TensorName* const body = find_row(map.body, id);
    const TensorName* const row = body != nullptr ? body : find_row(map.head, id);
    if (row == nullptr && architecture_->sinusoids != Sinusoids::none && id == TensorId::W_P)
        return kept_->front().one(id, [&] { return sinusoid_table(*architecture_); });
    if (row == nullptr)
        return encoder_ != nullptr && id == TensorId::W_E ? encoder_->weight(id) : nullptr;
    if (!is_needed(*row, *architecture_))
        return weight(TensorId::W_E);
    const std::string prefix = body != nullptr ? prefix_ : "";
    if (row->may_lack && files_.find(name_in_files(*row, prefix, 0)) == nullptr)
        return nullptr;
    return kept_->front().one(id, [&] { return load(*row, prefix, 0); });
}

WeightSet Model::layer(std::int64_t n) const {
    if (encoder_ != nullptr && n < architecture_->encoder->layers)
        return encoder_->layer(n);
    const std::int64_t step = encoder_ == nullptr ? n : n - architecture_->encoder->layers;
    return (*kept_)[static_cast<std::size_t>(step + 1)].all([&] { return read_step(step); });
}

WeightSet Model::read_step(std::int64_t step) const {
    WeightSet set;
    const NameMap& map = architecture_->names;
    const std::int64_t l = step / attentions_per_layer();
    std::vector<const TensorName*> rows;
    for (const TensorName& row : step % attentions_per_layer() == 0 ? map.body : map.cross)
        if (is_per_layer(row.weight) && is_in_layer(row, *architecture_, l))
            rows.push_back(&row);
    // Widening and transposing a large layer takes longer than one pass through it.
    const bool large = architecture_->D * (architecture_->D + architecture_->d_ff +
                                           architecture_->experts * architecture_->d_expert) >
                       threads_from;
    cpu::WorkerPool pool(large ? reading_threads() : 1);
    pool.run(std::ssize(rows), [&](std::int64_t index, int) {
        const TensorName& row = *rows[static_cast<std::size_t>(index)];
        set[row.weight] = load(row, prefix_, l);
    });
    using enum TensorId;
    cut_qkv(set, W_QKV, {W_Q, W_K, W_V}, *architecture_);
    cut_qkv(set, b_QKV, {b_Q, b_K, b_V}, *architecture_);
    cut_queries_and_gates(set, W_QG, W_Q, W_G, *architecture_);
    cut_queries_and_gates(set, b_QG, b_Q, b_G, *architecture_);
    cut_delta(set, *architecture_);
    cut_latent(set, *architecture_);
    cut_gate(set);
    const GatePacking packing = architecture_->expert_gate_in;
    cut_experts(set, experts_gate_in, expert_W_gate, expert_W_in, packing);
    cut_experts(set, experts_gate_in_bias, expert_b_gate, expert_b_in, packing);
    const std::vector<std::int64_t> order = rotary_order(*architecture_);
    for (const TensorId id : {W_Q, W_K, b_Q, b_K, q_norm, k_norm, q_norm_all, k_norm_all})
        reorder_heads(set[id], order);
    return set;
}

} // namespace headscope::checkpoint
