#include "app/state/screens/model_story.h"

#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>

namespace headscope::app {

namespace {

constexpr float embed_seconds = 1.0F, layer_seconds = 0.9F, most_layer_seconds = 2.4F,
                attention_seconds = 2.6F, mlp_seconds = 1.4F, norm_seconds = 0.8F, word_seconds = 1.6F;

float seconds_of_layers(std::int64_t layers) {
    return std::min(layer_seconds * static_cast<float>(layers), most_layer_seconds);
}

std::string layer_range(std::int64_t first, std::int64_t last) {
    return first >= last ? "L" + std::to_string(first)
                         : "L" + std::to_string(first) + "–" + std::to_string(last);
}

std::string story_percent(float probability) {
    return fmt::format("{} %", std::lround(100 * probability));
}

/// The best guess at a level of the logit lens; null while it is not known.
const FlowGuesses::Guess* guess_at(const Shown& shown, std::int64_t level) {
    if (shown.flow_guesses == nullptr || level >= std::ssize(shown.flow_guesses->layers))
        return nullptr;
    return &shown.flow_guesses->layers[static_cast<std::size_t>(level)].front();
}

/// "Layers 0 to 1 add to it: the best guess is now “Jane”, 9 %."
FlowSubtitle layers_sentence(const Shown& shown, std::int64_t first, std::int64_t last) {
    const std::string text =
        first == last
            ? tr("model_story.layer_adds", "Layer {} adds to the residual stream.", first)
            : tr("model_story.layers_add", "Layers {} to {} add to the residual stream.", first, last);
    const FlowGuesses::Guess* const guess = guess_at(shown, last + 1);
    return {text, guess == nullptr ? std::string()
                                   : tr("model_story.best_guess", "The best guess is now “{}”, {}.",
                                        guess->word, story_percent(guess->probability))};
}

FlowSubtitle attention_sentence(const Shown& shown, const ViewState& view, std::int64_t open,
                                const std::string& word) {
    const FlowLayer* const layer = shown.flow_layer.get();
    if (layer == nullptr || layer->layer != open || view.head >= layer->weights->shape()[1])
        return {tr("model_story.heads_read", "The heads of layer {} move information between words.", open),
                ""};
    const Tensor& weights = *layer->weights;
    const auto row =
        weights.values().subspan(static_cast<std::size_t>(weights.offset(0, view.head, shown.position, 0)),
                                 static_cast<std::size_t>(weights.shape()[3]));
    const auto key = std::ranges::max_element(row) - row.begin();
    const std::vector<std::string> words = model_flow_words(*shown.document->part()->inputs);
    return {tr("model_story.head_attends", "In layer {}, head {} lets “{}” attend to the other words:", open,
               view.head, word),
            tr("model_story.percent_of", "{} of what it reads is “{}”.",
               story_percent(row[static_cast<std::size_t>(key)]), words[static_cast<std::size_t>(key)])};
}

} // namespace

FlowStory model_flow_story(std::int64_t L, std::int64_t open) {
    FlowStory story;
    story.key_starts = {0, 1};
    const std::array<float, flow_step_count> seconds{
        embed_seconds, seconds_of_layers(open),         attention_seconds,
        mlp_seconds,   seconds_of_layers(L - 1 - open), norm_seconds,
        word_seconds};
    float all = 0;
    for (const float step : seconds)
        all += step;
    const float shrunk = std::min(1.0F, longest_flow_story / all);
    for (std::size_t step = 0; step < seconds.size(); ++step)
        story.starts[step + 1] = story.starts[step] + seconds[step] * shrunk;
    return story;
}

std::string model_flow_step_name(FlowStep step, std::int64_t L, std::int64_t open) {
    switch (step) {
    case FlowStep::query:
        return tr("common.embed", "embed");
    case FlowStep::compare:
        return open == 0 ? "" : layer_range(0, open - 1);
    case FlowStep::scale:
        return "L" + std::to_string(open);
    case FlowStep::softmax:
        return "MLP";
    case FlowStep::mix:
        return open + 1 >= L ? "" : layer_range(open + 1, L - 1);
    case FlowStep::write:
        return tr("model_streams.final_norm", "final norm");
    case FlowStep::join:
        return tr("model_story.next_word", "next word");
    }
    return {};
}

FlowSubtitle model_flow_subtitle(const Shown& shown, const ViewState& view, float time) {
    const RunSpec& part = *shown.document->part();
    const std::int64_t L = part.config().layers,
                       open = std::clamp<std::int64_t>(view.attention.layer, 0, L - 1);
    const std::vector<std::string> words = model_flow_words(*part.inputs);
    const std::string& word =
        words[static_cast<std::size_t>(std::clamp<std::int64_t>(shown.position, 0, std::ssize(words) - 1))];
    switch (view.flow.story.step_at(time)) {
    case FlowStep::query:
        return {tr("model_story.embed", "Each word becomes a vector, the start of its residual stream."), ""};
    case FlowStep::compare:
        return layers_sentence(shown, 0, std::max<std::int64_t>(open - 1, 0));
    case FlowStep::scale:
        return attention_sentence(shown, view, open, word);
    case FlowStep::softmax: {
        const FlowGuesses::Guess* const guess = guess_at(shown, open + 1);
        return {tr("model_story.mlp", "The MLP of layer {} adds its part.", open),
                guess == nullptr ? std::string()
                                 : tr("model_story.best_guess", "The best guess is now “{}”, {}.",
                                      guess->word, story_percent(guess->probability))};
    }
    case FlowStep::mix:
        return layers_sentence(shown, std::min(open + 1, L - 1), L - 1);
    case FlowStep::write:
        return {tr("model_story.final_norm",
                   "The last vector of “{}” is normalized and multiplied by W_U: a score for every word.",
                   word),
                ""};
    case FlowStep::join: {
        const FlowGuesses::Guess* const guess = guess_at(shown, L);
        return {tr("model_story.softmax", "Softmax turns the scores into probabilities."),
                guess == nullptr ? std::string()
                                 : tr("model_story.says", "The model says “{}”, {}.", guess->word,
                                      story_percent(guess->probability))};
    }
    }
    return {};
}

} // namespace headscope::app
