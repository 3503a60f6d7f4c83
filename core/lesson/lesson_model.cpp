#include "core/lesson/lesson_model.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/additional_passes.h"

#include <algorithm>

namespace headscope::lesson {

namespace {

/// All stages of a trace and of the block table.
StageSet every_stage() {
    StageSet all = StageSet::all();
    for (const TensorInfo& row : block_table())
        all = all.with(row.id);
    return all;
}

checkpoint::ForwardResult run(const checkpoint::TextModel& model, const checkpoint::ModelInputs& inputs,
                              const checkpoint::ForwardOptions& options, Progress& progress) {
    return checkpoint::run_model(*model.model, inputs, options, nullptr, progress);
}

} // namespace

LessonModel run_lesson_model(const checkpoint::TextModelPtr& model, checkpoint::ModelInputs inputs,
                             checkpoint::ModelEdits edits, const std::string& corrupted, Progress& progress) {
    LessonModel out{model, std::move(inputs), std::move(edits), {}, {}, {}, {}};
    out.run = run(*model, out.inputs, {.stages = every_stage(), .keep_problems = true, .edits = out.edits},
                  progress);
    if (out.run.logits == nullptr)
        fail_input(tr("lesson_model.no_language_model_head",
                      "{} has no language-model head; lessons need a model with one", model->name()));
    for (checkpoint::LayerRun& layer : out.run.layers) {
        layer.problem->dims.d_ff = model->model->config().d_ff;
        layer.problem->dims.vocab = model->model->config().vocab;
    }
    out.numbers = checkpoint::ModelRun::compute(model->model, out.inputs, out.edits, nullptr, {}, progress);
    out.additional = std::make_shared<AdditionalPasses>(model, out.numbers, corrupted);
    out.unedited_logits = out.edits.empty() ? out.run.logits : run(*model, out.inputs, {}, progress).logits;
    return out;
}

std::vector<float> last_logits(const LessonModel& model, const checkpoint::ModelEdits& edits,
                               Progress& progress) {
    const TensorPtr logits = run(*model.model, model.inputs, {.edits = edits}, progress).logits;
    const auto last = logits->values().last(static_cast<std::size_t>(logits->shape().back(0)));
    return {last.begin(), last.end()};
}

checkpoint::ModelEdits edits_of(const StepScene& scene, const checkpoint::ModelConfig& config) {
    checkpoint::ModelEdits edits;
    for (const HeadGain& gain : scene.gains) {
        const std::int64_t l = gain.layer.value_or(scene.layer.value_or(0));
        if (l < 0 || l >= config.layers || gain.head < 0 || gain.head >= config.H)
            fail_input(tr("lesson_model.no_head_layers_numbered",
                          "there is no head {}.{}; layers are numbered 0 to {} and heads 0 to {}", l,
                          gain.head, config.layers - 1, config.H - 1));
        std::vector<float>& gains = edits[l].gains;
        gains.resize(static_cast<std::size_t>(config.H), 1.0F);
        gains[static_cast<std::size_t>(gain.head)] = gain.gain;
    }
    std::erase_if(edits, [](const auto& layer) {
        return std::ranges::all_of(layer.second.gains, [](float gain) { return gain == 1.0F; });
    });
    return edits;
}

const checkpoint::LayerRun& layer_of(const LessonModel& model, std::int64_t l) {
    const auto layers = static_cast<std::int64_t>(model.run.layers.size());
    if (l < 0 || l >= layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      l, layers - 1));
    return model.run.layers[static_cast<std::size_t>(l)];
}

const Tensor* tensor_of(const LessonModel& model, std::int64_t l, TensorId id) {
    const checkpoint::LayerRun& layer = layer_of(model, l);
    if (find_block_stage(tensor_info(id).name) == std::nullopt)
        return tensor_of(*layer.problem, layer.trace, id);
    if (id == TensorId::logits)
        return model.run.logits.get();
    const auto found = std::ranges::find_if(model.run.blocks, [&](const checkpoint::BlockRun& block) {
        return block.id == id && (block.place.layer == l || block.place.layer < 0);
    });
    return found == model.run.blocks.end() ? nullptr : found->tensor.get();
}

std::string word_of(const LessonModel& model, std::int64_t token) {
    std::string word = checkpoint::label_of(*model.model, token);
    constexpr std::string_view blank = "·";
    if (word.size() > blank.size() && word.starts_with(blank))
        word.erase(0, blank.size());
    return word;
}

void check_screen(const StepScene& scene, const LessonModel& model) {
    for (const auto& word : {scene.token, scene.against})
        if (word && !word->empty())
            checkpoint::word_token(*model.model, *word);
    if (scene.screen != "patching")
        return;
    if (model.additional->corrupted().inputs.T != model.inputs.T)
        fail_input(tr("check.second_prompt_tokens_sentence",
                      "the second prompt has {} tokens and the sentence {}; patching needs equal numbers",
                      model.additional->corrupted().inputs.T, model.inputs.T));
    const auto kind = std::ranges::find(analysis::patch_kinds(), scene.patched.value_or("residual"),
                                        &analysis::PatchKindInfo::id);
    if (!scene.patch || kind == analysis::patch_kinds().end())
        return;
    const checkpoint::ModelConfig& config = model.model->model->config();
    const bool streams = kind->kind == analysis::PatchKind::residual;
    if ((*scene.patch)[0] >= config.layers + (streams ? 1 : 0) ||
        (*scene.patch)[1] >= (kind->by_head ? config.H : model.inputs.T))
        fail_input(tr("check.map_patches_no_cell", "the map of patches has no cell {}.{}", (*scene.patch)[0],
                      (*scene.patch)[1]));
}

} // namespace headscope::lesson
