#include "core/base/error.h"
#include "core/engine/cpu/projections.h"
#include "core/engine/cpu/run.h"
#include "core/engine/range_fault.h"
#include "core/run/head_set.h"

#include <algorithm>
#include <cmath>

namespace headscope::cpu {

CpuRun::Projection CpuRun::projection(TensorId id) const {
    using enum TensorId;
    const Weights& w = problem_.weights;
    const Tensor* const kv = problem_.cross() ? problem_.x_kv.get() : problem_.x.get();
    switch (id) {
    case q:
        return {id, problem_.x.get(), w.W_Q, w.b_Q.get()};
    case k:
        return {id, kv, w.W_K, w.b_K.get()};
    case v:
        return {id, kv, w.W_V, w.b_V.get()};
    default:
        return {output, &computed_stage(concat), w.W_O, w.b_O.get()};
    }
}

void CpuRun::project(std::span<const Projection> all) {
    std::vector<WideProduct>& products = machine_.products;
    products.clear();
    for (const Projection& one : all) {
        const std::int64_t depth = one.x->shape().back(0), columns = one.W->shape()[1];
        products.push_back({.A = {one.x->data(), depth, one.x->count() / depth, depth},
                            .B = {one.W->data(), columns, depth, columns},
                            .bias = one.b == nullptr ? nullptr : one.b->data(),
                            .C = make(one.id).data(),
                            .C_stride = columns});
        products.back().panels = cached_panels(one.W, machine_, progress_);
    }
    multiply_all(products, machine_, progress_,
                 [&](const ProductPart& part) { fail_projection(all[part.product], part); });
}

void CpuRun::fail_projection(const Projection& projection, const ProductPart& part) const {
    const std::int64_t columns = projection.W->shape()[1], T = projection.x->shape()[1];
    const Tensor& y = computed_stage(projection.id);
    for (std::int64_t row = part.row; row < part.row + part.rows; ++row)
        for (std::int64_t c = part.first; c < part.first + part.count; ++c)
            if (!std::isfinite(y.data()[row * columns + c]))
                engine::fail_projection(projection.id, row / T, row % T, c);
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
    std::vector<Projection> all;
    all.reserve(3);
    for (const TensorId id : {q, k, v})
        if (needed.has(id))
            all.push_back(projection(id));
    if (!all.empty())
        project(all);
    if (parts_.qkv_limit)
        for (const Projection& one : all)
            for (float& y : make(one.id).values())
                y = std::clamp(y, -problem_.qkv_limit, problem_.qkv_limit);
    for (const TensorInfo& stage : stage_table())
        if (!stage.verb.empty() && needed.has(stage.id))
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
    const HeadRowStep step = head_row_step(stage);
    if (!compute_head_rows(step, run::all_heads(step.heads), make(stage.id)))
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
