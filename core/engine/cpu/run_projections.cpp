#include "core/base/error.h"
#include "core/engine/cpu/run.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <cmath>

namespace headscope::cpu {

/// Adds the dirty heads of a projection, with adjacent heads combined.
void CpuRun::add_columns(std::vector<Columns>& all, TensorId id) {
    using enum TensorId;
    const Weights& w = problem_.weights;
    const Tensor* const source = id != q && problem_.cross() ? problem_.x_kv.get() : problem_.x.get();
    const TensorPtr& W = id == q ? w.W_Q : id == k ? w.W_K : w.W_V;
    const TensorPtr& b = id == q ? w.b_Q : id == k ? w.b_K : w.b_V;
    const std::int64_t heads = id == q ? d_.H : d_.Hkv, width = id == v ? d_.dv : d_.dk;
    for (std::int64_t h = 0; h < heads; ++h) {
        if (!dirty_.has(id, h))
            continue;
        if (h > 0 && dirty_.has(id, h - 1))
            all.back().count += width;
        else
            all.push_back({id, source, W, b.get(), h * width, width});
    }
    if (stages_.has(id))
        make(id);
}

WideProduct CpuRun::Columns::product() const {
    const std::int64_t depth = x->shape().back(0), stride = W->shape()[1];
    return {.A = {x->data(), depth, x->count() / depth, depth},
            .B = {W->data() + first, stride, depth, count},
            .bias = b == nullptr ? nullptr : b->data() + first};
}

const float* CpuRun::cached_panels(const TensorPtr& W) {
    const PackedParameters::Place place = machine_.packed_parameters.find(kernels_, W);
    if (place.fill) {
        const std::int64_t depth = W->shape()[0], cols = W->shape()[1], step = 4 * kernels_.panel;
        for_tasks((cols + step - 1) / step, 16 * W->count(), [&](std::int64_t task, int) {
            const std::int64_t first = task * step;
            pack_panels(kernels_, {W->data() + first, cols, depth, std::min(step, cols - first)},
                        place.panels + first * depth);
        });
    }
    return place.panels;
}

void CpuRun::project(std::span<const Columns> all) {
    std::vector<WideProduct>& products = machine_.products;
    products.clear();
    for (const Columns& c : all) {
        products.push_back(c.product());
        if (c.first % kernels_.panel == 0)
            if (const float* const panels = cached_panels(c.W); panels != nullptr)
                products.back().panels = panels + c.first * c.W->shape()[0];
        products.back().C = make(c.id).data() + c.first;
        products.back().C_stride = c.W->shape()[1];
    }
    std::vector<ProductPart>& parts = machine_.parts;
    divide_products(products, machine_.threads_for(flops_of(products)), parts);
    const std::int64_t space = pack_scratch_size(kernels_);
    float* const scratch = machine_.scratch_for(space);
    for_tasks(
        static_cast<std::int64_t>(parts.size()), flops_of(products), [&](std::int64_t index, int worker) {
            const ProductPart& part = parts[static_cast<std::size_t>(index)];
            const Columns& c = all[part.product];
            if (!multiply_part(kernels_, products[part.product], part, scratch + worker * space))
                fail_projection({c.id, c.x, c.W, c.b, c.first + part.first, part.count}, part.row, part.rows);
        });
}

void CpuRun::fail_projection(const Columns& columns, std::int64_t row, std::int64_t rows) const {
    const std::int64_t stride = columns.W->shape()[1], T = columns.x->shape()[1];
    const float* const y = tensors_[static_cast<std::size_t>(columns.id)]->data();
    for (std::int64_t r = row; r < row + rows; ++r)
        for (std::int64_t c = columns.first; c < columns.first + columns.count; ++c)
            if (!std::isfinite(y[r * stride + c]))
                headscope::engine::fail_projection(columns.id, r / T, r % T, c);
    throw Error(ErrorKind::internal, "a projection was called not finite, but is");
}

void CpuRun::project_heads() {
    using enum TensorId;
    const bool rows = wants_rows();
    StageSet needed = wanted_;
    if (rows)
        needed = needed.with(q).with(k).with(v);
    if (rows && reads_heads_)
        needed = needed.with(q_heads).with(k_heads);
    needed = with_sources(needed, parts_);
    if (first_key_ == d_.Tk) // a cross-attention whose keys and values are all in the cache
        needed = needed & StageSet().with(q).with(q_heads);
    std::vector<Columns> all;
    all.reserve(3);
    for (const TensorId id : {q, k, v})
        if (needed.has(id))
            add_columns(all, id);
    if (!all.empty())
        project(all);
    if (parts_.qkv_limit)
        for (const Columns& c : all)
            for (float& y : make(c.id).values())
                y = std::clamp(y, -problem_.qkv_limit, problem_.qkv_limit);
    for (const TensorInfo& stage : stage_table())
        if (!stage.verb.empty() && needed.has(stage.id) && stages_.has(stage.id))
            make_head_rows(tensor_info(stage.id, parts_));
    if (rows)
        pack_keys_and_values();
}

/// (rows, dk): a view into q, or into q_heads.
Block CpuRun::queries(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows) const {
    if (reads_heads_) {
        const Tensor& Q = computed_stage(TensorId::q_heads);
        return {Q.data() + Q.offset(b, h, first, 0), d_.dk, rows, d_.dk};
    }
    const Tensor& Q = computed_stage(TensorId::q);
    return {Q.data() + Q.offset(b, first, h * d_.dk), d_.H * d_.dk, rows, d_.dk};
}

/// (Tk - first_key_, dk) of a key/value head.
Block CpuRun::keys(std::int64_t b, std::int64_t g) const {
    if (reads_heads_) {
        const Tensor& K = computed_stage(TensorId::k_heads);
        return {K.data() + K.offset(b, g, 0, 0), d_.dk, d_.Tk - first_key_, d_.dk};
    }
    const Tensor& K = computed_stage(TensorId::k);
    return {K.data() + K.offset(b, 0, g * d_.dk), d_.Hkv * d_.dk, d_.Tk - first_key_, d_.dk};
}

/// (Tk - first_key_, dv) of a key/value head.
Block CpuRun::values(std::int64_t b, std::int64_t g) const {
    const Tensor& V = computed_stage(TensorId::v);
    return {V.data() + V.offset(b, 0, g * d_.dv), d_.Hkv * d_.dv, d_.Tk - first_key_, d_.dv};
}

/// Packs the keys and values of the dirty heads for the kernels, after those in the cache.
void CpuRun::pack_keys_and_values() {
    using enum TensorId;
    if (cache_ != nullptr) {
        packed_ = cache_->room_for(d_, kernels_);
    } else {
        packed_ = packed_rows(d_, kernels_, d_.Tk);
        packed_.memory = machine_.packed_for(packed_.count());
    }
    const auto is_read = [this](TensorId by, std::int64_t g) {
        for (std::int64_t h = 0; h < d_.H; ++h)
            if (d_.kv_head(h) == g && dirty_.has(by, h))
                return true;
        return false;
    };
    if (first_key_ == d_.Tk)
        return;
    const std::int64_t numbers = packed_.heads * (d_.Tk - first_key_) * (packed_.dk + packed_.dv);
    for_tasks(2 * packed_.heads, 16 * numbers, [&](std::int64_t task, int) {
        const std::int64_t n = task / 2, b = n / d_.Hkv, g = n % d_.Hkv;
        if (task % 2 == 0 && is_read(scores, g))
            pack_transposed_panels(kernels_, keys(b, g), packed_.keys(n), first_key_);
        if (task % 2 == 1 && is_read(head_out, g))
            pack_rows(kernels_, values(b, g), packed_.values(n), first_key_, packed_.capacity);
    });
}

} // namespace headscope::cpu
