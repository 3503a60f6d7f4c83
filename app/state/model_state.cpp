#include "app/state/model_state.h"

#include "core/checkpoint/run/predictions.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr std::size_t most_listed = 10, most_moved = 8;

std::string layers_text(std::int64_t first, std::int64_t last) {
    return first == last ? "layer " + std::to_string(first)
                         : "layers " + std::to_string(first) + " to " + std::to_string(last);
}

} // namespace

std::int64_t position_of(const checkpoint::ModelRun& run, const checkpoint::TextModel& model,
                         std::optional<std::int64_t> chosen) {
    const checkpoint::ModelInputs& inputs = run.inputs();
    if (chosen)
        return std::clamp<std::int64_t>(*chosen, 0, inputs.T - 1);
    const auto hidden = std::ranges::find(inputs.ids, model.mask_id);
    return model.mask_id >= 0 && hidden != inputs.ids.end() ? hidden - inputs.ids.begin() : inputs.T - 1;
}

std::optional<Predictions> predictions_of(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited, std::int64_t position,
                                          const Progress& cancel) {
    const TensorPtr logits = run.logits_at(position, cancel),
                    unedited_logits = unedited.logits_at(position, cancel);
    if (logits == nullptr || unedited_logits == nullptr)
        return std::nullopt;
    const auto now = logits->values(), before = unedited_logits->values();
    const auto at = static_cast<std::size_t>(position);
    Predictions out{.position = position,
                    .token = run.inputs().tokens[at],
                    .hidden = model.mask_id >= 0 && run.inputs().ids[at] == model.mask_id,
                    .edited = !run.edits().empty(),
                    .likeliest = {},
                    .moved = {}};
    const std::vector<checkpoint::TokenChance> listed = checkpoint::likeliest(now, most_listed);
    std::vector<std::int64_t> ids;
    for (const checkpoint::TokenChance& chance : listed)
        ids.push_back(chance.id);
    const std::vector<float> was = out.edited ? checkpoint::chances_of(before, ids) : std::vector<float>();
    for (std::size_t n = 0; n < listed.size(); ++n)
        out.likeliest.push_back({ids[n], checkpoint::label_of(model, ids[n]),
                                 out.edited ? was[n] : listed[n].probability, listed[n].probability});
    if (!out.edited)
        return out;
    const checkpoint::PredictionShift shift = checkpoint::compare_predictions(before, now, most_moved);
    out.kl = shift.kl;
    for (const checkpoint::PredictionShift::Moved& moved : shift.moved)
        if (moved.before != moved.after)
            out.moved.push_back({moved.id, checkpoint::label_of(model, moved.id), moved.before, moved.after});
    return out;
}

std::string recomputed_layers(const checkpoint::ModelRun& run) {
    const std::int64_t L = run.info().L, from = run.computed_from();
    if (from >= L)
        return "No layer had to be recomputed.";
    std::string text = layers_text(from, L - 1);
    text[0] = 'L';
    text += from == L - 1 ? " was recomputed" : " were recomputed";
    return text + (from == 0 ? "." : ", " + layers_text(0, from - 1) + " taken over.");
}

} // namespace headscope::app
