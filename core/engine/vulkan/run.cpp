#include "core/engine/vulkan/run.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/range_fault.h"
#include "core/engine/vulkan/unsigned.h"
#include "core/engine/vulkan/vulkan_engine.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace headscope::vulkan {

namespace {

using enum TensorId;

constexpr std::uint64_t slab_bytes = 256ULL << 20; ///< largest size of one (Tq, Tk) stage on the device
constexpr std::int64_t fault_rows =
    64; ///< rows of a head per part; faults of projections are located to one part

std::uint64_t float_bytes(std::int64_t count) {
    return u64(count) * sizeof(float);
}

/// Calls take(id, tensor) for every tensor of the problem.
template<class Take>
void for_inputs(const Problem& problem, const Take& take) {
    for (int id = 0; id < tensor_count; ++id)
        if (const TensorPtr tensor = input_tensor(problem, static_cast<TensorId>(id)))
            take(static_cast<TensorId>(id), tensor);
}

} // namespace

double flops_at_once(const GpuInfo& info) {
    return info.software ? 5e8 : 2e11;
}

void fail_keys(const GpuInfo& info) {
    throw Error(
        ErrorKind::machine,
        tr("run.keys_one_head_larger",
           "the keys of one head are larger than {} can read at once; let the CPU do it (--device cpu)",
           info.name));
}

void require_kernels(const Problem& problem) {
    if (problem.parts().query_scale || has_rule<ChunkedCausalMask>(problem.mask))
        throw Error(ErrorKind::machine,
                    tr("vulkan_run.no_scaled_queries_or_chunks",
                       "queries that are scaled by position, and masks of chunks, are computed on the CPU "
                       "alone; use --device cpu"));
    if (problem.parts().value_norm)
        throw Error(ErrorKind::machine,
                    tr("vulkan_run.no_value_norms",
                       "norms of values are computed on the CPU alone; use --device cpu"));
    if (problem.relative)
        throw Error(ErrorKind::machine,
                    tr("vulkan_run.no_relative_terms",
                       "scores with terms by relative position are computed on the CPU alone; use --device "
                       "cpu"));
}

Scoring scoring_of(const Problem& problem, const MaskRows& mask) {
    const MaskRows::Stored stored = mask.stored();
    return {.dims = problem.dims,
            .before = stored.reach_back,
            .after = stored.reach_ahead,
            .has_allowed = !stored.allowed.empty(),
            .has_add = !stored.add.empty(),
            .has_sink = problem.parts().sink,
            .allowed = stored.allowed_strides,
            .add = stored.add_strides,
            .scale = std::sqrt(static_cast<float>(problem.dims.dk)) * problem.temperature,
            .cap = problem.score_cap};
}

VulkanRun::VulkanRun(const Problem& problem, StageSet wanted, Progress& progress, Gpu& gpu, Arena& arena,
                     Kernels& kernels)
    : problem_(problem), d_(problem.dims), wanted_(wanted & StageSet::of(problem.parts())),
      progress_(progress), gpu_(gpu), arena_(arena), kernels_(kernels), mask_(problem.mask, problem.dims),
      graph_(graph_of(structure_of(problem, mask_))), scoring_(scoring_of(problem, mask_)),
      attends_(wants_any(
          {scores, scaled, masked, weights, weights_mean, head_out, concat, contributions, output})) {
    trace_.dims = d_;
    trace_.parts = problem.parts();
}

bool VulkanRun::wants_any(std::initializer_list<TensorId> ids) const {
    return std::ranges::any_of(ids, [this](TensorId id) { return wants(id); });
}

Tensor& VulkanRun::make(TensorId id) {
    auto& slot = tensors_[static_cast<std::size_t>(id)];
    if (slot == nullptr)
        slot = std::make_shared<Tensor>(tensor_info(id).shape(d_));
    return *slot;
}

std::uint64_t VulkanRun::rows_bytes(const Slab& s, std::int64_t width) const {
    return float_bytes(s.entries * s.heads * s.rows * width);
}

/// Halves batch entries, then heads, then rows, until one dispatch can compute each slab.
void VulkanRun::plan(const Slab& s) {
    const std::uint64_t most = std::min(slab_bytes, gpu_.info().binding_bytes);
    const double flops = 2.0 * static_cast<double>(s.entries * s.heads * s.rows) *
                         static_cast<double>(d_.Tk * (d_.dk + d_.dv));
    const bool squared = wants_any({scores, scaled, masked, weights, weights_mean});
    const bool fits = kernels_.fits(scoring_, s) && (!squared || rows_bytes(s, d_.Tk) <= most) &&
                      (!wants(contributions) || rows_bytes(s, d_.D) <= most);
    const bool soon = flops <= flops_at_once(gpu_.info());
    const bool single = s.entries == 1 && s.heads == 1 && s.rows == 1;
    if ((fits && soon) || (fits && single)) {
        slabs_.push_back(s);
        return;
    }
    if (single)
        fail_keys(gpu_.info());
    Slab first = s, second = s;
    const auto halve = [](std::int64_t& extent, std::int64_t& rest, std::int64_t& begin) {
        extent /= 2;
        rest -= extent;
        begin += extent;
    };
    if (s.entries > 1)
        halve(first.entries, second.entries, second.b);
    else if (s.heads > 1)
        halve(first.heads, second.heads, second.h);
    else
        halve(first.rows, second.rows, second.row);
    plan(first);
    plan(second);
}

void VulkanRun::reserve() {
    std::vector<Arena::SlotRequest> wants_bytes{{Slot::nothing, 64},
                                                {Slot::faults, fault_count * sizeof(std::uint32_t)}};
    const auto want = [&](Slot slot, std::uint64_t bytes) { wants_bytes.push_back({slot, bytes}); };
    for_inputs(problem_, [&](TensorId id, const TensorPtr& tensor) {
        want(slot_of(id), float_bytes(tensor->count()));
    });
    want(slot_of(q), float_bytes(d_.B * d_.H * d_.Tq * padded(d_.dk)));
    want(slot_of(k), float_bytes(d_.B * d_.Hkv * d_.Tk * padded(d_.dk)));
    want(slot_of(v), float_bytes(d_.B * d_.Hkv * d_.Tk * padded(d_.dv)));
    if (attends_) {
        const std::int64_t rows = d_.B * d_.H * d_.Tq;
        want(slot_of(gain), float_bytes(2 * d_.H));
        want(Slot::statistics, float_bytes(2 * rows));
        want(slot_of(head_out), float_bytes(rows * d_.dv));
        want(slot_of(concat), float_bytes(rows * d_.dv));
        if (wants(output))
            want(slot_of(output), float_bytes(d_.B * d_.Tq * d_.D));
        const MaskRows::Stored stored = mask_.stored();
        if (scoring_.has_allowed)
            want(Slot::allowed, (stored.allowed.size() + 3) / 4 * 4);
        if (scoring_.has_add)
            want(Slot::add, stored.add.size_bytes());
        const auto largest = [&](std::int64_t width) {
            std::uint64_t most = 0;
            for (const Slab& slab : slabs_)
                most = std::max(most, rows_bytes(slab, width));
            return most;
        };
        for (const TensorId stage : rectangle_stages)
            if (wants(stage) || (stage == weights && wants(weights_mean)))
                want(slot_of(stage), largest(d_.Tk));
        if (wants(contributions))
            want(slot_of(contributions), largest(d_.D));
    }
    arena_.reserve(wants_bytes);
}

void VulkanRun::upload() {
    for_inputs(problem_, [&](TensorId id, const TensorPtr& tensor) { arena_.upload(slot_of(id), tensor); });
    if (attends_) {
        std::vector<float> by_head(u64(2 * d_.H)); // gains, then sinks
        for (std::int64_t h = 0; h < d_.H; ++h)
            by_head[u64(h)] = problem_.gain(h);
        if (const Tensor* const sinks = problem_.input(sink))
            std::ranges::copy(sinks->values(), by_head.begin() + d_.H);
        arena_.upload(slot_of(gain), std::as_bytes(std::span(by_head)));
        const MaskRows::Stored stored = mask_.stored();
        if (scoring_.has_allowed)
            arena_.upload(Slot::allowed, std::as_bytes(stored.allowed));
        if (scoring_.has_add)
            arena_.upload(Slot::add, std::as_bytes(stored.add));
    }
    arena_.fill(Slot::faults, no_fault);
    arena_.fill(Slot::nothing, 0);
}

/// Multiplies tokens by W, head by head.
void VulkanRun::project(TensorId stage) {
    const Slot to = slot_of(stage);
    const bool query = stage == q;
    const std::int64_t T = query ? d_.Tq : d_.Tk, D = query ? d_.D : d_.Dkv;
    const std::int64_t heads = query ? d_.H : d_.Hkv, width = stage == v ? d_.dv : d_.dk;
    if (padded(width) != width)
        arena_.fill(to, 0);
    const std::vector<TensorId> inputs = graph_.inputs(stage);
    const bool biased = inputs.size() > 2;
    kernels_.multiply({.x = slot_of(inputs[0]),
                       .x_step = u64(T * D),
                       .x_stride = u64(D),
                       .W = slot_of(inputs[1]),
                       .w_stride = u64(heads * width),
                       .bias = biased ? slot_of(inputs[2]) : Slot::nothing,
                       .y = to,
                       .y_step = u64(heads * T * padded(width)),
                       .y_stride = u64(padded(width)),
                       .y_width = u64(width),
                       .y_block = u64(T * padded(width)),
                       .stack = u64(d_.B),
                       .rows = u64(T),
                       .cols = u64(heads * width),
                       .depth = u64(D),
                       .fault = query        ? Fault::q
                                : stage == k ? Fault::k
                                             : Fault::v,
                       .row_step = u64(T),
                       .limit = problem_.qkv_limit});
}

/// Calls take(b, h, i, numbers) for every row of a slot that is stored head by head.
template<class Take>
void VulkanRun::for_stored_rows(Slot slot, const Shape& heads, const Take& take) {
    const std::int64_t count = heads[1], T = heads[2], stored = padded(heads[3]);
    std::vector<float> all(u64(d_.B * count * T * stored));
    download(slot, 0, std::span(all));
    const float* from = all.data();
    for (std::int64_t b = 0; b < d_.B; ++b)
        for (std::int64_t h = 0; h < count; ++h)
            for (std::int64_t i = 0; i < T; ++i, from += stored)
                take(b, h, i, from);
}

void VulkanRun::download_heads(Slot slot, TensorId stage) {
    if (!wants(stage))
        return;
    Tensor& to = make(stage);
    const std::int64_t width = to.shape()[3];
    if (padded(width) == width)
        return download(slot, 0, to.values());
    for_stored_rows(slot, to.shape(), [&](auto b, auto h, auto i, const float* from) {
        std::copy_n(from, width, to.data() + to.offset(b, h, i, 0));
    });
}

/// Stores the same numbers token by token.
void VulkanRun::download_joined(Slot slot, TensorId stage, TensorId heads) {
    if (!wants(stage))
        return;
    Tensor& to = make(stage);
    const Shape shape = tensor_info(heads).shape(d_);
    for_stored_rows(slot, shape, [&](auto b, auto h, auto i, const float* from) {
        std::copy_n(from, shape[3], to.data() + to.offset(b, i, h * shape[3]));
    });
}

void VulkanRun::download_stage(Slot slot, TensorId stage, const Slab& s, std::int64_t width) {
    Tensor& tensor = make(stage);
    const auto first = static_cast<std::size_t>(tensor.offset(s.b, s.h, s.row, 0));
    const auto count = static_cast<std::size_t>(s.entries * s.heads * s.rows * width);
    download(slot, 0, tensor.values().subspan(first, count));
}

/// Adds the weights of a slab's heads to the sums in weights_mean.
void VulkanRun::add_to_mean(const Slab& s) {
    Tensor& mean = make(weights_mean);
    const std::int64_t cells = s.rows * d_.Tk;
    std::vector<float> kept;
    const float* from = nullptr;
    if (wants(weights))
        from = make(weights).data() + make(weights).offset(s.b, s.h, s.row, 0);
    else {
        kept.resize(u64(s.entries * s.heads * cells));
        download(slot_of(weights), 0, std::span(kept));
        from = kept.data();
    }
    for (std::int64_t b = 0; b < s.entries; ++b)
        for (std::int64_t h = 0; h < s.heads; ++h, from += cells) {
            float* const to = mean.data() + mean.offset(s.b + b, s.row, 0);
            std::transform(from, from + cells, to, to, std::plus<>());
        }
}

void VulkanRun::attend(const Slab& s) {
    kernels_.attend(scoring_, s);
    for (const TensorId stage : rectangle_stages)
        if (wants(stage) || (stage == weights && wants(weights_mean)))
            kernels_.rectangle(scoring_, s, stage, 0, d_.Tk, slot_of(stage));
    if (wants(contributions))
        for (std::int64_t b = 0; b < s.entries; ++b)
            kernels_.multiply({.x = slot_of(concat),
                               .x_at = u64((((s.b + b) * d_.Tq + s.row) * d_.H + s.h) * d_.dv),
                               .x_step = u64(d_.dv),
                               .x_stride = u64(d_.H * d_.dv),
                               .W = slot_of(W_O),
                               .w_at = u64(s.h * d_.dv * d_.D),
                               .w_step = u64(d_.dv * d_.D),
                               .w_stride = u64(d_.D),
                               .y = slot_of(contributions),
                               .y_at = u64(b * s.heads * s.rows * d_.D),
                               .y_step = u64(s.rows * d_.D),
                               .y_stride = u64(d_.D),
                               .y_width = u64(d_.D),
                               .stack = u64(s.heads),
                               .rows = u64(s.rows),
                               .cols = u64(d_.D),
                               .depth = u64(d_.dv),
                               .fault = Fault::contributions,
                               .row_at = u64(((s.b + b) * d_.H + s.h) * d_.Tq + s.row),
                               .row_step = u64(d_.Tq)});
    check_rows();
    for (const TensorId stage : rectangle_stages)
        if (wants(stage))
            download_stage(slot_of(stage), stage, s, d_.Tk);
    if (wants(weights_mean))
        add_to_mean(s);
    if (wants(contributions))
        download_stage(slot_of(contributions), contributions, s, d_.D);
}

void VulkanRun::project_output() {
    kernels_.multiply({.x = slot_of(concat),
                       .x_step = u64(d_.Tq * d_.H * d_.dv),
                       .x_stride = u64(d_.H * d_.dv),
                       .W = slot_of(W_O),
                       .w_stride = u64(d_.D),
                       .bias = problem_.weights.b_O != nullptr ? slot_of(b_O) : Slot::nothing,
                       .y = slot_of(output),
                       .y_step = u64(d_.Tq * d_.D),
                       .y_stride = u64(d_.D),
                       .y_width = u64(d_.D),
                       .stack = u64(d_.B),
                       .rows = u64(d_.Tq),
                       .cols = u64(d_.D),
                       .depth = u64(d_.H * d_.dv),
                       .fault = Fault::output,
                       .row_step = u64(d_.Tq),
                       .part_rows = u64(fault_rows)});
    check_projections();
    download(slot_of(output), 0, make(output).values());
}

std::vector<std::uint32_t> VulkanRun::faults() {
    std::vector<std::uint32_t> found(fault_count);
    download(Slot::faults, 0, std::span(found));
    return found;
}

void VulkanRun::check_projections() {
    const std::vector<std::uint32_t> found = faults();
    const auto row_of = [&](Fault fault) { return found[static_cast<std::size_t>(fault)]; };
    struct Row {
        Fault fault;
        TensorId stage;
        std::int64_t T, heads, width;
    };
    for (const auto& [fault, stage, T, heads, width] : {Row{Fault::q, q, d_.Tq, d_.H, d_.dk},
                                                        {Fault::k, k, d_.Tk, d_.Hkv, d_.dk},
                                                        {Fault::v, v, d_.Tk, d_.Hkv, d_.dv},
                                                        {Fault::output, output, d_.Tq, 1, d_.D}})
        if (const std::int64_t part = row_of(fault); part != no_fault) {
            const std::int64_t row = part / heads * fault_rows;
            engine::fail_projection(tensor_info(stage).name, tensor_info(graph_.inputs(stage)[1]).name,
                                    row / T, row % T, part % heads * width);
        }
    for (const TensorInfo& stage : stage_table())
        if (found[static_cast<std::size_t>(Fault::head_rows) + static_cast<std::size_t>(stage.id)] !=
            no_fault)
            engine::fail_head_rows(stage.id);
}

void VulkanRun::fail_score(TensorId stage, std::int64_t number) {
    const std::int64_t i = number % d_.Tq, h = number / d_.Tq % d_.H, b = number / d_.Tq / d_.H;
    const Slab row{.b = b, .h = h, .row = i};
    const Tensor values = recompute(gpu_, arena_, kernels_, scoring_, stage, row, 0, d_.Tk);
    const auto all = values.values();
    const auto bad = std::ranges::find_if(all, [&](float value) {
        return !std::isfinite(value) && (stage != masked || value > 0 || std::isnan(value));
    });
    const std::int64_t key = bad - all.begin();
    if (stage == masked)
        engine::fail_row(tr("common.masked_score_key", "the masked score of key {}", key), d_, b, h, i,
                         tr("common.make_additive_mask_smaller", "make the additive mask smaller"));
    engine::fail_row(tr("common.score_key", "the score of key {}", key), d_, b, h, i,
                     stage == scores ? tr("common.make_x_w_q", "make X, W_Q or W_K smaller")
                                     : tr("common.raise_temperature_make_x",
                                          "raise the temperature, or make X, W_Q or W_K smaller"));
}

void VulkanRun::check_rows() {
    const std::vector<std::uint32_t> found = faults();
    const auto row_of = [&](Fault fault) { return found[static_cast<std::size_t>(fault)]; };
    for (const auto& [fault, stage] : {std::pair(Fault::score, scores), std::pair(Fault::scaled, scaled),
                                       std::pair(Fault::masked, masked)})
        if (row_of(fault) != no_fault)
            fail_score(stage, row_of(fault));
    const auto fail = [&](std::uint32_t number, const std::string& what, const std::string& remedy) {
        engine::fail_row(what, d_, number / d_.Tq / d_.H, number / d_.Tq % d_.H, number % d_.Tq, remedy);
    };
    if (row_of(Fault::value) != no_fault)
        fail(row_of(Fault::value), tr("common.output", "the output"),
             tr("common.make_x_w_v", "make X, W_V or the head gain smaller"));
    if (row_of(Fault::contributions) != no_fault)
        fail(row_of(Fault::contributions), tr("common.contribution", "the contribution"),
             tr("common.make_x_w_v_2", "make X, W_V, W_O or the head gain smaller"));
}

void VulkanRun::list_masked_rows() {
    std::vector<float> statistics(u64(2 * d_.B * d_.H * d_.Tq));
    download(Slot::statistics, 0, std::span(statistics));
    for (std::int64_t row = 0; row < d_.B * d_.H * d_.Tq; ++row)
        if (statistics[u64(2 * row + 1)] == 0.0F)
            trace_.fully_masked.push_back({row / d_.Tq / d_.H, row / d_.Tq % d_.H, row % d_.Tq});
}

/// Computes queries, keys and values, and the per-head stages in the same buffers.
void VulkanRun::make_heads() {
    StageSet needed = wanted_;
    if (attends_)
        needed = needed.with(q_heads).with(k_heads).with(v_heads);
    needed = graph_.with_sources(needed);
    for (const TensorId stage : {q, k, v})
        if (needed.has(stage))
            project(stage);
    check_projections();
    for (const TensorId heads : {q_heads, k_heads, v_heads}) {
        const std::vector<TensorId> steps = graph_.steps_to(heads);
        const Slot slot = slot_of(steps.front());
        download_joined(slot, steps.front(), heads);
        for (const TensorId stage : std::span(steps).subspan(1)) {
            if (!needed.has(stage))
                continue;
            kernels_.make_head_rows(problem_, graph_, stage, slot);
            check_projections();
            download_heads(slot, stage);
        }
    }
}

Trace VulkanRun::compute() {
    progress_.check();
    if (attends_)
        plan({.entries = d_.B, .heads = d_.H, .rows = d_.Tq});
    reserve();
    upload();
    make_heads();
    if (attends_) {
        if (wants(weights_mean))
            std::ranges::fill(make(weights_mean).values(), 0.0F);
        for (std::size_t i = 0; i < slabs_.size(); ++i) {
            progress_.check();
            attend(slabs_[i]);
            progress_.report(static_cast<float>(i + 1) / static_cast<float>(slabs_.size()));
        }
        if (wants(weights_mean))
            for (float& value : make(weights_mean).values())
                value /= static_cast<float>(d_.H);
        if (wants(head_out))
            download(slot_of(head_out), 0, make(head_out).values());
        if (wants(concat))
            download(slot_of(concat), 0, make(concat).values());
        if (wants(output))
            project_output();
        list_masked_rows();
    }
    for (const TensorInfo& info : stage_table())
        if (wants(info.id))
            trace_.slot(info.id) = tensors_[static_cast<std::size_t>(info.id)];
    if (wants(x))
        trace_.slot(x) = problem_.x;
    return std::move(trace_);
}

Tensor recompute(Gpu& gpu, Arena& arena, Kernels& kernels, const Scoring& scoring, TensorId stage,
                 const Slab& rows, std::int64_t first_key, std::int64_t keys) {
    Tensor values(Shape{rows.rows, keys});
    arena.add({Slot::rectangle, float_bytes(values.count())});
    kernels.rectangle(scoring, rows, stage, first_key, keys, Slot::rectangle);
    gpu.download(arena.buffer(Slot::rectangle), 0, std::as_writable_bytes(values.values()));
    return values;
}

} // namespace headscope::vulkan
