#include "core/base/error.h"
#include "core/engine/cpu/projections.h"
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

void CpuRun::project(std::span<const Columns> all) {
    std::vector<WideProduct>& products = machine_.products;
    products.clear();
    for (const Columns& c : all) {
        products.push_back(c.product());
        if (c.first % kernels_.panel == 0)
            if (const float* const panels = cached_panels(c.W, machine_, progress_); panels != nullptr)
                products.back().panels = panels + c.first * c.W->shape()[0];
        products.back().C = make(c.id).data() + c.first;
        products.back().C_stride = c.W->shape()[1];
    }
    multiply_all(products, machine_, progress_, [&](const ProductPart& part) {
        const Columns& c = all[part.product];
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
        pack();
}

/// The norm, rotation or split of each head's rows.
HeadRowStep CpuRun::head_row_step(const TensorInfo& stage) const {
    const Tensor& from = computed_stage(source_of(stage.inputs[0], parts_));
    const Shape& shape = from.shape();
    const bool is_query = head_axis(stage, d_).kv == false;
    HeadRowStep step{.heads = is_query ? d_.H : d_.Hkv,
                     .width = stage.axes[3] == Axis::dv ? d_.dv : d_.dk,
                     .norm_eps = problem_.norm_eps};
    step.from = shape.rank() == 4
                    ? HeadVectors{from.data(), shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]}
                    : HeadVectors{from.data(), shape[1] * shape[2], step.width, shape[2]};
    switch (stage.operation) {
    case Operation::head_norm:
    case Operation::joint_norm:
        step.kind =
            stage.operation == Operation::head_norm ? HeadRowStep::Kind::norm : HeadRowStep::Kind::joint_norm;
        step.weight = problem_.input(stage.inputs[1])->data();
        break;
    case Operation::rotation:
        step.kind = HeadRowStep::Kind::rotation;
        step.cos = problem_.rotary->cos.get();
        step.sin = problem_.rotary->sin.get();
        break;
    default:
        break;
    }
    return step;
}

void CpuRun::make_head_rows(const TensorInfo& stage) {
    if (!compute_head_rows(head_row_step(stage), make(stage.id),
                           [&](std::int64_t h) { return dirty_.has(stage.id, h); }))
        engine::fail_head_rows(stage.id);
}

/// The values are read in place, because v_heads has the same numbers.
HeadVectors CpuRun::vectors(TensorId columns, TensorId heads, std::int64_t width) const {
    const bool in_heads = reads_heads_ && columns != heads;
    const Tensor& from = computed_stage(in_heads ? heads : columns);
    const Shape& shape = from.shape();
    return in_heads ? HeadVectors{from.data(), shape[1] * shape[2] * width, shape[2] * width, width}
                    : HeadVectors{from.data(), shape[1] * shape[2], width, shape[2]};
}

} // namespace headscope::cpu
