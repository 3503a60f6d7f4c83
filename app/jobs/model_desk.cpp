#include "app/jobs/model_desk.h"

#include "core/base/error.h"

#include <new>
#include <utility>

namespace headscope::app {

namespace {

/// Of a long prompt a run keeps the weights of some layers alone: three runs may be held at a time, and what
/// is asked of the others is computed again.
constexpr checkpoint::ModelRun::Options run_options{.kept_bytes = std::size_t{128} << 20U};

bool same_inputs(const checkpoint::ModelRunPtr& run, const ModelPart& part) {
    return run != nullptr && run->model_ptr() == part.model->model && run->inputs().ids == part.inputs->ids;
}

ModelPartPtr with_inputs(const ModelPartPtr& part) {
    if (part->inputs != nullptr)
        return part;
    auto full = std::make_shared<ModelPart>(*part);
    full->inputs = std::make_shared<const checkpoint::ModelInputs>(
        checkpoint::prompt_inputs(*part->model, part->prompt));
    return full;
}

/// How many layers two sets of edits have in common from the start.
std::int64_t shared_layers(const checkpoint::ModelEdits& a, const checkpoint::ModelEdits& b, std::int64_t L) {
    return first_difference(a, b).value_or(L);
}

std::shared_ptr<const Problem> layer_of(const checkpoint::ModelRun& run, std::int64_t layer) {
    return std::make_shared<const Problem>(run.problem(layer));
}

std::optional<Predictions> predictions_at(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited,
                                          std::optional<std::int64_t> position, const Progress& cancel) {
    return predictions_of(model, run, unedited, position_of(run, model, position), cancel);
}

void check_layer(const checkpoint::Architecture& config, std::int64_t layer) {
    if (layer < 0 || layer >= config.layers)
        fail_input("there is no layer " + std::to_string(layer) + "; layers are numbered 0 to " +
                   std::to_string(config.layers - 1));
}

} // namespace

OpenedModel open_model(const checkpoint::TextModelPtr& model, const std::string& prompt, std::int64_t layer,
                       const checkpoint::ModelEdits& edits, Progress& progress) {
    auto part = std::make_shared<ModelPart>();
    if (model->model->encoder() != nullptr)
        fail_input(model->name() +
                   " has an encoder and a decoder: write one of its three attentions with headscope trace "
                   "--model " +
                   model->model->path() +
                   " --stack cross (or encoder, decoder) -o FILE.safetensors, and open that file");
    part->model = model;
    check_layer(model->model->architecture(), layer);
    progress.check();
    part->prompt = prompt.empty() ? checkpoint::first_prompt(*model) : prompt;
    part->inputs =
        std::make_shared<const checkpoint::ModelInputs>(checkpoint::prompt_inputs(*model, part->prompt));
    part->edits = edits;
    OpenedModel opened;
    opened.layer = layer;
    opened.unedited = opened.run =
        checkpoint::ModelRun::compute(model->model, *part->inputs, {}, nullptr, run_options, progress);
    if (!edits.empty())
        opened.run = checkpoint::ModelRun::compute(model->model, *part->inputs, edits, opened.unedited,
                                                   run_options, progress);
    part->marks = marks_of(*opened.run, edits);
    opened.part = part;
    opened.base = layer_of(*opened.run, layer);
    opened.predictions = predictions_at(*model, *opened.run, *opened.unedited, std::nullopt, progress);
    opened.next_logits = next_logits(*model, *opened.run, progress);
    return opened;
}

OpenedModel open_model(const std::string& folder, const std::string& prompt, std::int64_t layer,
                       Progress& progress) {
    return open_model(checkpoint::open_text_model(folder), prompt, layer, {}, progress);
}

void ModelDesk::begin_with(const OpenedModel& opened) {
    clear();
    wait();
    unedited_ = opened.unedited;
    last_ = opened.run;
}

void ModelDesk::clear() {
    asked_ = nullptr;
    handed_out_ = nullptr;
    values_.clear();
    if (!values_.busy())
        unedited_ = last_ = nullptr;
}

void ModelDesk::want(Wish wish) {
    values_.clear(); // the same part may be wanted at another layer or position
    asked_ = wish.part;
    handed_out_ = nullptr;
    values_.ask<Answer>({asked_, "run"}, Urgency::on_screen,
                        [this, wish = std::move(wish)](Progress& progress, const Put& put) {
                            try {
                                return compute(wish, progress, put);
                            } catch (const std::bad_alloc&) {
                                fail_input("This run needs more memory than the machine has free; type a "
                                           "shorter prompt.");
                            }
                        });
}

std::shared_ptr<const ModelDesk::Answer> ModelDesk::poll() {
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

ModelDesk::Answer ModelDesk::compute(const Wish& wish, Progress& progress, const Put& put) {
    const ModelPartPtr part = with_inputs(wish.part);
    const checkpoint::TextModel& model = *part->model;
    const std::int64_t L = model.model->architecture().layers;
    // The layer that is opened is seen at once, and follows the edits of earlier layers when they are done.
    if (same_inputs(last_, *part) && shared_layers(last_->edits(), part->edits, L) < L)
        put({wish.part, part, wish.layer, layer_of(*last_, wish.layer), nullptr, nullptr, {}, {}, {}});
    const auto run = [&](const checkpoint::ModelEdits& edits) {
        checkpoint::ModelRunPtr before = same_inputs(unedited_, *part) ? unedited_ : nullptr;
        if (same_inputs(last_, *part) && (before == nullptr || shared_layers(last_->edits(), edits, L) >
                                                                   shared_layers(before->edits(), edits, L)))
            before = last_;
        if (before != nullptr && shared_layers(before->edits(), edits, L) == L)
            return before;
        return checkpoint::ModelRun::compute(model.model, *part->inputs, edits, before, run_options,
                                             progress);
    };
    if (!same_inputs(unedited_, *part)) {
        progress.set_part(0.0F, part->edits.empty() ? 1.0F : 0.5F);
        unedited_ = run({});
        progress.set_part(0.5F, 1.0F);
    }
    last_ = run(part->edits);
    return {wish.part,
            part,
            wish.layer,
            layer_of(*last_, wish.layer),
            last_,
            unedited_,
            predictions_at(model, *last_, *unedited_, wish.position, progress),
            next_logits(model, *last_, progress),
            {}};
}

} // namespace headscope::app
