#include "core/checkpoint/run/model_run.h"

#include "core/base/error.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/dense.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// Threads and memory of the processor: for one thread at a time, who locks `mutex`. Runs that follow each
/// other share one, and with it the memory it keeps.
struct Workshop {
    std::mutex mutex;
    std::shared_ptr<cpu::CpuMachine> machine = cpu::make_cpu_machine();
    cpu::CpuEngine engine{machine};
    cpu::CpuDense cpu{machine};
};

} // namespace

class ModelRun::State {
public:
    State(ModelPtr model_of_run, ModelInputs inputs_of_run, ModelEdits edits_of_run)
        : model(std::move(model_of_run)), inputs(std::move(inputs_of_run)), edits(std::move(edits_of_run)),
          pass(*model, inputs) {}

    void describe();
    void take_workshops(const State& before) {
        workshop_ = before.workshop_;
        later_ = before.later_;
    }
    /// Takes over the attentions before this number.
    void share(const State& before, std::int64_t count);
    void compute(const Options& options, Progress& progress);
    TensorPtr weights(std::int64_t n) const;
    Problem problem(std::int64_t n) const;
    TensorPtr logits() const;
    TensorPtr logits_at(std::int64_t position, const Progress& cancel) const;

    const ModelPtr model;
    const Architecture& architecture = model->architecture();
    const ModelInputs inputs;
    const ModelEdits edits;
    const ForwardPass pass;
    std::array<AttentionInfo, 3> info; ///< by Stack
    std::int64_t computed_from = 0;
    Streams streams;

private:
    std::vector<TensorPtr> kept_; ///< (1, H, Tq, Tk) by attention; null beyond the budget
    std::shared_ptr<Workshop> workshop_ = std::make_shared<Workshop>();
    std::shared_ptr<Workshop> later_ = std::make_shared<Workshop>(); ///< for what is asked of finished runs
    mutable std::pair<std::int64_t, TensorPtr> latest_{-1, nullptr}; ///< recomputed last
    mutable std::pair<std::int64_t, TensorPtr> predicted_{-1, nullptr}; ///< position, its logits
};

void ModelRun::State::describe() {
    const auto folder = std::filesystem::path(model->path());
    for (const Stack stack : stacks_of(architecture)) {
        AttentionInfo& of = info[static_cast<std::size_t>(stack)];
        const Architecture& sizes = in_stack(architecture, stack);
        of.L = sizes.layers;
        of.H = sizes.H;
        of.Tq = stack == Stack::encoder ? inputs.source.front().T : inputs.T;
        of.Tk = stack == Stack::own ? inputs.T : inputs.source.front().T;
        of.numbers.resize(static_cast<std::size_t>(of.L));
        std::iota(of.numbers.begin(), of.numbers.end(), std::int64_t{0});
        of.title = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
        of.source = model->path();
        of.held_as = "float32";
        of.tensor = stack_prefix(architecture, stack) + "layers.{l}.weights";
        of.bytes = sizeof(float) * static_cast<std::uint64_t>(of.L * of.H * of.Tq * of.Tk);
        of.sinks = find_row(sizes.names.body, WeightId::sink) != nullptr;
        of.tokens_from = inputs.tokens.empty() ? "" : model->path();
    }
}

void ModelRun::State::share(const State& before, std::int64_t count) {
    const std::int64_t first = attention_number(architecture, {Stack::own, 0});
    const auto take = [](const std::vector<TensorPtr>& from, std::int64_t most) {
        const std::int64_t taken = std::clamp<std::int64_t>(most, 0, std::ssize(from));
        return std::vector<TensorPtr>(from.begin(), from.begin() + taken);
    };
    if (inputs.source == before.inputs.source)
        streams.encoder = take(before.streams.encoder, count + 1);
    else
        count = 0;
    if (inputs == before.inputs && count >= first)
        streams.own = take(before.streams.own, count - first + 1);
    else
        count = std::min(count, first);
    kept_ = take(before.kept_, count);
    computed_from = count;
}

void ModelRun::State::compute(const Options& options, Progress& progress) {
    progress.check();
    const auto bytes_of = [](const TensorPtr& weights) {
        return weights == nullptr ? 0 : static_cast<std::size_t>(weights->count()) * sizeof(float);
    };
    std::size_t room = options.kept_bytes;
    for (const TensorPtr& weights : kept_)
        room -= std::min(room, bytes_of(weights));
    const std::scoped_lock lock(workshop_->mutex);
    pass.run(
        workshop_->cpu, streams,
        [&](std::int64_t n, const Problem& problem) {
            const StageSet output = StageSet().with(TensorId::output);
            const Dims& dims = problem.dims;
            const auto bytes = sizeof(float) * static_cast<std::size_t>(dims.H * dims.Tq * dims.Tk);
            const bool keep = bytes <= room;
            Trace trace = workshop_->engine.run(with_edits(problem, edits_of(edits, n)),
                                                keep ? output.with(TensorId::weights) : output, progress);
            room -= keep ? bytes : 0;
            kept_.push_back(trace.slot(TensorId::weights));
            return trace.slot(TensorId::output);
        },
        progress);
}

TensorPtr ModelRun::State::weights(std::int64_t n) const {
    if (const TensorPtr& kept = kept_[static_cast<std::size_t>(n)])
        return kept;
    const std::scoped_lock lock(later_->mutex);
    if (latest_.first != n) {
        latest_ = {-1, nullptr}; // its memory first
        Progress progress;
        Trace trace =
            later_->engine.run(with_edits(pass.problem(later_->cpu, n, streams), edits_of(edits, n)),
                               StageSet().with(TensorId::weights), progress);
        latest_ = {n, trace.slot(TensorId::weights)};
    }
    return latest_.second;
}

Problem ModelRun::State::problem(std::int64_t n) const {
    const std::scoped_lock lock(later_->mutex);
    return pass.problem(later_->cpu, n, streams);
}

TensorPtr ModelRun::State::logits() const {
    const std::scoped_lock lock(workshop_->mutex);
    return pass.logits(workshop_->cpu, *streams.own.back(), Progress());
}

TensorPtr ModelRun::State::logits_at(std::int64_t position, const Progress& cancel) const {
    const std::scoped_lock lock(workshop_->mutex);
    if (predicted_.first != position) {
        const Tensor& all = *streams.own.back();
        const std::int64_t D = all.shape().back(0);
        const Tensor one(Shape{1, 1, D}, all.values().subspan(static_cast<std::size_t>(position * D),
                                                              static_cast<std::size_t>(D)));
        predicted_ = {position, pass.logits(workshop_->cpu, one, cancel)};
    }
    return predicted_.second;
}

ModelRun::ModelRun(std::unique_ptr<State> state) : state_(std::move(state)) {}

ModelRun::~ModelRun() = default;

ModelRunPtr ModelRun::compute(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits,
                              const ModelRunPtr& before, const Options& options, Progress& progress) {
    if (inputs.B != 1)
        fail_input("there are " + std::to_string(inputs.B) + " texts in the batch; give one");
    check_edits(*model, edits);
    auto state = std::make_unique<State>(model, inputs, edits);
    state->describe();
    const std::int64_t count = attention_count(model->architecture());
    if (before != nullptr)
        state->take_workshops(*before->state_);
    if (before != nullptr && before->state_->model == model)
        state->share(*before->state_, first_difference(before->edits(), edits, count));
    if (state->computed_from < count)
        state->compute(options, progress);
    progress.report(1.0F);
    return ModelRunPtr(new ModelRun(std::move(state)));
}

const Model& ModelRun::model() const {
    return *state_->model;
}

const ModelPtr& ModelRun::model_ptr() const {
    return state_->model;
}

const ModelInputs& ModelRun::inputs() const {
    return state_->inputs;
}

const ModelEdits& ModelRun::edits() const {
    return state_->edits;
}

std::int64_t ModelRun::computed_from() const {
    return state_->computed_from;
}

Problem ModelRun::problem(std::int64_t n) const {
    return state_->problem(n);
}

const TensorPtr& ModelRun::hidden(std::int64_t l) const {
    return state_->streams.own[static_cast<std::size_t>(model().encoder() == nullptr ? l : 2 * l)];
}

TensorPtr ModelRun::logits() const {
    return state_->logits();
}

TensorPtr ModelRun::logits_at(std::int64_t position, const Progress& cancel) const {
    return state_->logits_at(position, cancel);
}

const AttentionInfo& ModelRun::info(Stack stack) const {
    return state_->info[static_cast<std::size_t>(stack)];
}

const ModelInputs& ModelRun::read_by_queries(Stack stack) const {
    return stack == Stack::encoder ? inputs().source.front() : inputs();
}

const ModelInputs& ModelRun::read_by_keys(Stack stack) const {
    return stack == Stack::own ? inputs() : inputs().source.front();
}

TensorPtr ModelRun::weights(std::int64_t n) const {
    return state_->weights(n);
}

const std::vector<std::string>& ModelRun::query_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

const std::vector<std::string>& ModelRun::key_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

TensorPtr ModelRun::layer(std::int64_t l) const {
    return state_->weights(attention_number(state_->architecture, {Stack::own, l}));
}

void ModelRun::read_head(std::int64_t l, std::int64_t h, std::span<float> to) const {
    const TensorPtr weights = layer(l);
    std::copy_n(weights->data() + weights->offset(0, h, 0, 0), to.size(), to.data());
}

} // namespace headscope::checkpoint
