#include "app/state/model_state.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr std::size_t most_listed = 10, most_moved = 8;

/// Returns the part with other ids for the text that is continued. Keeps the typed text as far as the ids are
/// the same.
RunSpecPtr with_ids(const RunSpec& part, std::vector<std::int64_t> ids, std::int64_t written) {
    const checkpoint::TextModel& model = *part.model;
    auto next = std::make_shared<RunSpec>(part);
    next->written = written;
    std::string& typed = part.two_texts() ? next->target : part.pair.empty() ? next->prompt : next->pair;
    const auto text_of_ids = [&](const std::vector<std::int64_t>& of) {
        // The user does not type the start token of a decoder.
        return checkpoint::text_of(model, part.two_texts() ? std::vector(of.begin() + 1, of.end()) : of, " ");
    };
    const std::string was = text_of_ids(part.inputs->ids), now = text_of_ids(ids);
    if (now.starts_with(was))
        typed += now.substr(was.size());
    else if (was.starts_with(now) && typed.ends_with(was.substr(now.size())))
        typed.resize(typed.size() - (was.size() - now.size()));
    else if (part.two_texts()) {
        typed = now;
    } else { // the start of the second text is unknown
        next->prompt = now;
        next->pair.clear();
    }
    next->inputs = std::make_shared<const checkpoint::ModelInputs>(
        checkpoint::token_inputs(model, std::move(ids), part.inputs->source));
    return next;
}

} // namespace

void show_texts(ModelState& model, const RunSpec& part) {
    model.prompt = part.prompt;
    model.pair = part.pair;
    model.target = part.target;
}

bool shows_texts(const ModelState& model, const RunSpec& part) {
    return model.prompt == part.prompt && model.pair == part.pair && model.target == part.target;
}

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
    if (logits == nullptr || unedited_logits == nullptr || !logits->all_finite() ||
        !unedited_logits->all_finite())
        return std::nullopt;
    const auto now = logits->values(), before = unedited_logits->values();
    const auto at = static_cast<std::size_t>(position);
    Predictions out{.position = position,
                    .token = run.inputs().tokens[at],
                    .hidden = model.mask_id >= 0 && run.inputs().ids[at] == model.mask_id,
                    .edited = !run.edits().empty()};
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

TensorPtr next_logits(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                      const Progress& cancel) {
    return model.model->config().causal ? run.logits_at(run.inputs().T - 1, cancel) : nullptr;
}

RunSpecPtr with_token(const RunSpec& part, std::int64_t id) {
    if (const std::string full = text_full_reason(part); !full.empty())
        fail_input(full);
    std::vector<std::int64_t> ids = part.inputs->ids;
    ids.push_back(id);
    return with_ids(part, std::move(ids), part.written + 1);
}

RunSpecPtr without_tokens(const RunSpec& part, std::int64_t count) {
    if (count < 1 || count > part.written)
        fail_input(tr_n("model_state.model_wrote_token_text",
                        "The model wrote {} token of this text: only those can be taken back.",
                        "The model wrote {} tokens of this text: only those can be taken back.", part.written,
                        part.written));
    std::vector<std::int64_t> ids = part.inputs->ids;
    ids.resize(ids.size() - static_cast<std::size_t>(count));
    return with_ids(part, std::move(ids), part.written - count);
}

std::optional<std::int64_t> shared_token_count(const RunSpec& branch, const RunSpec& now) {
    const std::vector<std::int64_t>&a = branch.inputs->ids, &b = now.inputs->ids;
    const auto common = std::ranges::mismatch(a, b).in1 - a.begin();
    const bool same_prompt = branch.model == now.model && branch.inputs->source == now.inputs->source &&
                             branch.inputs->T - branch.written == now.inputs->T - now.written &&
                             common >= now.inputs->T - now.written;
    return same_prompt && common < std::ssize(a) ? std::optional(common) : std::nullopt;
}

std::vector<RunSpecPtr> branches_after(std::vector<RunSpecPtr> branches, const RunSpecPtr& left,
                                       const RunSpec& now) {
    const bool known = std::ranges::any_of(
        branches, [&](const RunSpecPtr& branch) { return !shared_token_count(*left, *branch); });
    if (left->written > 0 && !known)
        branches.insert(branches.begin(), left);
    std::erase_if(branches, [&](const RunSpecPtr& branch) { return !shared_token_count(*branch, now); });
    branches.resize(std::min(branches.size(), most_branches));
    return branches;
}

std::string text_full_reason(const RunSpec& part) {
    const std::int64_t most = part.model->model->config().longest_text;
    if (part.inputs->T < most)
        return {};
    if (part.model->model->stages().has({checkpoint::Stack::own, -1}, TensorId::position))
        return tr("model_state.text_tokens_model_positions",
                  "The text has {} tokens, the most that the model has positions for.", part.inputs->T);
    // Only training ended at this length: a longer text can run, but the model never learned such positions.
    return part.inputs->T == most
               ? tr("model_state.text_tokens_most_model",
                    "The text has {} tokens, the most that the model was trained on: it writes no further.",
                    most)
               : tr("model_state.text_tokens_model_trained",
                    "The text has {} tokens, and the model was trained on at most {}: predictions beyond "
                    "that are unreliable, and it writes no further.",
                    part.inputs->T, most);
}

std::string recomputed_layers(const checkpoint::ModelRun& run) {
    const checkpoint::ModelConfig& config = run.model().config();
    const std::int64_t L = checkpoint::attention_count(config), from = run.computed_from();
    if (from >= L)
        return tr("model_state.no_layer_had_recomputed", "No layer had to be recomputed.");
    if (config.encoder != nullptr)
        return from == 0
                   ? tr("model_state.encoder_decoder_recomputed", "Encoder and decoder were recomputed.")
                   : tr("model_state.recomputed_comes_before",
                        "Recomputed from {} on; everything before it was reused.",
                        attention_words(config, attention_place(config, from)));
    if (from == 0)
        return L == 1 ? tr("model_state.layer_0_recomputed", "Layer 0 was recomputed.")
                      : tr("model_state.layers_0_recomputed", "Layers 0 to {} were recomputed.", L - 1);
    if (from == L - 1)
        return from == 1
                   ? tr("model_state.layer_1_recomputed_layer", "Layer 1 was recomputed, layer 0 reused.")
                   : tr("model_state.layer_recomputed_layers_0",
                        "Layer {} was recomputed, layers 0 to {} reused.", from, from - 1);
    return from == 1 ? tr("model_state.layers_1_recomputed_layer",
                          "Layers 1 to {} were recomputed, layer 0 reused.", L - 1)
                     : tr("model_state.layers_recomputed_layers_0",
                          "Layers {} to {} were recomputed, layers 0 to {} reused.", from, L - 1, from - 1);
}

} // namespace headscope::app
