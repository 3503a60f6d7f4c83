#include "core/checkpoint/run/generator.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/model/rope.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/checkpoint/run/predictions.h"
#include "core/engine/cpu/cpu_engine.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

void check_prompt(const Model& model, const ModelInputs& prompt) {
    const Architecture& architecture = model.architecture();
    if (!architecture.causal)
        fail_input(tr("generator.model_reads_each_text",
                      "{}: this {} model reads each text as a whole and does not continue it; open a model "
                      "that predicts the next token, such as gpt2 or llama",
                      model.path(), architecture.family));
    if (!model.has_head())
        fail_input(tr("generator.checkpoint_no_language_model",
                      "{}: the checkpoint has no language-model head, so it predicts no token; get one that "
                      "was saved for causal language modeling",
                      model.path()));
    model.require_runnable();
    check_inputs(prompt, architecture);
    if (prompt.B != 1)
        fail_input(tr("common.texts_batch_give_one", "there are {} texts in the batch; give one", prompt.B));
    if (std::ranges::find(prompt.attention_mask, 0) != prompt.attention_mask.end())
        fail_input(tr("generator.prompt_padding_leave_out", "the prompt has padding; leave it out"));
    if (prompt.T > architecture.longest_text())
        fail_input(tr("generator.prompt_tokens_model_positions",
                      "the prompt has {} tokens, and the model has positions for {}; give a shorter one",
                      prompt.T, architecture.longest_text()));
}

} // namespace

struct Generator::Threads {
    std::shared_ptr<cpu::CpuMachine> machine = cpu::make_cpu_machine();
    cpu::CpuEngine engine{machine};
    cpu::CpuDense cpu{machine};
};

Generator::Generator(std::shared_ptr<const Model> model, const ModelInputs& prompt, ModelEdits edits)
    : model_(std::move(model)), edits_(std::move(edits)), threads_(std::make_shared<Threads>()),
      caches_(static_cast<std::size_t>(attention_count(model_->architecture()) -
                                       attention_number(model_->architecture(), {Stack::own, 0}))) {
    check_prompt(*model_, prompt);
    check_edits(*model_, edits_);
    text_.T = prompt.T;
    text_.ids = prompt.ids;
    text_.source = prompt.source;
}

void Generator::append(std::int64_t id) {
    const Architecture& architecture = model_->architecture();
    if (full())
        fail_input(tr("generator.text_tokens_model_positions",
                      "the text has {} tokens, and the model has positions for no more; take some back",
                      length()));
    if (id < 0 || id >= architecture.vocab)
        fail_input(tr("generator.token_should_0", "the token is {}; it should be from 0 to {}", id,
                      architecture.vocab - 1));
    text_.ids.push_back(id);
    ++text_.T;
    logits_ = weights_ = nullptr;
}

void Generator::take_back(std::int64_t count) {
    if (count < 0 || count >= length())
        fail_input(tr("generator.tokens_taken_back_text",
                      "cannot take back {} tokens of a text of {}; at least one must remain", count,
                      length()));
    if (count == 0)
        return;
    text_.T -= count;
    text_.ids.resize(static_cast<std::size_t>(text_.T));
    logits_ = weights_ = nullptr;
    cached_ = std::min(cached_, length());
}

Distribution Generator::next(const SamplingSettings& settings, std::size_t listed, Progress& progress) {
    check_settings(settings);
    return sample(logits(progress), settings, length(), listed);
}

std::span<const float> Generator::logits(Progress& progress) {
    if (logits_ == nullptr)
        run(keep_weights_, progress);
    return logits_->values();
}

TensorPtr Generator::last_weights(Progress& progress) {
    if (weights_ == nullptr)
        run(true, progress);
    return weights_;
}

/// The last token is run again where its logits are not there any more, and all are where their angles
/// changed.
void Generator::drop_stale() {
    if (cached_ > 0 && angles_change(model_->architecture(), run_length_, length()))
        cached_ = 0;
    cached_ = std::min(cached_, length() - 1);
}

/// Where its weights are wanted the last token is run alone: those of all tokens would take far more memory.
void Generator::run(bool weights, Progress& progress) {
    drop_stale();
    if (weights && cached_ < length() - 1) {
        run_tokens(length() - 1, false, progress);
        drop_stale();
    }
    run_tokens(length(), weights, progress);
}

/// Runs the tokens from cached_ to `end`.
void Generator::run_tokens(std::int64_t end, bool weights, Progress& progress) {
    const Architecture& architecture = model_->architecture();
    ModelInputs text = text_;
    text.T = end;
    text.ids.resize(static_cast<std::size_t>(end));
    for (std::int64_t l = 0; l < architecture.layers; ++l)
        cache_of(attention_number(architecture, {Stack::own, l})).truncate(cached_);
    const ForwardPass pass(*model_, text, edits_, cached_);
    const auto kept =
        weights ? std::make_shared<Tensor>(Shape{architecture.layers, architecture.H, end}) : nullptr;
    const StageSet output = StageSet().with(TensorId::output);
    Streams streams{encoder_, {}};
    pass.run(
        threads_->cpu, streams,
        [&](std::int64_t n, const Problem& problem) {
            const AttentionPlace place = attention_place(architecture, n);
            const bool wanted = weights && place.stack == Stack::own;
            Trace trace = attend(n, problem, wanted ? output.with(TensorId::weights) : output, progress);
            for (std::int64_t h = 0; wanted && h < architecture.H; ++h) {
                const Tensor& all = *trace.stage(TensorId::weights);
                std::copy_n(all.data() + all.offset(0, h, problem.dims.Tq - 1, 0), end,
                            kept->data() + kept->offset(place.layer, h, 0));
            }
            return trace.slot(TensorId::output);
        },
        progress);
    encoder_ = std::move(streams.encoder);
    const std::vector<TensorPtr>& hidden = streams.own;
    if (end == length()) {
        const auto D = static_cast<std::size_t>(architecture.D);
        const std::span<const float> last = hidden.back()->values().last(D);
        logits_ = pass.logits(threads_->cpu, Tensor(Shape{1, 1, architecture.D}, last), progress);
        weights_ = kept;
        if (!logits_->all_finite()) {
            logits_ = nullptr;
            fail_input(not_finite_logits(end - 1));
        }
    }
    cached_ = run_length_ = end;
}

/// The encoder keeps nothing: its text is read once.
Trace Generator::attend(std::int64_t n, const Problem& problem, StageSet wanted, Progress& progress) {
    return attention_place(model_->architecture(), n).stack == Stack::encoder
               ? threads_->engine.run(problem, wanted, progress)
               : threads_->engine.extend(problem, cache_of(n), wanted, progress);
}

cpu::KeyValueCache& Generator::cache_of(std::int64_t n) {
    return caches_[static_cast<std::size_t>(n - attention_number(model_->architecture(), {Stack::own, 0}))];
}

void Generator::read_cache(std::int64_t l, std::int64_t g, std::int64_t i, std::span<float> key,
                           std::span<float> value) const {
    const std::size_t each = caches_.size() / static_cast<std::size_t>(model_->architecture().layers);
    caches_[each * static_cast<std::size_t>(l)].read(0, g, i, key, value);
}

std::int64_t Generator::row_bytes() const {
    const Architecture& a = model_->architecture();
    return 2 * a.Hkv * a.dk * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t Generator::cache_bytes() const {
    const std::int64_t source = encoder_.empty() ? 0 : text_.source.front().T;
    return model_->architecture().layers * row_bytes() * (cached_ + source);
}

std::int64_t Generator::read_bytes() const {
    std::int64_t rows = 0;
    for (const auto& window : model_->architecture().windows)
        rows +=
            (window ? std::min(*window, cached_) : cached_) + (encoder_.empty() ? 0 : text_.source.front().T);
    return row_bytes() * rows;
}

} // namespace headscope::checkpoint
