#include "app/state/screens/effects.h"

#include "core/analysis/effects/source_map.h"
#include "core/checkpoint/generation/predictions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace headscope::app {

namespace {

using analysis::LogitPart;
using analysis::LogitQuestion;
using Kind = analysis::Writer::Kind;

/// Columns of the lens: as many positions as fit on a canvas, including the chosen one.
constexpr std::int64_t lens_columns = 14;

/// Positions replace missing labels.
std::vector<std::string> labels_of(const checkpoint::ModelInputs& inputs) {
    std::vector<std::string> labels = inputs.tokens;
    for (std::int64_t i = std::ssize(labels); i < inputs.T; ++i)
        labels.push_back(std::to_string(i));
    return labels;
}

} // namespace

// The default tokens come from the unedited model, so that they stay when an edit changes the predictions.
LogitQuestion effects_question(const checkpoint::ModelRun& unedited, const EffectsQuestion& asked,
                               std::int64_t position, const Progress& cancel) {
    LogitQuestion question{.position = position, .sources = true};
    const TensorPtr logits = unedited.logits_at(position, cancel);
    checkpoint::require_finite_logits(logits->values(), position);
    const auto likeliest = checkpoint::likeliest(logits->values(), 2);
    question.token = asked.token.value_or(likeliest.front().id);
    if (asked.from_mean || likeliest.size() < 2)
        return question;
    question.from = LogitQuestion::From::token;
    const bool first_is_asked = likeliest.front().id == question.token;
    question.against = asked.against.value_or(likeliest[first_is_asked ? 1 : 0].id);
    return question;
}

std::shared_ptr<const Effects> effects_of(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited, const EffectsQuestion& asked,
                                          std::int64_t position, checkpoint::Stack stack,
                                          const Progress& cancel) {
    const LogitQuestion question = effects_question(unedited, asked, position, cancel);
    const auto effects = arranged_effects(run.model().config(), question, stack,
                                          analysis::logit_attribution(run, question, cancel));
    effects->token = label_of(model, question.token);
    if (question.from == LogitQuestion::From::token)
        effects->against = label_of(model, question.against);
    effects->queries = labels_of(run.inputs());
    effects->keys =
        stack == checkpoint::Stack::own ? effects->queries : labels_of(run.inputs().source.front());
    return effects;
}

std::shared_ptr<Effects> arranged_effects(const checkpoint::ModelConfig& a, const LogitQuestion& question,
                                          checkpoint::Stack stack, analysis::LogitAttribution attribution) {
    const auto effects = std::make_shared<Effects>();
    Effects& out = *effects;
    out.question = question;
    out.stack = stack;
    out.attribution = std::move(attribution);
    const auto layers = static_cast<std::size_t>(a.layers);
    out.heads.resize(layers, std::vector<const LogitPart*>(static_cast<std::size_t>(a.H)));
    out.mlps.resize(layers);
    out.layers.resize(layers);
    for (const LogitPart& part : out.attribution.parts) {
        const auto l = static_cast<std::size_t>(std::max<std::int64_t>(part.writer.layer, 0));
        switch (part.writer.kind) {
        case Kind::head:
            if (part.writer.stack == stack) {
                out.heads[l][static_cast<std::size_t>(part.writer.head)] = &part;
                out.max_abs = std::max(out.max_abs, std::abs(part.value));
                out.layers[l] += part.value; // only the heads that the table shows
            }
            (part.writer.stack == stack ? out.all_heads : out.other_attention) += part.value;
            break;
        case Kind::mlp:
            out.mlps[l] = part.value;
            out.max_abs = std::max(out.max_abs, std::abs(part.value));
            out.all_mlps += part.value;
            out.layers[l] += part.value;
            break;
        case Kind::delta: // stands in the cells of the heads that its layer lacks
            std::ranges::fill(out.heads[l], &part);
            out.max_abs = std::max(out.max_abs, std::abs(part.value));
            out.other_attention += part.value;
            out.layers[l] += part.value;
            break;
        case Kind::embedding:
        case Kind::position:
            out.embedding += part.value;
            break;
        default:
            out.biases += part.value;
        }
    }
    out.largest.resize(out.attribution.parts.size());
    std::iota(out.largest.begin(), out.largest.end(), std::size_t{0});
    std::ranges::stable_sort(out.largest, std::ranges::greater{},
                             [&](std::size_t n) { return std::abs(out.attribution.parts[n].value); });
    return effects;
}

EffectsSweep effects_sweep(const checkpoint::ModelRun& run, const Effects& effects,
                           analysis::Ablation ablation, const EffectsSweep* so_far,
                           const std::function<void(const EffectsSweep&)>& put, Progress& progress) {
    const LogitQuestion& question = effects.question;
    EffectsSweep out;
    if (so_far != nullptr)
        out = *so_far;
    out.heads.resize(effects.heads.size());
    for (auto& row : out.heads)
        row.resize(effects.heads.front().size());
    out.count = std::ssize(out.heads) * std::ssize(out.heads.front());
    const auto cell = [&](checkpoint::AttentionPlace place, std::int64_t head) -> auto& {
        return out.heads[static_cast<std::size_t>(place.layer)][static_cast<std::size_t>(head)];
    };
    analysis::SweepOptions options{
        .position = question.position, .ablation = ablation, .tokens = {question.token}};
    options.skip = [&](checkpoint::AttentionPlace place, std::int64_t head) {
        return cell(place, head).has_value();
    };
    for (std::int64_t l = 0; l < std::ssize(out.heads); ++l)
        options.places.push_back({effects.stack, l});
    const bool pair = question.from == LogitQuestion::From::token;
    if (pair)
        options.tokens.push_back(question.against);
    // For a single token, only its own logit: the mean over the vocabulary would need all logits.
    const TensorPtr logits = run.logits_at(question.position, progress);
    const auto difference = [&](const auto& of) { return pair ? of(0) - of(1) : of(0); };
    out.before =
        difference([&](std::size_t n) { return static_cast<double>(logits->data()[options.tokens[n]]); });
    put(out);
    analysis::ablation_sweep(
        run, options,
        [&](const analysis::HeadEffect& effect) {
            const double after =
                difference([&](std::size_t n) { return static_cast<double>(effect.logits[n]); });
            cell(effect.place, effect.head) = {.loss = out.before - after, .divergence = effect.divergence};
            out.max_abs = std::max(out.max_abs, std::abs(out.before - after));
            ++out.done;
            put(out);
        },
        progress);
    return out;
}

bool EffectsSources::belong_to(const Effects& effects) const {
    LogitQuestion here = question;
    here.position = effects.question.position;
    return here == effects.question && place.stack == effects.stack;
}

EffectsSources effects_sources(const checkpoint::ModelRun& run, const Effects& effects,
                               checkpoint::AttentionPlace place, std::int64_t head, const Progress& cancel) {
    EffectsSources out{.question = effects.question,
                       .place = place,
                       .head = head,
                       .map =
                           analysis::source_map(run, effects.question,
                                                attention_number(run.model().config(), place), head, cancel)};
    const auto Tk = static_cast<std::size_t>(out.map.shape()[1]);
    const std::span<const float> all = out.map.values();
    for (std::size_t i = 0; i < all.size(); i += Tk) {
        const auto row = all.subspan(i, Tk);
        out.sums.push_back(std::accumulate(row.begin(), row.end(), 0.0));
        out.max_abs = std::max({out.max_abs, std::abs(out.sums.back()),
                                static_cast<double>(std::abs(*std::ranges::max_element(
                                    row, {}, [](float part) { return std::abs(part); })))});
    }
    return out;
}

EffectsLens effects_lens(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                         std::int64_t position, Progress& progress) {
    const std::int64_t T = run.inputs().T, count = std::min(T, lens_columns);
    EffectsLens out;
    out.positions.resize(static_cast<std::size_t>(count));
    std::iota(out.positions.begin(), out.positions.end(),
              std::clamp<std::int64_t>(position - count + 1, 0, T - count));
    const std::vector<std::string> labels = labels_of(run.inputs());
    std::ranges::transform(out.positions, std::back_inserter(out.tokens),
                           [&](std::int64_t at) { return labels[static_cast<std::size_t>(at)]; });
    const analysis::LogitLens lens = analysis::logit_lens(run, out.positions, 1, progress);
    for (const auto& layer : lens.layers) {
        auto& row = out.layers.emplace_back();
        std::ranges::transform(layer, std::back_inserter(row), [&](const auto& likeliest) {
            return EffectsLens::Cell{label_of(model, likeliest.front().id),
                                     static_cast<double>(likeliest.front().probability)};
        });
    }
    return out;
}

} // namespace headscope::app
