#include "app/cli/effects/effects_json.h"

#include "core/base/error.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace headscope::cli {

namespace {

using EffectJson = nlohmann::ordered_json;
using analysis::Composition;
using analysis::HeadPlace;
using analysis::LogitQuestion;

std::string place_name(const HeadPlace& head) {
    return "L" + std::to_string(head.layer) + "H" + std::to_string(head.head);
}

/// Throws Error(input) if there is no such head.
void require_head(const checkpoint::ModelConfig& config, const HeadPlace& head) {
    if (head.layer < 0 || head.layer >= config.layers || head.head < 0 || head.head >= config.H)
        fail_input("there is no head " + std::to_string(head.head) + " in layer " +
                   std::to_string(head.layer) + "; layers are numbered 0 to " +
                   std::to_string(config.layers - 1) + ", heads 0 to " + std::to_string(config.H - 1));
}

} // namespace

EffectJson ablation_json(const checkpoint::ModelRun& run, const LogitQuestion& question,
                         analysis::Ablation ablation, Progress& progress) {
    const checkpoint::ModelConfig& config = run.model().config();
    analysis::require_logit(run, question);
    analysis::SweepOptions options{
        .position = question.position, .ablation = ablation, .tokens = {question.token}};
    const bool pair = question.from == LogitQuestion::From::token;
    if (pair)
        options.tokens.push_back(question.against);
    for (std::int64_t l = 0; l < config.layers; ++l)
        if (config.has_attention(l))
            options.places.push_back({checkpoint::Stack::own, l});
    const TensorPtr logits = run.logits_at(question.position, progress);
    const auto number = [&](std::size_t n) { return static_cast<double>(logits->data()[options.tokens[n]]); };
    const double before = number(0) - (pair ? number(1) : 0.0);
    std::vector<analysis::HeadEffect> effects;
    analysis::ablation_sweep(
        run, options, [&](const analysis::HeadEffect& effect) { effects.push_back(effect); }, progress);
    std::ranges::sort(effects, {}, [](const analysis::HeadEffect& effect) {
        return std::pair(effect.place.layer, effect.head);
    });
    EffectJson heads = EffectJson::array();
    for (const analysis::HeadEffect& effect : effects) {
        const auto after =
            static_cast<double>(effect.logits[0]) - (pair ? static_cast<double>(effect.logits[1]) : 0.0);
        heads.push_back({{"name", place_name({effect.place.layer, effect.head})},
                         {"layer", effect.place.layer},
                         {"head", effect.head},
                         {"divergence", effect.divergence},
                         {"logit", after},
                         {"loss", before - after}});
    }
    return {{"logit", before}, {"heads", heads}};
}

EffectJson composition_json(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                            const std::optional<HeadPlace>& head, const std::optional<std::size_t>& top,
                            Progress& progress) {
    if (head)
        require_head(model.config(), *head);
    std::vector<Composition> pairs = analysis::compositions(model, edits, progress);
    if (head)
        std::erase_if(pairs, [&](const Composition& one) { return one.from != *head && one.to != *head; });
    if (top) {
        std::ranges::stable_sort(pairs, std::ranges::greater(), &Composition::largest);
        pairs.resize(std::min(pairs.size(), *top));
    }
    EffectJson list = EffectJson::array();
    for (const Composition& one : pairs)
        list.push_back({{"from", place_name(one.from)},
                        {"to", place_name(one.to)},
                        {"queries", one.queries},
                        {"keys", one.keys},
                        {"values", one.values}});
    return {{"pairs", list}};
}

} // namespace headscope::cli
