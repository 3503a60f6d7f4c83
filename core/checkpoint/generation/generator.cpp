#include "core/checkpoint/generation/generator.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/graph/model_stages.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

void check_prompt(const Model& model, const ModelInputs& prompt) {
    const ModelConfig& config = model.config();
    if (!config.causal)
        fail_input(tr("generator.model_reads_each_text",
                      "{}: this {} model reads each text as a whole and does not continue it; open a model "
                      "that predicts the next token, such as gpt2 or llama",
                      model.path(), config.family));
    if (!model.has_head())
        fail_input(tr("generator.checkpoint_no_language_model",
                      "{}: the checkpoint has no language-model head, so it predicts no token; get one that "
                      "was saved for causal language modeling",
                      model.path()));
    model.require_runnable();
    check_inputs(prompt, model);
    if (prompt.B != 1)
        fail_input(tr("common.texts_batch_give_one", "there are {} texts in the batch; give one", prompt.B));
    if (std::ranges::find(prompt.attention_mask, 0) != prompt.attention_mask.end())
        fail_input(tr("generator.prompt_padding_leave_out", "the prompt has padding; leave it out"));
    if (prompt.T > config.longest_text)
        fail_input(tr("generator.prompt_tokens_model_positions",
                      "the prompt has {} tokens, and the model has positions for {}; give a shorter one",
                      prompt.T, config.longest_text));
}

} // namespace

namespace {

/// The nodes that a generator asks for: the output of the last layer, and each layer's weights.
std::vector<std::string> captures_of(const Model& model) {
    const ModelConfig& config = model.config();
    std::vector<std::string> captures{layer_prefix(config, {Stack::own, -1}) + "hidden." +
                                      std::to_string(config.layers)};
    for (std::int64_t l = 0; l < config.layers; ++l)
        if (config.has_attention(l))
            captures.push_back(model.stages().name({Stack::own, l}, TensorId::weights));
    return captures;
}

} // namespace

Generator::Generator(std::shared_ptr<const Model> model, const ModelInputs& prompt, ModelEdits edits)
    : model_(std::move(model)), growing_(model_, edits, captures_of(*model_), std::make_shared<Workshop>()) {
    check_prompt(*model_, prompt);
    check_edits(*model_, edits);
    text_.T = prompt.T;
    text_.ids = prompt.ids;
    text_.source = prompt.source;
}

void Generator::append(std::int64_t id) {
    const ModelConfig& config = model_->config();
    if (full())
        fail_input(tr("generator.text_tokens_model_positions",
                      "the text has {} tokens, and the model has positions for no more; take some back",
                      length()));
    if (id < 0 || id >= config.vocab)
        fail_input(tr("generator.token_should_0", "the token is {}; it should be from 0 to {}", id,
                      config.vocab - 1));
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
    growing_.truncate(length());
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

/// The last token is run again if its logits are not there any more. If its weights are wanted, it is run
/// alone: those of all tokens would take far more memory.
void Generator::run(bool weights, Progress& progress) {
    if (weights && growing_.rows() < length() - 1)
        run_tokens(length() - 1, false, progress);
    growing_.truncate(length() - 1);
    run_tokens(length(), weights, progress);
}

std::string Generator::weights_of(std::int64_t l) const {
    return model_->stages().name({Stack::own, l}, TensorId::weights);
}

/// Runs the tokens up to `end` that are not cached.
void Generator::run_tokens(std::int64_t end, bool weights, Progress& progress) {
    const ModelConfig& config = model_->config();
    ModelInputs text = text_;
    text.T = end;
    text.ids.resize(static_cast<std::size_t>(end));
    const bool is_last = end == length();
    std::vector<std::string> wanted;
    if (is_last)
        wanted.push_back(growing_.end());
    for (std::int64_t l = 0; weights && l < config.layers; ++l)
        if (config.has_attention(l))
            wanted.push_back(weights_of(l));
    std::int64_t first = 0;
    const auto rows = growing_.run(text, wanted, first, progress);
    if (!is_last)
        return;
    const auto D = static_cast<std::size_t>(config.D);
    const TensorPtr last =
        std::make_shared<const Tensor>(Shape{1, 1, config.D}, rows.at(growing_.end())->values().last(D));
    TensorPtr logits = growing_.logits(last, progress);
    if (!logits->all_finite())
        fail_input(not_finite_logits(end - 1));
    logits_ = std::move(logits);
    if (!weights)
        return;
    auto kept = std::make_shared<Tensor>(Shape{config.layers, config.H, end}, 0.0F);
    for (std::int64_t l = 0; l < config.layers; ++l) {
        if (!config.has_attention(l))
            continue;
        const Tensor& all = *rows.at(weights_of(l));
        for (std::int64_t h = 0; h < config.H; ++h)
            std::copy_n(all.data() + all.offset(0, h, end - first - 1, 0), end,
                        kept->data() + kept->offset(l, h, 0));
    }
    weights_ = std::move(kept);
}

void Generator::read_cache(std::int64_t l, std::int64_t g, std::int64_t i, std::span<float> key,
                           std::span<float> value) const {
    growing_.cache({Stack::own, l})->read(0, g, i, key, value);
}

std::int64_t Generator::row_bytes() const {
    const ModelConfig& a = model_->config();
    return a.Hkv * (a.dk + a.dv()) * static_cast<std::int64_t>(sizeof(float));
}

/// Rows of the source that a layer keeps.
std::int64_t Generator::source_rows() const {
    return text_.source.empty() || cached() == 0 ? 0 : text_.source.front().T;
}

std::int64_t Generator::cache_bytes() const {
    const ModelConfig& a = model_->config();
    const std::int64_t layers =
        a.layers - std::ranges::count(a.delta_layers, true); // delta layers keep no keys
    return layers * row_bytes() * (cached() + source_rows());
}

std::int64_t Generator::read_bytes() const {
    std::int64_t rows = 0;
    const ModelConfig& a = model_->config();
    for (std::int64_t l = 0; l < a.layers; ++l) {
        if (!a.has_attention(l))
            continue;
        const std::optional<std::int64_t> window = model_->stages().window({Stack::own, l});
        std::int64_t read = window ? std::min(*window, cached()) : cached();
        if (const auto chunk = model_->stages().chunk({Stack::own, l}); chunk && read > 0)
            read = (read - 1) % *chunk + 1;
        rows += read + source_rows();
    }
    return row_bytes() * rows;
}

} // namespace headscope::checkpoint
