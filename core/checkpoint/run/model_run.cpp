#include "core/checkpoint/run/model_run.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/run/attention_info.h"
#include "core/checkpoint/run/model_run_state.h"

#include <utility>

namespace headscope::checkpoint {

ModelRun::ModelRun(std::unique_ptr<State> state) : state_(std::move(state)) {}

ModelRun::~ModelRun() = default;

ModelRunPtr ModelRun::compute(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits,
                              const ModelRunPtr& before, const Options& options, Progress& progress) {
    if (inputs.B != 1)
        fail_input(tr("common.texts_batch_give_one", "there are {} texts in the batch; give one", inputs.B));
    check_edits(*model, edits);
    const State* const earlier = before == nullptr ? nullptr : before->state_.get();
    auto state = std::make_unique<State>(model, inputs, edits, earlier);
    for (const Stack stack : stacks_of(model->config()))
        state->info[static_cast<std::size_t>(stack)] = attention_info(*model, inputs, stack);
    state->whole_bytes = options.whole_bytes;
    if (earlier != nullptr && state->goes_on_with(*earlier))
        state->go_on(*earlier, options, progress);
    else
        state->compute(earlier, options, progress);
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

const TextGraphPtr& ModelRun::text() const {
    return state_->text();
}

const run::RunPtr& ModelRun::kept() const {
    return state_->numbers();
}

std::int64_t ModelRun::computed_from() const {
    return state_->computed_from;
}

Problem ModelRun::problem(std::int64_t n) const {
    return state_->problem(n);
}

const TensorPtr& ModelRun::stream(std::int64_t n) const {
    return state_->stream(n);
}

const TensorPtr& ModelRun::hidden(std::int64_t l) const {
    return state_->hidden(l);
}

TensorPtr ModelRun::logits() const {
    return state_->logits();
}

TensorPtr ModelRun::logits_at(std::int64_t position, const Progress& cancel) const {
    return state_->logits_at(position, cancel);
}

RunPartPtr ModelRun::around(std::int64_t n, Progress& progress) const {
    return state_->around(n, progress);
}

RunPartPtr ModelRun::ends(Stack stack, std::int64_t position, Progress& progress) const {
    return state_->ends(stack, position, progress);
}

StackLengths ModelRun::lengths(Stack stack, Progress& progress) const {
    return state_->lengths(stack, progress);
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

TensorPtr ModelRun::rows(std::int64_t n, std::int64_t first, std::int64_t count,
                         const Progress& cancel) const {
    return state_->rows(n, first, count, cancel);
}

void ModelRun::read_weights(std::int64_t n, std::int64_t h, const MapPart& part, std::span<float> to) const {
    state_->read_part(n, h, part, to);
}

TensorPtr ModelRun::brought_by(std::int64_t n) const {
    return state_->brought(n);
}

TensorPtr ModelRun::brought(std::int64_t l) const {
    return brought_by(attention_number(state_->config, {Stack::own, l}));
}

const std::vector<std::string>& ModelRun::query_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

const std::vector<std::string>& ModelRun::key_tokens(std::int64_t) const {
    return state_->inputs.tokens;
}

TensorPtr ModelRun::layer(std::int64_t l) const {
    return state_->weights(attention_number(state_->config, {Stack::own, l}));
}

void ModelRun::read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const {
    read_weights(attention_number(state_->config, {Stack::own, l}), h, part, to);
}

} // namespace headscope::checkpoint
