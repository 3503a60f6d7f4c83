#include "core/engine/vulkan/kernels.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/vulkan/unsigned.h"

#include <algorithm>
#include <bit>

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t register_quads = 32; ///< vec4 of a query that an invocation keeps in registers
constexpr std::uint32_t out_quads_at_once = 16;
constexpr std::uint32_t most_bindings = 10;

/// Same layout as in assets/shaders/gemm.comp.
struct ProductPush {
    std::uint32_t rows, cols, depth, flags;
    std::uint32_t x_at, x_step, x_stride;
    std::uint32_t w_at, w_step, w_stride;
    std::uint32_t b_at;
    std::uint32_t y_at, y_step, y_stride, y_width, y_block;
    std::uint32_t fault, row_at, row_step, part_rows, part_blocks, block_at;
    float limit;
};

std::uint64_t x_span(const Product& p) {
    return (p.stack - 1) * p.x_step + (p.rows - 1) * p.x_stride + p.depth;
}
std::uint64_t w_span(const Product& p) {
    return (p.stack - 1) * p.w_step + (p.depth - 1) * p.w_stride + p.cols;
}
std::uint64_t y_span(const Product& p) {
    return (p.stack - 1) * p.y_step + (p.cols - 1) / p.y_width * p.y_block + (p.rows - 1) * p.y_stride +
           std::min(p.cols, p.y_width);
}

} // namespace

/// Same layout as in assets/shaders/attention.glsl.
struct Kernels::Push {
    std::uint32_t rows, first_row, Tq, Tk;
    std::uint32_t H, heads_per_group, first_head, row_at;
    std::uint32_t q_at, k_at, statistics_at, quads;
    std::uint32_t allowed_at, allowed_b, allowed_h, allowed_i;
    std::uint32_t add_at, add_b, add_h, add_i;
    std::int32_t before, after;
    float scale;
    std::uint32_t flags;
    float cap;
    std::uint32_t extra[7];
};

Kernels::Kernels(Gpu& gpu, Arena& arena, bool share)
    : gpu_(gpu), arena_(arena), share_(share || !gpu.info().software ? 1 : 0) {
    const GpuInfo& info = gpu.info();
    // Large tiles do not help software devices: their shared memory is ordinary memory.
    side_ = !info.software && info.invocations >= 256 && info.shared_bytes >= (24U << 10) ? 16 : 8;
    each_ = share_ == 1 ? 4 : 2; // software drivers compile unrolled loops slowly
    threads_ = info.software ? 32 : std::min(info.invocations, std::max(64U, info.subgroup));
    if (info.invocations < 64 || info.shared_bytes < (12U << 10) || info.bindings < most_bindings)
        throw Error(ErrorKind::machine,
                    tr("kernels.allows_workgroups_invocations",
                       "{} allows workgroups of {} invocations with {} bytes of shared memory and {} "
                       "buffers; Headscope needs 64, 12288 and 10; let the CPU do it (--device cpu)",
                       info.name, info.invocations, info.shared_bytes, info.bindings));
}

const GpuKernel& Kernels::kernel(std::string_view shader, std::uint32_t bindings,
                                 const Constants& constants) {
    const auto key = std::pair(shader, constants);
    if (const auto found = compiled_.find(key); found != compiled_.end())
        return found->second;
    return compiled_.emplace(key, gpu_.make_kernel(shader_code(shader), bindings, push_bytes, constants))
        .first->second;
}

void Kernels::multiply(const Product& p) {
    const auto both = [&](Product first, Product second) {
        multiply(first);
        multiply(second);
    };
    const bool y_fits = arena_.fits(y_span(p) * sizeof(float)),
               x_fits = arena_.fits(x_span(p) * sizeof(float));
    const bool w_fits = arena_.fits(w_span(p) * sizeof(float));
    const GpuGroups& most = gpu_.info().groups;
    Product first = p, second = p;
    if (y_fits && x_fits && w_fits && p.stack <= most[2] && groups_of(p.rows, each_ * side_) <= most[1])
        return multiply_at_once(p);
    if (p.stack > 1) {
        first.stack = p.stack / 2;
        second.stack -= first.stack;
        second.x_at += first.stack * p.x_step;
        second.w_at += first.stack * p.w_step;
        second.y_at += first.stack * p.y_step;
        second.row_at += first.stack * p.row_step;
        return both(first, second);
    }
    if (!y_fits && p.cols > p.y_width) {
        first.cols = p.cols / p.y_width / 2 * p.y_width;
        first.cols = std::max(first.cols, p.y_width);
        second.cols -= first.cols;
        second.w_at += first.cols;
        second.b_at += first.cols;
        second.y_at += first.cols / p.y_width * p.y_block;
        second.block_at += first.cols / p.y_width;
        return both(first, second);
    }
    if ((!y_fits || !x_fits || w_fits) && p.rows > 1) {
        first.rows = p.rows / 2;
        second.rows -= first.rows;
        second.x_at += first.rows * p.x_stride;
        second.y_at += first.rows * p.y_stride;
        second.row_at += first.rows;
        return both(first, second);
    }
    if (p.depth > 1) {
        first.depth = p.depth / 2;
        first.limit = 0;
        second.depth -= first.depth;
        second.x_at += first.depth;
        second.w_at += first.depth * p.w_stride;
        second.bias = Slot::nothing;
        second.accumulate = true;
        return both(first, second);
    }
    throw Error(
        ErrorKind::machine,
        tr("kernels.one_row_problem_larger",
           "one row of the problem is larger than {} can read at once; let the CPU do it (--device cpu)",
           gpu_.info().name));
}

void Kernels::multiply_at_once(const Product& p) {
    ProductPush push{};
    const auto narrow = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    push.rows = narrow(p.rows), push.cols = narrow(p.cols), push.depth = narrow(p.depth);
    push.flags = (p.bias == Slot::nothing ? 0U : 1U) | (p.accumulate ? 2U : 0U);
    push.x_step = narrow(p.x_step), push.x_stride = narrow(p.x_stride);
    push.w_step = narrow(p.w_step), push.w_stride = narrow(p.w_stride);
    push.y_step = narrow(p.y_step), push.y_stride = narrow(p.y_stride);
    push.y_width = narrow(p.y_width), push.y_block = narrow(p.y_block);
    push.fault = static_cast<std::uint32_t>(p.fault);
    push.row_at = narrow(p.row_at), push.row_step = narrow(p.row_step);
    push.part_rows = narrow(p.part_rows), push.part_blocks = narrow(p.blocks);
    push.block_at = narrow(p.block_at);
    push.limit = p.limit;
    constexpr std::uint32_t width = sizeof(float);
    std::uint32_t none = 0;
    const GpuBinding bindings[] = {arena_.window(p.x, p.x_at, x_span(p), width, push.x_at),
                                   arena_.window(p.W, p.w_at, w_span(p), width, push.w_at),
                                   p.bias == Slot::nothing
                                       ? arena_.window(Slot::nothing, 0, 1, width, none)
                                       : arena_.window(p.bias, p.b_at, p.cols, width, push.b_at),
                                   arena_.window(p.y, p.y_at, y_span(p), width, push.y_at),
                                   arena_.window(Slot::faults, 0, fault_count, width, none)};
    const std::uint32_t tile = each_ * side_;
    gpu_.dispatch(kernel("gemm", 5, {side_ * side_, side_, share_, each_}), bindings, bytes_of(push),
                  {groups_of(p.cols, tile), groups_of(p.rows, tile), narrow(p.stack)});
}

namespace {

/// The first element and the number of elements that a slab spans in a tensor.
struct Place {
    std::uint64_t first, count;
};

Place place_of(const Slab& s, std::int64_t b_step, std::int64_t h_step, std::int64_t row_step,
               std::int64_t width) {
    return {u64(s.b * b_step + s.h * h_step + s.row * row_step),
            u64((s.entries - 1) * b_step + (s.heads - 1) * h_step + (s.rows - 1) * row_step + width)};
}

Place rows_of(const Slab& s, const Dims& d, std::int64_t width) {
    return place_of(s, d.H * d.Tq * width, d.Tq * width, width, width);
}

/// The range of the key/value heads that a slab reads.
Place keys_of(const Slab& s, const Dims& d, std::int64_t width) {
    const std::int64_t first = d.kv_head(s.h), last = d.kv_head(s.h + s.heads - 1);
    return {u64((s.b * d.Hkv + first) * d.Tk * width),
            u64(((s.entries - 1) * d.Hkv + last - first + 1) * d.Tk * width)};
}

Place concat_of(const Slab& s, const Dims& d) {
    return place_of(s, d.Tq * d.H * d.dv, d.dv, d.H * d.dv, d.dv);
}

Place mask_of(const Slab& s, const Dims& d, const MaskRows::Strides& strides) {
    return place_of(s, strides.b, strides.h, strides.i, d.Tk);
}

} // namespace

bool Kernels::fits(const Scoring& scoring, const Slab& s) const {
    const Dims& d = scoring.dims;
    const auto floats = [&](std::uint64_t count) { return arena_.fits(count * sizeof(float)); };
    return floats(rows_of(s, d, padded(d.dk)).count) && floats(keys_of(s, d, padded(d.dk)).count) &&
           floats(keys_of(s, d, padded(d.dv)).count) && floats(rows_of(s, d, d.dv).count) &&
           floats(rows_of(s, d, 2).count) && floats(concat_of(s, d).count) &&
           (!scoring.has_allowed || arena_.fits(mask_of(s, d, scoring.allowed).count)) &&
           (!scoring.has_add || floats(mask_of(s, d, scoring.add).count)) &&
           u64(s.entries * s.heads) <= gpu_.info().groups[2] && u64(s.heads) <= gpu_.info().groups[1] &&
           groups_of(u64(s.rows), std::min(each_ * side_, threads_)) <= gpu_.info().groups[1];
}

std::vector<GpuBinding> Kernels::common(const Scoring& scoring, const Slab& s, Push& push) const {
    const Dims& d = scoring.dims;
    constexpr std::int64_t far =
        1 << 30; // beyond every position, and small enough to add to one without overflow
    const std::int64_t width = padded(d.dk) / 4;
    push.rows = u32(s.rows), push.first_row = u32(s.row), push.Tq = u32(d.Tq), push.Tk = u32(d.Tk);
    push.H = u32(d.H), push.heads_per_group = u32(d.H / d.Hkv), push.first_head = u32(s.h);
    push.row_at = u32((s.b * d.H + s.h) * d.Tq + s.row);
    push.quads = u32(width);
    push.before = static_cast<std::int32_t>(std::min(scoring.before, far));
    push.after = static_cast<std::int32_t>(std::min(scoring.after, far));
    push.scale = scoring.scale;
    push.cap = scoring.cap;
    push.flags = (scoring.has_allowed ? 1U : 0U) | (scoring.has_add ? 2U : 0U) | (scoring.has_sink ? 4U : 0U);
    push.allowed_b = u32(scoring.allowed.b), push.allowed_h = u32(scoring.allowed.h);
    push.allowed_i = u32(scoring.allowed.i);
    push.add_b = u32(scoring.add.b), push.add_h = u32(scoring.add.h), push.add_i = u32(scoring.add.i);
    const auto seen = [&](Slot slot, Place place, std::uint32_t bytes, std::uint32_t& shift) {
        return arena_.window(slot, place.first, place.count, bytes, shift);
    };
    std::uint32_t none = 0;
    const Place nothing{0, 4};
    return {seen(slot_of(TensorId::q), rows_of(s, d, width), 16, push.q_at),
            seen(slot_of(TensorId::k), keys_of(s, d, width), 16, push.k_at),
            scoring.has_allowed ? seen(Slot::allowed, mask_of(s, d, scoring.allowed), 1, push.allowed_at)
                                : seen(Slot::nothing, nothing, 4, none),
            scoring.has_add ? seen(Slot::add, mask_of(s, d, scoring.add), 4, push.add_at)
                            : seen(Slot::nothing, nothing, 4, none),
            seen(Slot::statistics, rows_of(s, d, 1), 8, push.statistics_at),
            seen(Slot::faults, {0, fault_count}, 4, none)};
}

std::uint32_t Kernels::keys_in_shared(std::uint32_t quads_of_key) const {
    // Uses half of the shared memory, so that two workgroups fit on one processor.
    const std::uint32_t room = gpu_.info().shared_bytes / 2 / (16 * quads_of_key);
    return std::min(32U, room / 4 * 4);
}

void Kernels::attend(const Scoring& scoring, const Slab& s) {
    const Dims& d = scoring.dims;
    Push push{};
    std::vector<GpuBinding> bindings = common(scoring, s, push);
    const std::int64_t v_width = padded(d.dv) / 4;
    enum Extra { v_at, v_from, v_quads, dv, out_at, concat_at };
    push.extra[v_quads] = u32(v_width);
    push.extra[dv] = u32(d.dv);
    const auto add = [&](Slot slot, Place place, std::uint32_t bytes, std::uint32_t& shift) {
        bindings.push_back(arena_.window(slot, place.first, place.count, bytes, shift));
    };
    std::uint32_t none = 0;
    add(slot_of(TensorId::v), keys_of(s, d, v_width), 16, push.extra[v_at]);
    add(slot_of(TensorId::head_out), rows_of(s, d, d.dv), 4, push.extra[out_at]);
    add(slot_of(TensorId::concat), concat_of(s, d), 4, push.extra[concat_at]);
    add(slot_of(TensorId::gain), {0, u64(2 * d.H)}, 4, none);

    const bool share = share_ == 1 && push.quads <= register_quads;
    const std::uint32_t q_quads = share ? push.quads : 0;
    const std::uint32_t out_quads =
        share ? std::min(push.extra[v_quads], out_quads_at_once) : out_quads_at_once;
    const std::uint32_t key_tile = share ? keys_in_shared(q_quads + out_quads) : 0;
    const GpuKernel& made =
        kernel("attend", most_bindings, {threads_, q_quads, out_quads, key_tile, threads_});
    for (push.extra[v_from] = 0; push.extra[v_from] < push.extra[v_quads]; push.extra[v_from] += out_quads)
        gpu_.dispatch(made, bindings, bytes_of(push),
                      {groups_of(u64(s.rows), threads_), u32(s.heads), u32(s.entries)});
}

void Kernels::rectangle(const Scoring& scoring, const Slab& s, TensorId stage, std::int64_t first_key,
                        std::int64_t keys, Slot to) {
    Push push{};
    std::vector<GpuBinding> bindings = common(scoring, s, push);
    push.extra[0] = u32(std::ranges::find(rectangle_stages, stage) - rectangle_stages.begin());
    push.extra[1] = u32(first_key);
    push.extra[2] = u32(keys);
    push.extra[3] = u32(s.heads);
    bindings.push_back(
        arena_.window(to, 0, u64(s.entries * s.heads * s.rows * keys), sizeof(float), push.extra[4]));
    const std::uint32_t tile = each_ * side_;
    gpu_.dispatch(kernel("rectangle", 7, {side_ * side_, side_, share_, each_}), bindings, bytes_of(push),
                  {groups_of(u64(keys), tile), groups_of(u64(s.rows), tile), u32(s.entries * s.heads)});
}

/// `fill` sets the additional parameters of a runs kernel (runs.glsl), and may add bindings.
template<class Fill>
void Kernels::dispatch_runs(std::string_view shader, const Scoring& scoring, const Slab& s, const Runs& runs,
                            const Constants& constants, GpuGroups groups, const Fill& fill) {
    Push push{};
    std::vector<GpuBinding> bindings = common(scoring, s, push);
    push.extra[2] = u32(runs.cells);
    push.extra[3] = u32(runs.length);
    push.extra[4] = u32(runs.first * runs.per_pixel());
    push.extra[5] = u32(runs.count());
    std::uint32_t none = 0;
    bindings.push_back(arena_.window(Slot::runs, 0, u64(2 * runs.count() * s.rows), sizeof(float), none));
    fill(push.extra, bindings);
    gpu_.dispatch(kernel(shader, static_cast<std::uint32_t>(bindings.size()), constants), bindings,
                  bytes_of(push), groups);
}

void Kernels::read_runs(const Scoring& scoring, const Slab& s, const Runs& runs) {
    constexpr std::int64_t keys_of_invocation = 64; // minimum; there are enough invocations even so
    const auto quads = static_cast<std::uint32_t>(padded(scoring.dims.dk) / 4);
    const bool share = share_ == 1 && quads <= register_quads;
    const std::int64_t most = gpu_.info().groups[1];
    const std::int64_t each =
        std::max((keys_of_invocation + runs.length - 1) / runs.length, (runs.count() + most - 1) / most);
    dispatch_runs("row_runs", scoring, s, runs,
                  {threads_, share ? quads : 0, share ? keys_in_shared(quads) : 0, threads_},
                  {groups_of(u64(s.rows), threads_), groups_of(u64(runs.count()), u32(each)), 1},
                  [&](std::uint32_t* extra, std::vector<GpuBinding>&) {
                      extra[0] = u32(runs.col);
                      extra[1] = u32(runs.end);
                      extra[6] = u32(each);
                  });
}

void Kernels::find_softmax(const Scoring& scoring, const Slab& s, const Runs& runs, float sink) {
    constexpr std::uint32_t lanes = 16; // for each row, because there may be few rows
    dispatch_runs("row_softmax", scoring, s, runs, {threads_, threads_, lanes},
                  {groups_of(u64(s.rows), threads_ / lanes), 1, 1},
                  [&](std::uint32_t* extra, std::vector<GpuBinding>&) {
                      extra[6] = std::bit_cast<std::uint32_t>(sink);
                  });
}

void Kernels::pool_runs(const Scoring& scoring, const Slab& s, const Runs& runs, const PixelRows& to) {
    const std::int64_t bands = (to.first_row + s.rows - 1) / runs.cells - to.first_row / runs.cells + 1;
    dispatch_runs(
        "pool_runs", scoring, s, runs, {threads_}, {groups_of(u64(runs.pixels), threads_), u32(bands), 1},
        [&](std::uint32_t* extra, std::vector<GpuBinding>& bindings) {
            extra[0] = u32(to.first_row);
            extra[1] = u32(to.width);
            extra[6] = u32(to.first);
            const std::int64_t rows = to.first + (to.first_row + s.rows - 1) / runs.cells + 1;
            std::uint32_t none = 0;
            bindings.push_back(arena_.window(Slot::pixels, 0, u64(2 * rows * to.width), sizeof(float), none));
        });
}

} // namespace headscope::vulkan
