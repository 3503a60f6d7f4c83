#include "core/engine/vulkan/attention_run.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/range_fault.h"
#include "core/engine/vulkan/unsigned.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace headscope::vulkan {

namespace {

using enum TensorId;

static_assert(3 * most_rows <= most_row_steps);
constexpr std::uint64_t slab_bytes = 256ULL << 20; ///< largest size of one (Tq, Tk) stage on the device

std::uint64_t float_bytes(std::int64_t count) {
    return u64(count) * sizeof(float);
}

/// The slots of the tables of a step.
std::array<Slot, 2> table_slots(graph::Op op, std::size_t n) {
    return op == graph::Op::rotate ? std::array{slot_of(rotary_cos), slot_of(rotary_sin)}
                                   : std::array{head_slots[n].norm, Slot::nothing};
}

/// Keys and values of the same tokens as the queries share their slot.
Slot source_slot(const AttentionNodes& a, std::size_t n) {
    return a.heads[0].computed_here && a.heads[n].source == a.heads[0].source ? slot_of(x)
                                                                              : head_slots[n].source;
}

Scoring scoring_of(const AttentionNodes& a, const Dims& dims, const run::Values& values) {
    const double root = a.scale.root_of > 0 ? std::sqrt(static_cast<double>(a.scale.root_of)) : 1.0;
    const double temperature =
        a.temperature == no_node ? 1.0 : static_cast<double>(*values[a.temperature].data());
    return {.dims = dims,
            .before = a.mask.before.value_or(MaskRows::Stored::any_distance),
            .after = a.mask.after.value_or(MaskRows::Stored::any_distance),
            .has_allowed = a.mask_inputs.allowed.node != no_node,
            .has_add = a.mask_inputs.added.node != no_node,
            .has_sink = a.sinks != no_node,
            .allowed = a.mask_inputs.allowed.strides,
            .add = a.mask_inputs.added.strides,
            .scale = static_cast<float>(root * temperature / a.scale.factor),
            .cap = static_cast<float>(a.scale.cap)};
}

/// The kernels read values even if no head output is wanted: those that are computed, or zeros of width 1.
Dims dims_of(const AttentionNodes& a) {
    Dims dims = a.dims;
    if (a.stage(head_out) == no_node)
        dims.dv = a.heads[2].computed_here ? a.heads[2].width : 1;
    return dims;
}

bool reads_zeros(const AttentionNodes& a) {
    return a.stage(head_out) == no_node && !a.heads[2].computed_here;
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

AttentionRun::AttentionRun(const graph::Graph& graph, const AttentionNodes& nodes, run::Values& values,
                           Progress& progress, Gpu& gpu, Arena& arena, Kernels& kernels)
    : graph_(graph), a_(nodes), values_(values), progress_(progress), gpu_(gpu), arena_(arena),
      kernels_(kernels), d_(dims_of(nodes)), scoring_(scoring_of(nodes, d_, values)) {}

std::uint64_t AttentionRun::rows_bytes(const Slab& s, std::int64_t width) const {
    return float_bytes(s.entries * s.heads * s.rows * width);
}

/// Halves batch entries, then heads, then rows, until one dispatch can compute each slab.
void AttentionRun::plan(const Slab& s) {
    const std::uint64_t most = std::min(slab_bytes, gpu_.info().binding_bytes);
    const double flops = 2.0 * static_cast<double>(s.entries * s.heads * s.rows) *
                         static_cast<double>(d_.Tk * (d_.dk + d_.dv));
    const bool squared = std::ranges::any_of(rectangle_stages, [this](TensorId id) { return wants(id); }) ||
                         wants(weights_mean);
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

void AttentionRun::reserve() {
    std::vector<Arena::SlotRequest> requests{{Slot::nothing, 64},
                                             {Slot::faults, fault_count * sizeof(std::uint32_t)}};
    const auto want = [&](Slot slot, std::uint64_t bytes) { requests.push_back({slot, bytes}); };
    const auto want_node = [&](Slot slot, NodeId node) {
        if (node != no_node)
            want(slot, float_bytes(values_[node].count()));
    };
    for (std::size_t n = 0; n < a_.heads.size(); ++n) {
        const HeadNodes& heads = a_.heads[n];
        want(head_slots[n].heads,
             float_bytes(std::max<std::int64_t>(heads.B * heads.count * heads.T * padded(heads.width), 4)));
        if (!heads.computed_here)
            continue;
        want_node(source_slot(a_, n), heads.source);
        want_node(head_slots[n].W, heads.W);
        want_node(head_slots[n].b, heads.b);
        for (const RowsNode& rows : heads.rows)
            for (const std::size_t t : {0U, 1U})
                want_node(table_slots(rows.op, n)[t], rows.tables[t]);
    }
    if (a_.attends()) {
        const std::int64_t rows = d_.B * d_.H * d_.Tq;
        if (reads_zeros(a_))
            want(slot_of(v), float_bytes(d_.B * d_.Hkv * d_.Tk * padded(d_.dv)));
        want(slot_of(gain), float_bytes(2 * d_.H));
        want(Slot::statistics, float_bytes(2 * rows));
        want(slot_of(head_out), float_bytes(rows * d_.dv));
        want(slot_of(concat), float_bytes(rows * d_.dv));
        want_node(slot_of(W_O), a_.W_O);
        want_node(slot_of(b_O), a_.b_O);
        if (wants(output))
            want(slot_of(output), float_bytes(d_.B * d_.Tq * d_.D));
        if (scoring_.has_allowed)
            want(Slot::allowed, u64(values_[a_.mask_inputs.allowed.node].count() + 3) / 4 * 4);
        want_node(Slot::add, a_.mask_inputs.added.node);
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
    arena_.reserve(requests);
}

/// Rows that another step has, in the kernels' format: each padded with zeros.
void AttentionRun::upload_heads(const HeadNodes& heads, Slot slot) {
    const std::int64_t stored = padded(heads.width);
    if (stored == heads.width)
        return arena_.upload(slot, std::as_bytes(values_[heads.heads].values()));
    std::vector<float> rows(u64(heads.B * heads.count * heads.T * stored), 0.0F);
    const float* from = values_[heads.heads].data();
    for (std::size_t at = 0; at < rows.size(); at += u64(stored), from += heads.width)
        std::copy_n(from, heads.width, rows.data() + at);
    arena_.upload(slot, std::as_bytes(std::span(rows)));
}

void AttentionRun::upload_masks() {
    if (scoring_.has_allowed) {
        const std::span<const float> flags = values_[a_.mask_inputs.allowed.node].values();
        allowed_.resize(flags.size());
        std::ranges::transform(flags, allowed_.begin(), [](float flag) { return flag != 0 ? 1 : 0; });
        arena_.upload(Slot::allowed, std::as_bytes(std::span(allowed_)));
    }
    if (scoring_.has_add)
        arena_.upload(Slot::add, values_.owner(a_.mask_inputs.added.node));
}

void AttentionRun::upload() {
    const auto upload_node = [this](Slot slot, NodeId node) {
        if (node != no_node)
            arena_.upload(slot, values_.owner(node));
    };
    for (std::size_t n = 0; n < a_.heads.size(); ++n) {
        const HeadNodes& heads = a_.heads[n];
        if (!heads.computed_here) {
            if (heads.heads != no_node)
                upload_heads(heads, head_slots[n].heads);
            continue;
        }
        upload_node(source_slot(a_, n), heads.source);
        upload_node(head_slots[n].W, heads.W);
        upload_node(head_slots[n].b, heads.b);
        for (const RowsNode& rows : heads.rows)
            for (const std::size_t t : {0U, 1U})
                upload_node(table_slots(rows.op, n)[t], rows.tables[t]);
    }
    if (a_.attends()) {
        std::vector<float> by_head(u64(2 * d_.H), 1.0F); // gains, then sinks
        if (a_.gains != no_node)
            std::ranges::copy(values_[a_.gains].values(), by_head.begin());
        if (a_.sinks != no_node)
            std::ranges::copy(values_[a_.sinks].values(), by_head.begin() + d_.H);
        arena_.upload(slot_of(gain), std::as_bytes(std::span(by_head)));
        upload_node(slot_of(W_O), a_.W_O);
        upload_node(slot_of(b_O), a_.b_O);
        upload_masks();
        if (reads_zeros(a_))
            arena_.fill(slot_of(v), 0);
    }
    arena_.fill(Slot::faults, no_fault);
    arena_.fill(Slot::nothing, 0);
}

/// Multiplies tokens by W, head by head.
void AttentionRun::project(const HeadNodes& heads, std::size_t n) {
    const HeadSlots& slots = head_slots[n];
    const std::int64_t stored = padded(heads.width);
    if (stored != heads.width)
        arena_.fill(slots.heads, 0);
    kernels_.multiply({.x = source_slot(a_, n),
                       .x_step = u64(heads.T * heads.depth),
                       .x_stride = u64(heads.depth),
                       .W = slots.W,
                       .w_stride = u64(heads.count * heads.width),
                       .bias = heads.b == no_node ? Slot::nothing : slots.b,
                       .y = slots.heads,
                       .y_step = u64(heads.count * heads.T * stored),
                       .y_stride = u64(stored),
                       .y_width = u64(heads.width),
                       .y_block = u64(heads.T * stored),
                       .stack = u64(heads.B),
                       .rows = u64(heads.T),
                       .cols = u64(heads.count * heads.width),
                       .depth = u64(heads.depth),
                       .fault = slots.fault,
                       .row_step = u64(heads.T),
                       .blocks = u64(heads.count),
                       .limit = heads.limit});
}

HeadRows AttentionRun::rows_of(const HeadNodes& heads, const RowsNode& rows, std::size_t n) const {
    HeadRows step{.op = rows.op,
                  .name = name_of(rows.node),
                  .eps = rows.eps,
                  .B = heads.B,
                  .heads = heads.count,
                  .T = heads.T,
                  .width = heads.width,
                  .fault = u32(std::ssize(row_steps_))};
    for (const std::size_t t : {0U, 1U})
        if (rows.tables[t] != no_node) {
            const Tensor& table = values_[rows.tables[t]];
            const std::int64_t entries = table.shape().rank() == 3 ? table.shape()[0] : 1;
            step.tables[t] = {table_slots(rows.op, n)[t], entries, table.count() / entries};
        }
    return step;
}

/// Copies the rows of heads to a node, as they are stored or, for the projection, token by token.
void AttentionRun::download_heads(Slot slot, const HeadNodes& heads, NodeId node) {
    Tensor* const to = values_.out(node);
    if (to == nullptr)
        return;
    const bool side_by_side = to->shape().rank() == 3;
    const std::int64_t stored = padded(heads.width);
    if (!side_by_side && stored == heads.width)
        return download(slot, 0, to->values());
    std::vector<float> all(u64(heads.B * heads.count * heads.T * stored));
    download(slot, 0, std::span(all));
    const float* from = all.data();
    for (std::int64_t b = 0; b < heads.B; ++b)
        for (std::int64_t h = 0; h < heads.count; ++h)
            for (std::int64_t i = 0; i < heads.T; ++i, from += stored)
                std::copy_n(from, heads.width,
                            to->data() +
                                (side_by_side ? to->offset(b, i, h * heads.width) : to->offset(b, h, i, 0)));
}

/// Computes queries, keys or values, and the steps on their rows in the same buffer.
void AttentionRun::make_heads(std::size_t n) {
    const HeadNodes& heads = a_.heads[n];
    const Slot slot = head_slots[n].heads;
    download_heads(slot, heads, heads.projected);
    for (const RowsNode& rows : heads.rows) {
        kernels_.make_head_rows(rows_of(heads, rows, n), slot);
        row_steps_.push_back(rows.node);
        check_projections();
        download_heads(slot, heads, rows.node);
    }
}

void AttentionRun::download_stage(Slot slot, TensorId stage, const Slab& s, std::int64_t width) {
    Tensor& tensor = *out(stage);
    const auto first = static_cast<std::size_t>(tensor.offset(s.b, s.h, s.row, 0));
    const auto count = static_cast<std::size_t>(s.entries * s.heads * s.rows * width);
    download(slot, 0, tensor.values().subspan(first, count));
}

/// Adds the weights of a slab's heads to the sums in weights_mean.
void AttentionRun::add_to_mean(const Slab& s) {
    Tensor& mean = *out(weights_mean);
    const std::int64_t cells = s.rows * d_.Tk;
    std::vector<float> kept;
    const float* from = nullptr;
    if (wants(weights))
        from = out(weights)->data() + out(weights)->offset(s.b, s.h, s.row, 0);
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

void AttentionRun::attend(const Slab& s) {
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
    engine::naming_layer(engine::layer_name(graph_.node(a_.stage(scores))), [this] { check_rows(); });
    for (const TensorId stage : rectangle_stages)
        if (wants(stage))
            download_stage(slot_of(stage), stage, s, d_.Tk);
    if (wants(weights_mean))
        add_to_mean(s);
    if (wants(contributions))
        download_stage(slot_of(contributions), contributions, s, d_.D);
}

void AttentionRun::project_output() {
    kernels_.multiply({.x = slot_of(concat),
                       .x_step = u64(d_.Tq * d_.H * d_.dv),
                       .x_stride = u64(d_.H * d_.dv),
                       .W = slot_of(W_O),
                       .w_stride = u64(d_.D),
                       .bias = a_.b_O != no_node ? slot_of(b_O) : Slot::nothing,
                       .y = slot_of(output),
                       .y_step = u64(d_.Tq * d_.D),
                       .y_stride = u64(d_.D),
                       .y_width = u64(d_.D),
                       .stack = u64(d_.B),
                       .rows = u64(d_.Tq),
                       .cols = u64(d_.D),
                       .depth = u64(d_.H * d_.dv),
                       .fault = Fault::output,
                       .row_step = u64(d_.Tq)});
    check_projections();
    download(slot_of(output), 0, out(output)->values());
}

void AttentionRun::list_masked_rows() {
    std::vector<float> statistics(u64(2 * d_.B * d_.H * d_.Tq));
    download(Slot::statistics, 0, std::span(statistics));
    for (std::int64_t row = 0; row < d_.B * d_.H * d_.Tq; ++row)
        if (statistics[u64(2 * row + 1)] == 0.0F)
            values_.empty_rows.push_back(
                {a_.stage(weights), row / d_.Tq / d_.H, row / d_.Tq % d_.H, row % d_.Tq});
}

void AttentionRun::compute() {
    progress_.check();
    if (a_.attends())
        plan({.entries = d_.B, .heads = d_.H, .rows = d_.Tq});
    reserve();
    upload();
    for (std::size_t n = 0; n < a_.heads.size(); ++n)
        if (a_.heads[n].computed_here)
            project(a_.heads[n], n);
    check_projections();
    for (std::size_t n = 0; n < a_.heads.size(); ++n)
        if (a_.heads[n].computed_here)
            make_heads(n);
    if (!a_.attends())
        return;
    if (wants(weights_mean))
        std::ranges::fill(out(weights_mean)->values(), 0.0F);
    for (std::size_t i = 0; i < slabs_.size(); ++i) {
        progress_.check();
        attend(slabs_[i]);
        const float done = static_cast<float>(i + 1) / static_cast<float>(slabs_.size());
        progress_.report(std::lerp(values_.progress_begin, values_.progress_end, done));
    }
    if (wants(weights_mean))
        for (float& value : out(weights_mean)->values())
            value /= static_cast<float>(d_.H);
    if (wants(head_out))
        download(slot_of(head_out), 0, out(head_out)->values());
    if (wants(concat))
        download(slot_of(concat), 0, out(concat)->values());
    if (wants(output))
        project_output();
    if (a_.stage(weights) != no_node)
        list_masked_rows();
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
