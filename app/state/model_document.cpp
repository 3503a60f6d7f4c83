#include "app/state/model_document.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Gains that are all 1 are none.
void normalise(std::vector<float>& gains) {
    if (std::ranges::all_of(gains, [](float gain) { return gain == 1.0F; }))
        gains.clear();
}

} // namespace

DocumentPtr model_document(const ModelPartPtr& part, std::int64_t attention,
                           const std::shared_ptr<const Problem>& base, std::uint64_t revision) {
    project::Recipe recipe;
    recipe.sentence = part->prompt;
    recipe.base = base;
    recipe.temperature = base->temperature;
    if (const checkpoint::LayerEdits* edits = checkpoint::edits_of(part->edits, attention)) {
        recipe.edits = edits->tensors;
        recipe.gains = edits->gains;
    }
    auto document = std::make_shared<Document>();
    document->unedited = base;
    document->problem = project::with_edits(*base, recipe);
    document->recipe = std::move(recipe);
    document->title = part->model->name();
    document->revision = revision;
    document->kind = CheckpointLayer{part, attention_place(part->architecture(), attention)};
    return document;
}

DocumentPtr edit_model_document(const Document& document, project::Recipe recipe, bool all_dropped) {
    auto part = std::make_shared<ModelPart>(*document.part());
    if (all_dropped) {
        part->edits.clear();
        part->marks.clear();
    }
    normalise(recipe.gains);
    const checkpoint::LayerEdits edits{recipe.edits, recipe.gains};
    const std::int64_t n = open_attention(document);
    part->edits.erase(n);
    part->marks.erase(n);
    if (!edits.empty()) {
        part->edits.emplace(n, edits);
        part->marks.emplace(n,
                            marks_of(checkpoint::with_edits(*document.unedited, &edits), *document.unedited));
    }
    return model_document(part, n, document.unedited, document.revision + 1);
}

std::int64_t open_attention(const Document& document) {
    return attention_number(document.part()->architecture(), document.checkpoint()->place);
}

std::string attention_name(const ModelPart& part, checkpoint::AttentionPlace place) {
    const std::string stack = stack_name(part.architecture(), place.stack);
    return (stack.empty() ? "" : stack + " ") + "L" + std::to_string(place.layer);
}

std::map<std::int64_t, LayerMarks> marks_of(const checkpoint::ModelRun& run,
                                            const checkpoint::ModelEdits& edits) {
    std::map<std::int64_t, LayerMarks> marks;
    for (const auto& [n, changed] : edits) {
        const Problem base = run.problem(n);
        marks.emplace(n, marks_of(checkpoint::with_edits(base, &changed), base));
    }
    return marks;
}

std::optional<std::int64_t> first_difference(const checkpoint::ModelEdits& a,
                                             const checkpoint::ModelEdits& b) {
    std::int64_t count = 0;
    for (const checkpoint::ModelEdits* edits : {&a, &b})
        if (!edits->empty())
            count = std::max(count, edits->rbegin()->first + 1);
    const std::int64_t first = checkpoint::first_difference(a, b, count);
    return first < count ? std::optional(first) : std::nullopt;
}

std::string open_layer_name(const Document& document) {
    const AttentionSetPtr& weights = document.shown_weights();
    const bool mean = weights != nullptr && document.layer() >= weights->info().own_layers();
    if (document.is_checkpoint() && !mean)
        return attention_name(*document.part(), document.checkpoint()->place);
    return weights != nullptr ? analysis::layer_name(weights->info(), document.layer())
                              : "L" + std::to_string(document.layer());
}

std::string open_head_name(const Document& document, std::int64_t h) {
    const AttentionSetPtr& weights = document.shown_weights();
    return weights != nullptr ? analysis::head_name(weights->info(), document.layer(), h)
                              : "L" + std::to_string(document.layer()) + " H" + std::to_string(h);
}

} // namespace headscope::app
