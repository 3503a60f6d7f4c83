#include "core/checkpoint/run/model_run.h"

#include "core/base/error.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/dense.h"

#include <algorithm>
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
    void share(const State& before, std::int64_t layers);
    void compute(const Options& options, Progress& progress);
    TensorPtr weights(std::int64_t l) const;
    Problem problem(std::int64_t l) const;
    TensorPtr logits() const;
    TensorPtr logits_at(std::int64_t position, const Progress& cancel) const;

    const ModelPtr model;
    const ModelInputs inputs;
    const ModelEdits edits;
    const ForwardPass pass;
    AttentionInfo info;
    std::int64_t computed_from = 0;
    std::vector<TensorPtr> hidden; ///< layers + 1, each (1, T, D)

private:
    std::vector<TensorPtr> kept_; ///< (1, H, T, T) by layer; null beyond the budget
    std::shared_ptr<Workshop> workshop_ = std::make_shared<Workshop>();
    std::shared_ptr<Workshop> later_ = std::make_shared<Workshop>(); ///< for what is asked of finished runs
    mutable std::pair<std::int64_t, TensorPtr> latest_{-1, nullptr}; ///< recomputed last
    mutable std::pair<std::int64_t, TensorPtr> predicted_{-1, nullptr}; ///< position, its logits
};

void ModelRun::State::describe() {
    const Architecture& architecture = model->architecture();
    info.L = architecture.layers;
    info.H = architecture.H;
    info.Tq = info.Tk = inputs.T;
    info.numbers.resize(static_cast<std::size_t>(architecture.layers));
    std::iota(info.numbers.begin(), info.numbers.end(), std::int64_t{0});
    const auto folder = std::filesystem::path(model->folder());
    info.title = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    info.source = model->folder();
    info.held_as = "float32";
    info.tensor = "layers.{l}.weights";
    info.bytes = sizeof(float) * static_cast<std::uint64_t>(info.L * info.H * info.Tq * info.Tk);
    info.sinks = find_row(architecture.names.body, WeightId::sink) != nullptr;
    info.tokens_from = inputs.tokens.empty() ? "" : model->folder();
}

void ModelRun::State::share(const State& before, std::int64_t layers) {
    const auto count = static_cast<std::ptrdiff_t>(layers);
    hidden.assign(before.hidden.begin(), before.hidden.begin() + count + 1);
    kept_.assign(before.kept_.begin(), before.kept_.begin() + count);
    computed_from = layers;
}

void ModelRun::State::compute(const Options& options, Progress& progress) {
    progress.check();
    const auto layer_bytes = static_cast<std::size_t>(info.bytes / static_cast<std::uint64_t>(info.L));
    const auto shared = static_cast<std::size_t>(
        std::ranges::count_if(kept_, [](const TensorPtr& weights) { return weights != nullptr; }));
    const std::size_t most = options.kept_bytes / std::max<std::size_t>(layer_bytes, 1);
    std::size_t room = most - std::min(most, shared);
    const std::scoped_lock lock(workshop_->mutex);
    if (hidden.empty())
        hidden.push_back(pass.embed(workshop_->cpu));
    pass.run_layers(
        workshop_->cpu, hidden,
        [&](std::int64_t l, const Problem& problem) {
            const StageSet output = StageSet().with(TensorId::output);
            const bool keep = room > 0;
            Trace trace = workshop_->engine.run(with_edits(problem, edits_of(edits, l)),
                                                keep ? output.with(TensorId::weights) : output, progress);
            room -= keep ? 1 : 0;
            kept_.push_back(trace.slot(TensorId::weights));
            return trace.slot(TensorId::output);
        },
        progress);
}

TensorPtr ModelRun::State::weights(std::int64_t l) const {
    if (const TensorPtr& kept = kept_[static_cast<std::size_t>(l)])
        return kept;
    const std::scoped_lock lock(later_->mutex);
    if (latest_.first != l) {
        latest_ = {-1, nullptr}; // its memory first
        Progress progress;
        const Problem problem = pass.problem(later_->cpu, l, hidden[static_cast<std::size_t>(l)]);
        Trace trace = later_->engine.run(with_edits(problem, edits_of(edits, l)),
                                         StageSet().with(TensorId::weights), progress);
        latest_ = {l, trace.slot(TensorId::weights)};
    }
    return latest_.second;
}

Problem ModelRun::State::problem(std::int64_t l) const {
    const std::scoped_lock lock(later_->mutex);
    return pass.problem(later_->cpu, l, hidden[static_cast<std::size_t>(l)]);
}

TensorPtr ModelRun::State::logits() const {
    const std::scoped_lock lock(workshop_->mutex);
    return pass.logits(workshop_->cpu, *hidden.back(), Progress());
}

TensorPtr ModelRun::State::logits_at(std::int64_t position, const Progress& cancel) const {
    const std::scoped_lock lock(workshop_->mutex);
    if (predicted_.first != position) {
        const Tensor& all = *hidden.back();
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
    const std::int64_t layers = model->architecture().layers;
    if (before != nullptr)
        state->take_workshops(*before->state_);
    if (before != nullptr && before->state_->model == model && before->state_->inputs == inputs)
        state->share(*before->state_, first_difference(before->edits(), edits, layers));
    if (state->computed_from < layers)
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

Problem ModelRun::problem(std::int64_t l) const {
    return state_->problem(l);
}

const TensorPtr& ModelRun::hidden(std::int64_t l) const {
    return state_->hidden[static_cast<std::size_t>(l)];
}

TensorPtr ModelRun::logits() const {
    return state_->logits();
}

TensorPtr ModelRun::logits_at(std::int64_t position, const Progress& cancel) const {
    return state_->logits_at(position, cancel);
}

const AttentionInfo& ModelRun::info() const {
    return state_->info;
}

const std::vector<std::string>& ModelRun::query_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

const std::vector<std::string>& ModelRun::key_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

TensorPtr ModelRun::layer(std::int64_t l) const {
    return state_->weights(l);
}

void ModelRun::read_head(std::int64_t l, std::int64_t h, std::span<float> to) const {
    const TensorPtr weights = layer(l);
    std::copy_n(weights->data() + weights->offset(0, h, 0, 0), to.size(), to.data());
}

} // namespace headscope::checkpoint
