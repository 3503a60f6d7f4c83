#include "core/engine/cpu/cpu_engine.h"

#include "core/attention/reach.h"
#include "core/base/error.h"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

namespace headscope {

namespace {

using Clock = std::chrono::steady_clock;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::OuterStride<>;
using View = Eigen::Map<Matrix, 0, Strided>;
using ConstView = Eigen::Map<const Matrix, 0, Strided>;
using RowView = Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>>;
using ConstRowView = Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>;

constexpr std::int64_t tile_rows = 64;
constexpr std::int64_t small_flops = 2'000'000; ///< below this a thread's waking costs more than it brings
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

ConstView view(const Tensor& tensor, std::int64_t first, std::int64_t rows, std::int64_t cols,
               std::int64_t stride) {
    return {tensor.data() + first, rows, cols, Strided(stride)};
}

View view(Tensor& tensor, std::int64_t first, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
    return {tensor.data() + first, rows, cols, Strided(stride)};
}

std::string cell_text(std::int64_t b, std::int64_t i, std::int64_t c) {
    return "[" + std::to_string(b) + ", " + std::to_string(i) + ", " + std::to_string(c) + "]";
}

/// One run: the tensors that are wanted or needed on the way, and the steps that fill them. Every number
/// comes from a product whose shape does not depend on what else is computed, so that a part of a run gives
/// the same bits as all of it.
class Run {
public:
    Run(const Problem& problem, StageSet wanted, Progress& progress, WorkerPool& pool)
        : problem_(problem), d_(problem.dims), wanted_(wanted), reach_(Reach::all(problem.dims.H)),
          progress_(progress), pool_(pool), mask_(problem.mask, problem.dims) {}
    /// All stages; what is out of reach is taken from `previous`, which holds them all.
    Run(const Problem& problem, Reach reach, const Trace& previous, Progress& progress, WorkerPool& pool)
        : problem_(problem), d_(problem.dims), wanted_(StageSet::all()), reach_(std::move(reach)),
          previous_(&previous), progress_(progress), pool_(pool), mask_(problem.mask, problem.dims) {}

    Trace compute();

private:
    struct Scratch {
        Matrix scores; ///< (tile_rows, Tk)
        Matrix out;    ///< (tile_rows, dv)
        std::vector<MaskedRow> fully_masked;
    };

    bool wants(TensorId id) const { return wanted_.has(id); }
    bool wants_rows() const;
    Tensor& make(TensorId id);
    /// Null when it is neither made here nor to be taken from the trace before.
    const Tensor* made(TensorId id) const;
    bool reaches(TensorId id) const { return stages_.has(id); }
    bool is_kept(TensorId id, std::int64_t head) const { return wants(id) && reach_.has(id, head); }
    void project(const Tensor& x, const TensorPtr& W, const TensorPtr& b, TensorId id, std::int64_t heads);
    void project_heads(const Tensor& source);
    void split(TensorId joined, TensorId heads);
    void rotate(TensorId heads);
    ConstView queries(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows);
    ConstView keys(std::int64_t b, std::int64_t g);
    void for_tasks(std::int64_t count, const std::function<void(std::int64_t, int)>& task);
    void load(TensorId id, std::int64_t b, std::int64_t h, std::int64_t first, Matrix& tile,
              std::int64_t rows) const;
    void attend(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows, Scratch& scratch);
    void score(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows, Scratch& scratch);
    void apply_mask(std::int64_t b, std::int64_t h, std::int64_t i, float* row) const;
    void attend_all(Trace& trace);
    void softmax_row(std::int64_t b, std::int64_t h, std::int64_t i, float* row, Scratch& scratch);
    template<class Tile>
    void check_scores(const Tile& tile, std::int64_t b, std::int64_t h, std::int64_t first,
                      const char* remedy) const;
    template<class Tile>
    void check_values(const Tile& tile, std::int64_t b, std::int64_t h, std::int64_t first, const char* what,
                      const char* remedy) const;
    [[noreturn]] void fail_range(const std::string& what, std::int64_t b, std::int64_t h, std::int64_t i,
                                 const char* remedy) const;
    void keep(TensorId id, std::int64_t b, std::int64_t h, std::int64_t first, const Matrix& tile,
              std::int64_t rows);
    void average_heads();
    std::int64_t flops() const;

    const Problem& problem_;
    const Dims& d_;
    StageSet wanted_;
    Reach reach_;
    StageSet stages_ = reach_.stages();
    const Trace* previous_ = nullptr;
    Progress& progress_;
    WorkerPool& pool_;
    MaskRows mask_;
    std::array<std::shared_ptr<Tensor>, stage_count> tensors_;
};

Tensor& Run::make(TensorId id) {
    auto& slot = tensors_[static_cast<std::size_t>(id)];
    if (slot == nullptr) {
        slot = std::make_shared<Tensor>(tensor_info(id).shape(d_));
        const bool whole = std::ranges::all_of(reach_.heads, [id](StageSet head) { return head.has(id); });
        if (previous_ != nullptr && !whole && !reach_.whole.has(id))
            std::ranges::copy(previous_->stage(id)->values(), slot->data());
    }
    return *slot;
}

const Tensor* Run::made(TensorId id) const {
    const Tensor* own = tensors_[static_cast<std::size_t>(id)].get();
    return own != nullptr || previous_ == nullptr ? own : previous_->stage(id);
}

/// Of the products that are in reach.
std::int64_t Run::flops() const {
    using enum TensorId;
    std::int64_t products = reach_.whole.has(output) ? d_.Tq * d_.H * d_.dv * d_.D : 0;
    for (std::int64_t h = 0; h < d_.H; ++h) {
        const StageSet in_reach = reach_.heads[static_cast<std::size_t>(h)];
        products += (in_reach.has(q) ? d_.Tq * d_.D * d_.dk : 0) +
                    (in_reach.has(k) ? d_.Tk * d_.Dkv * d_.dk : 0) +
                    (in_reach.has(v) ? d_.Tk * d_.Dkv * d_.dv : 0) +
                    (in_reach.has(scores) ? d_.Tq * d_.Tk * d_.dk : 0) +
                    (in_reach.has(head_out) ? d_.Tq * d_.Tk * d_.dv : 0);
    }
    return 2 * d_.B * products;
}

void Run::for_tasks(std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
    const auto checked = [&](std::int64_t index, int worker) {
        progress_.check();
        task(index, worker);
    };
    if (count > 1 && flops() >= small_flops) {
        pool_.run(count, checked);
        return;
    }
    for (std::int64_t index = 0; index < count; ++index)
        checked(index, 0);
}

/// Row tile by row tile and, for Q, K and V, head by head: those heads that are in reach.
void Run::project(const Tensor& x, const TensorPtr& W, const TensorPtr& b, TensorId id, std::int64_t heads) {
    if (!reaches(id))
        return;
    Tensor& y = make(id);
    const std::int64_t rows = x.shape()[0] * x.shape()[1], width = x.shape()[2], stride = W->shape()[1];
    const std::int64_t cols = stride / heads, tiles = (rows + tile_rows - 1) / tile_rows;
    for_tasks(tiles * heads, [&](std::int64_t task, int) {
        const std::int64_t h = task % heads, first = task / heads * tile_rows;
        const std::int64_t count = std::min(tile_rows, rows - first);
        if (heads > 1 && !reach_.has(id, h))
            return;
        View out = view(y, first * stride + h * cols, count, cols, stride);
        out.noalias() = view(x, first * width, count, width, width) * view(*W, h * cols, width, cols, stride);
        if (b != nullptr)
            out.rowwise() += view(*b, h * cols, 1, cols, cols).row(0);
        if (!out.allFinite())
            fail_input("a number of " + std::string(tensor_info(id).name) + " near " +
                       cell_text(first / x.shape()[1], first % x.shape()[1], h * cols) +
                       " leaves float32's range; make X or " +
                       std::string(tensor_info(tensor_info(id).inputs[1]).name) + " smaller");
    });
}

/// Head by head copies of what the engine itself reads in place.
void Run::split(TensorId joined, TensorId heads) {
    if (!reaches(heads) ||
        (!wants(heads) && !(problem_.rotary && heads != TensorId::v_heads && wants_rows())))
        return;
    const Tensor& from = *made(joined);
    Tensor& to = make(heads);
    const std::int64_t count = to.shape()[1], T = to.shape()[2], width = to.shape()[3];
    for (std::int64_t b = 0; b < d_.B; ++b)
        for (std::int64_t h = 0; h < count; ++h)
            if (reach_.has(heads, h))
                view(to, to.offset(b, h, 0, 0), T, width, width) =
                    view(from, from.offset(b, 0, h * width), T, width, count * width);
}

/// Turns the numbers of each query or key by its position, in place.
void Run::rotate(TensorId heads) {
    if (!problem_.rotary || tensors_[static_cast<std::size_t>(heads)] == nullptr)
        return;
    Tensor& Y = make(heads);
    const Tensor &cos = *problem_.rotary->cos, &sin = *problem_.rotary->sin;
    const std::int64_t count = Y.shape()[1], T = Y.shape()[2], width = d_.dk, half = width / 2;
    for (std::int64_t b = 0; b < d_.B; ++b) {
        const std::int64_t table = cos.shape()[0] == 1 ? 0 : cos.offset(b, 0, 0);
        const auto C = view(cos, table, T, width, width).array(),
                   S = view(sin, table, T, width, width).array();
        for (std::int64_t h = 0; h < count; ++h) {
            if (!reach_.has(heads, h))
                continue;
            auto heads_of = view(Y, Y.offset(b, h, 0, 0), T, width, width).array();
            const Matrix before = heads_of.matrix();
            heads_of *= C;
            heads_of.leftCols(half) -= before.array().rightCols(half) * S.leftCols(half);
            heads_of.rightCols(half) += before.array().leftCols(half) * S.rightCols(half);
        }
    }
    if (!view(Y, 0, 1, Y.count(), Y.count()).allFinite())
        fail_input("a number of " + std::string(tensor_info(heads).name) +
                   " leaves float32's range when it is rotated; make X, W_Q or W_K smaller");
}

/// (rows, dk): where they lie in q, or in the copy that was rotated.
ConstView Run::queries(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows) {
    if (problem_.rotary) {
        const Tensor& Q = *made(TensorId::q_heads);
        return view(Q, Q.offset(b, h, first, 0), rows, d_.dk, d_.dk);
    }
    const Tensor& Q = *made(TensorId::q);
    return view(Q, Q.offset(b, first, h * d_.dk), rows, d_.dk, d_.H * d_.dk);
}

/// (Tk, dk) of a key/value head.
ConstView Run::keys(std::int64_t b, std::int64_t g) {
    if (problem_.rotary) {
        const Tensor& K = *made(TensorId::k_heads);
        return view(K, K.offset(b, g, 0, 0), d_.Tk, d_.dk, d_.dk);
    }
    const Tensor& K = *made(TensorId::k);
    return view(K, K.offset(b, 0, g * d_.dk), d_.Tk, d_.dk, d_.Hkv * d_.dk);
}

void Run::fail_range(const std::string& what, std::int64_t b, std::int64_t h, std::int64_t i,
                     const char* remedy) const {
    fail_input("the " + what + " of head " + std::to_string(h) + " for query " + std::to_string(i) +
               (d_.B > 1 ? " in batch entry " + std::to_string(b) : "") + " leaves float32's range; " +
               remedy);
}

template<class Tile>
void Run::check_scores(const Tile& tile, std::int64_t b, std::int64_t h, std::int64_t first,
                       const char* remedy) const {
    for (std::int64_t r = 0; r < tile.rows(); ++r)
        if (!tile.row(r).allFinite()) {
            const float* const row = tile.row(r).data();
            const auto* const bad =
                std::find_if(row, row + tile.cols(), [](float v) { return !std::isfinite(v); });
            fail_range("score of key " + std::to_string(bad - row), b, h, first + r, remedy);
        }
}

template<class Tile>
void Run::check_values(const Tile& tile, std::int64_t b, std::int64_t h, std::int64_t first, const char* what,
                       const char* remedy) const {
    for (std::int64_t r = 0; r < tile.rows(); ++r)
        if (!tile.row(r).allFinite())
            fail_range(what, b, h, first + r, remedy);
}

void Run::keep(TensorId id, std::int64_t b, std::int64_t h, std::int64_t first, const Matrix& tile,
               std::int64_t rows) {
    if (!is_kept(id, h))
        return;
    Tensor& tensor = *tensors_[static_cast<std::size_t>(id)];
    const std::int64_t cols = tile.cols();
    view(tensor, tensor.offset(b, h, first, 0), rows, cols, cols) = tile.topRows(rows);
}

/// Rows of the trace before, to go on from.
void Run::load(TensorId id, std::int64_t b, std::int64_t h, std::int64_t first, Matrix& tile,
               std::int64_t rows) const {
    const Tensor& tensor = *previous_->stage(id);
    const std::int64_t cols = tile.cols();
    tile.topRows(rows) = view(tensor, tensor.offset(b, h, first, 0), rows, cols, cols);
}

/// Softmax in place over what the mask allows. Subtracting the largest score keeps exp from overflowing.
void Run::softmax_row(std::int64_t b, std::int64_t h, std::int64_t i, float* row, Scratch& scratch) {
    RowView s(row, d_.Tk);
    const float largest = s.maxCoeff();
    if (largest == -minus_infinity)
        fail_range("masked score of key " + std::to_string(std::max_element(row, row + d_.Tk) - row), b, h, i,
                   "make the additive mask smaller");
    if (largest == minus_infinity) {
        s.setZero();
        scratch.fully_masked.push_back({b, h, i});
        return;
    }
    // Eigen's exp does not reach exactly 0 at minus infinity on every instruction set.
    s = (s == minus_infinity).select(0.0F, (s - largest).exp());
    s /= s.sum();
}

void Run::score(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows, Scratch& scratch) {
    Matrix& tile = scratch.scores;
    auto S = tile.topRows(rows);
    S.noalias() = queries(b, h, first, rows) * keys(b, d_.kv_head(h)).transpose();
    check_scores(S, b, h, first, "make X, W_Q or W_K smaller");
    keep(TensorId::scores, b, h, first, tile, rows);
}

void Run::apply_mask(std::int64_t b, std::int64_t h, std::int64_t i, float* row) const {
    const MaskRow mask = mask_.row(b, h, i);
    RowView s(row, d_.Tk);
    if (mask.add != nullptr)
        s += ConstRowView(mask.add, d_.Tk);
    s.head(mask.begin).setConstant(minus_infinity);
    s.tail(d_.Tk - mask.end).setConstant(minus_infinity);
    if (mask.allowed != nullptr)
        for (std::int64_t j = mask.begin; j < mask.end; ++j)
            if (mask.allowed[j] == 0)
                s[j] = minus_infinity;
}

/// What is in reach is a tail of the chain scores, scaled, masked, weights, head_out, concat and
/// contributions; its first stage reads the one before it from the trace before.
void Run::attend(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows, Scratch& scratch) {
    using enum TensorId;
    Matrix& tile = scratch.scores;
    auto S = tile.topRows(rows);
    if (reach_.has(scores, h))
        score(b, h, first, rows, scratch);
    if (reach_.has(scaled, h)) {
        if (!reach_.has(scores, h))
            load(scores, b, h, first, tile, rows);
        S /= std::sqrt(static_cast<float>(d_.dk)) * problem_.temperature;
        if (problem_.temperature < 1.0F)
            check_scores(S, b, h, first, "raise the temperature, or make X, W_Q or W_K smaller");
        keep(scaled, b, h, first, tile, rows);
    }
    if (reach_.has(masked, h)) {
        if (!reach_.has(scaled, h))
            load(scaled, b, h, first, tile, rows);
        if (!mask_.empty())
            for (std::int64_t r = 0; r < rows; ++r)
                apply_mask(b, h, first + r, S.row(r).data());
        keep(masked, b, h, first, tile, rows);
        for (std::int64_t r = 0; r < rows; ++r)
            softmax_row(b, h, first + r, S.row(r).data(), scratch);
        keep(weights, b, h, first, tile, rows);
    }
    auto O = scratch.out.topRows(rows);
    if (reach_.has(head_out, h)) {
        if (!reach_.has(weights, h))
            load(weights, b, h, first, tile, rows);
        const Tensor& V = *made(v);
        O.noalias() = S * view(V, V.offset(b, 0, d_.kv_head(h) * d_.dv), d_.Tk, d_.dv, d_.Hkv * d_.dv);
        keep(head_out, b, h, first, scratch.out, rows);
    } else {
        load(head_out, b, h, first, scratch.out, rows);
    }
    O *= problem_.gain(h);
    check_values(O, b, h, first, "output", "make X, W_V or the gain smaller");
    if (reach_.has(concat, h) && (wants(concat) || wants(output)))
        view(make(concat), made(concat)->offset(b, first, h * d_.dv), rows, d_.dv, d_.H * d_.dv) = O;
    if (is_kept(contributions, h)) {
        Tensor& C = make(contributions);
        View part = view(C, C.offset(b, h, first, 0), rows, d_.D, d_.D);
        part.noalias() = O * view(*problem_.weights.W_O, h * d_.dv * d_.D, d_.dv, d_.D, d_.D);
        check_values(part, b, h, first, "contribution", "make X, W_V, W_O or the gain smaller");
    }
}

void Run::average_heads() {
    const Tensor& A = *made(TensorId::weights);
    Tensor& mean = make(TensorId::weights_mean);
    const std::int64_t cells = d_.Tq * d_.Tk;
    for (std::int64_t b = 0; b < d_.B; ++b)
        view(mean, b * cells, 1, cells, cells) =
            view(A, b * d_.H * cells, d_.H, cells, cells).colwise().mean();
}

bool Run::wants_rows() const {
    using enum TensorId;
    return std::ranges::any_of(
        std::array{scores, scaled, masked, weights, weights_mean, head_out, concat, contributions, output},
        [this](TensorId id) { return wants(id); });
}

/// Everything that is computed head by head and row by row, from the scores on.
void Run::attend_all(Trace& trace) {
    using enum TensorId;
    for (const TensorId id : {scores, scaled, masked, weights, head_out, contributions})
        if (wants(id) && reaches(id))
            make(id);
    if ((wants(concat) || wants(output)) && reaches(concat))
        make(concat);
    const StageSet chain =
        StageSet{}.with(scores).with(scaled).with(masked).with(weights).with(head_out).with(concat).with(
            contributions);
    std::vector<std::int64_t> heads;
    for (std::int64_t h = 0; h < d_.H; ++h)
        if (!(reach_.heads[static_cast<std::size_t>(h)] & chain).empty())
            heads.push_back(h);
    const auto count = static_cast<std::int64_t>(heads.size());
    const std::int64_t tiles = (d_.Tq + tile_rows - 1) / tile_rows, tasks = d_.B * count * tiles;
    std::vector<Scratch> scratch(static_cast<std::size_t>(pool_.threads()));
    std::atomic<std::int64_t> done{0};
    for_tasks(tasks, [&](std::int64_t task, int worker) {
        Scratch& mine = scratch[static_cast<std::size_t>(worker)];
        mine.scores.resize(std::min(tile_rows, d_.Tq), d_.Tk);
        mine.out.resize(std::min(tile_rows, d_.Tq), d_.dv);
        const std::int64_t first = task % tiles * tile_rows, head = task / tiles;
        attend(head / count, heads[static_cast<std::size_t>(head % count)], first,
               std::min(tile_rows, d_.Tq - first), mine);
        progress_.report(static_cast<float>(++done) / static_cast<float>(tasks));
    });
    if (previous_ != nullptr)
        std::ranges::copy_if(previous_->fully_masked, std::back_inserter(trace.fully_masked),
                             [this](const MaskedRow& row) { return !reach_.has(weights, row.h); });
    for (const Scratch& s : scratch)
        trace.fully_masked.insert(trace.fully_masked.end(), s.fully_masked.begin(), s.fully_masked.end());
    std::ranges::sort(trace.fully_masked, {}, [](const MaskedRow& r) { return std::tuple(r.b, r.h, r.i); });
}

void Run::project_heads(const Tensor& source) {
    using enum TensorId;
    const Weights& w = problem_.weights;
    const bool rows = wants_rows();
    if (rows || wants(q) || wants(q_heads))
        project(*problem_.x, w.W_Q, w.b_Q, q, d_.H);
    if (rows || wants(k) || wants(k_heads))
        project(source, w.W_K, w.b_K, k, d_.Hkv);
    if (rows || wants(v) || wants(v_heads))
        project(source, w.W_V, w.b_V, v, d_.Hkv);
    split(q, q_heads);
    split(k, k_heads);
    split(v, v_heads);
    rotate(q_heads);
    rotate(k_heads);
}

Trace Run::compute() {
    using enum TensorId;
    Trace trace{.dims = d_, .stages = {}, .fully_masked = {}, .device = "cpu", .seconds = 0, .computed = {}};
    progress_.check();
    project_heads(problem_.cross() ? *problem_.x_kv : *problem_.x);
    const StageSet asked = wanted_;
    if (wants_rows()) {
        if (wants(weights_mean))
            wanted_ = wanted_.with(weights);
        attend_all(trace);
        if (wants(weights_mean) && reaches(weights_mean))
            average_heads();
        if (wants(output))
            project(*made(concat), problem_.weights.W_O, problem_.weights.b_O, output, 1);
        wanted_ = asked;
    }
    for (const TensorInfo& info : stage_table())
        if (wants(info.id))
            trace.slot(info.id) = previous_ != nullptr && !reaches(info.id)
                                      ? previous_->stages[static_cast<std::size_t>(info.id)]
                                      : tensors_[static_cast<std::size_t>(info.id)];
    if (wants(x))
        trace.slot(x) = problem_.x;
    trace.computed = previous_ != nullptr ? std::move(reach_) : Reach::all(d_.H, wanted_);
    return trace;
}

bool holds_all(const Trace& trace) {
    return std::ranges::all_of(trace.stages, [](const TensorPtr& stage) { return stage != nullptr; });
}

int thread_count(int asked) {
    return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

} // namespace

CpuEngine::CpuEngine(int threads) : pool_(thread_count(threads)) {}

Trace CpuEngine::run(const Problem& problem, StageSet wanted, Progress& progress) {
    const auto start = Clock::now();
    validate(problem);
    Trace trace = Run(problem, wanted, progress, pool_).compute();
    trace.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return trace;
}

Trace CpuEngine::rerun(const Problem& problem, const Problem& before, const Trace& previous,
                       Progress& progress) {
    if (problem.dims != before.dims || previous.device != name() || !holds_all(previous))
        return run(problem, StageSet::all(), progress);
    const auto start = Clock::now();
    validate(problem, &before);
    Trace trace = Run(problem, reach_of(before, problem), previous, progress, pool_).compute();
    trace.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return trace;
}

} // namespace headscope
