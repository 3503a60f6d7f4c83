#include "app/jobs/model_runner.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/first_target.h"
#include "core/checkpoint/model/adapter_edits.h"

#include <algorithm>
#include <new>
#include <utility>

namespace headscope::app {

namespace {

/// The grid reads each layer head by head. Weights above this size are computed head by head, so that no
/// whole layer stays in memory.
constexpr checkpoint::ModelRun::Options of_window{.whole_bytes = std::size_t{32} << 20U};

bool same_inputs(const checkpoint::ModelRunPtr& run, const RunSpec& part) {
    return run != nullptr && run->model_ptr() == part.model->model && run->inputs() == *part.inputs;
}

RunSpecPtr with_inputs(const RunSpecPtr& part, Progress& progress) {
    if (part->inputs != nullptr)
        return part;
    auto full = std::make_shared<RunSpec>(*part);
    const checkpoint::TextModel& model = *part->model;
    checkpoint::ModelInputs inputs = checkpoint::prompt_inputs(model, part->prompt, part->target, part->pair);
    if (std::exchange(full->write_target, false)) {
        inputs = checkpoint::with_first_target(model, inputs, part->edits, progress);
        full->written = inputs.T - 1;
        full->target = checkpoint::text_of(model, std::vector(inputs.ids.begin() + 1, inputs.ids.end()), " ");
    }
    full->inputs = std::make_shared<const checkpoint::ModelInputs>(std::move(inputs));
    return full;
}

/// Returns the number of leading attentions that two sets of edits have in common.
std::int64_t shared(const checkpoint::ModelEdits& a, const checkpoint::ModelEdits& b, std::int64_t count) {
    return first_difference(a, b).value_or(count);
}

/// Returns the number of leading attentions that a run shares with one of the part's inputs and these edits;
/// 0 if only the text differs, since the run can still be extended to it; -1: nothing in common.
std::int64_t in_common(const checkpoint::ModelRunPtr& run, const RunSpec& part,
                       const checkpoint::ModelEdits& edits) {
    if (run == nullptr || run->model_ptr() != part.model->model)
        return -1;
    const checkpoint::ModelConfig& config = part.config();
    const std::int64_t same = shared(run->edits(), edits, attention_count(config));
    if (run->inputs() == *part.inputs)
        return same;
    // A change of the decoder's text keeps the encoder's results.
    const bool same_source = part.two_texts() && run->inputs().source == part.inputs->source;
    if (same_source)
        return std::min(same, attention_number(config, {checkpoint::Stack::own, 0}));
    return same == attention_count(config) ? 0 : -1;
}

std::shared_ptr<const Problem> base_of(const checkpoint::ModelRun& run, std::int64_t attention) {
    return std::make_shared<const Problem>(run.problem(attention));
}

std::optional<Predictions> predictions_at(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited,
                                          std::optional<std::int64_t> position, const Progress& cancel) {
    return predictions_of(model, run, unedited, position_of(run, model, position), cancel);
}

/// Returns the inputs of a text with known token ids. If the text is tokenized into the same ids, it is
/// treated as typed.
checkpoint::ModelInputs known_inputs(const checkpoint::TextModel& model, const ModelTexts& texts,
                                     bool two_texts) {
    std::optional<checkpoint::ModelInputs> typed;
    try {
        typed = checkpoint::prompt_inputs(model, texts.prompt, texts.target.value_or(""), texts.pair);
    } catch (const Error&) {
        // The text was typed for another tokenizer; its ids are known.
    }
    if (!two_texts)
        return typed && typed->ids == texts.ids ? *typed : checkpoint::token_inputs(model, texts.ids);
    checkpoint::ModelInputs source;
    if (typed && typed->source.front().ids == texts.ids) {
        source = typed->source.front();
    } else {
        source.ids = texts.ids;
        source.T = std::ssize(source.ids);
        for (const std::int64_t id : source.ids)
            source.tokens.push_back(checkpoint::label_of(model, id));
    }
    return checkpoint::token_inputs(model, texts.target_ids, {std::move(source)});
}

void check_layer(const checkpoint::ModelConfig& config, std::int64_t layer) {
    if (layer < 0 || layer >= config.layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      layer, config.layers - 1));
}

} // namespace

OpenedModel open_model(const checkpoint::TextModelPtr& model, const ModelTexts& texts, std::int64_t layer,
                       const checkpoint::ModelEdits& edits, Progress& progress) {
    auto texts_of = std::make_shared<RunSpec>();
    texts_of->model = model;
    const checkpoint::ModelConfig& config = texts_of->config();
    check_layer(config, layer);
    if (texts.target && !texts_of->two_texts())
        fail_input(tr("model_desk.no_decoder_beside_encoder",
                      "{} does not have both an encoder and a decoder; leave the decoder's text out",
                      model->name()));
    progress.check();
    texts_of->prompt = texts.prompt.empty() ? checkpoint::first_prompt(*model) : texts.prompt;
    texts_of->target = texts.target.value_or("");
    texts_of->pair = texts.pair;
    checkpoint::check_pair(*model, texts.pair);
    texts_of->write_target = texts_of->two_texts() && !texts.target;
    texts_of->edits = edits;
    if (!texts.ids.empty()) {
        texts_of->write_target = false;
        auto inputs =
            std::make_shared<checkpoint::ModelInputs>(known_inputs(*model, texts, texts_of->two_texts()));
        texts_of->written = std::clamp<std::int64_t>(texts.written, 0, inputs->T - 1);
        texts_of->inputs = std::move(inputs);
    }
    auto part = std::make_shared<RunSpec>(*with_inputs(texts_of, progress));
    OpenedModel opened;
    const checkpoint::Stack stack = part->two_texts() ? checkpoint::Stack::cross : checkpoint::Stack::own;
    opened.attention = attention_number(config, {stack, nearest_attention(config, {stack, layer})});
    opened.unedited = opened.run =
        checkpoint::ModelRun::compute(model->model, *part->inputs, {}, nullptr, of_window, progress);
    if (!edits.empty())
        opened.run = checkpoint::ModelRun::compute(model->model, *part->inputs, edits, opened.unedited,
                                                   of_window, progress);
    part->marks = marks_of(*opened.run, edits);
    opened.part = part;
    opened.base = base_of(*opened.run, opened.attention);
    opened.predictions = predictions_at(*model, *opened.run, *opened.unedited, std::nullopt, progress);
    opened.next_logits = next_logits(*model, *opened.run, progress);
    return opened;
}

OpenedModel open_model(const std::string& folder, const ModelTexts& texts, std::int64_t layer,
                       Progress& progress) {
    const checkpoint::EditedCheckpoint checkpoint = checkpoint::open_edited(folder);
    OpenedModel opened = open_model(checkpoint.text, texts, layer, checkpoint.edits, progress);
    opened.note = checkpoint.note;
    return opened;
}

void ModelRunner::begin_with(const OpenedModel& opened) {
    clear();
    *runs_ = {opened.unedited, opened.run};
}

void ModelRunner::clear() {
    asked_ = nullptr;
    handed_out_ = nullptr;
    values_.clear();
    runs_ = std::make_shared<Runs>(); // a run that is still stopping keeps its own
}

void ModelRunner::request(Request wish) {
    values_.clear(); // the same part may be requested at another layer or position
    asked_ = wish.part;
    handed_out_ = nullptr;
    values_.ask<Answer>({asked_, "run"}, Priority::on_screen,
                        [runs = runs_, wish = std::move(wish)](Progress& progress, const Put& put) {
                            try {
                                return compute(*runs, wish, progress, put);
                            } catch (const std::bad_alloc&) {
                                fail_input(tr("model_desk.run_needs_more_memory",
                                              "This run needs more memory than the machine has free; type a "
                                              "shorter prompt."));
                            }
                        });
}

std::shared_ptr<const ModelRunner::Answer> ModelRunner::poll() {
    const Derived<Answer> newest = values_.peek<Answer>({asked_, "run"});
    std::shared_ptr<const Answer> answer = newest.value;
    if (!newest.error.empty() && (handed_out_ == nullptr || handed_out_->error.empty())) {
        Answer failed;
        failed.asked = asked_;
        failed.error = newest.error;
        answer = std::make_shared<const Answer>(std::move(failed));
    } else if (answer == handed_out_ || !newest.error.empty()) {
        return nullptr;
    }
    return handed_out_ = answer;
}

ModelRunner::Answer ModelRunner::compute(Runs& runs, const Request& wish, Progress& progress,
                                         const Put& put) {
    const RunSpecPtr part = with_inputs(wish.part, progress);
    const checkpoint::TextModel& model = *part->model;
    const std::int64_t count = attention_count(model.model->config());
    // Show the open attention at once, from the previous run; the new run follows when it is done.
    if (same_inputs(runs.last, *part) && shared(runs.last->edits(), part->edits, count) < count)
        put({wish.part,
             part,
             wish.attention,
             base_of(*runs.last, wish.attention),
             nullptr,
             nullptr,
             {},
             {},
             {}});
    const auto run = [&](const checkpoint::ModelEdits& edits) {
        checkpoint::ModelRunPtr before;
        std::int64_t most = -1;
        for (const checkpoint::ModelRunPtr& known : {runs.last, runs.unedited})
            if (const std::int64_t same = in_common(known, *part, edits); same > most) {
                before = known;
                most = same;
            }
        if (most == count)
            return before;
        return checkpoint::ModelRun::compute(model.model, *part->inputs, edits, before, of_window, progress);
    };
    if (!same_inputs(runs.unedited, *part)) {
        progress.set_part(0.0F, part->edits.empty() ? 1.0F : 0.5F);
        runs.unedited = run({});
        progress.set_part(0.5F, 1.0F);
    }
    runs.last = run(part->edits);
    return {wish.part,
            part,
            wish.attention,
            base_of(*runs.last, wish.attention),
            runs.last,
            runs.unedited,
            predictions_at(model, *runs.last, *runs.unedited, wish.position, progress),
            next_logits(model, *runs.last, progress),
            {}};
}

} // namespace headscope::app
