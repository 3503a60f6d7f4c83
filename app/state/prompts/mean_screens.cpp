#include "app/state/prompts/prompt_numbers.h"

#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

// The mean over a list of prompts in the form of the screens that show it.

namespace headscope::app {

namespace {

using analysis::PlaceStatistics;
using Kind = analysis::Writer::Kind;

std::shared_ptr<const PromptMean> part_of_mean(const PromptMean& mean, std::size_t first, std::size_t count) {
    const auto begin = mean.cells.begin() + static_cast<std::ptrdiff_t>(first);
    return std::make_shared<const PromptMean>(
        PromptMean{mean.prompts, mean.of, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
}

/// The cells of the sweep are after those of the attribution.
std::size_t first_sweep_cell(const NumbersOfPrompts& numbers) {
    return numbers.effects->attribution.parts.size() + 1;
}

/// Sets labels for the compared tokens, which differ between prompts. An empty `against` stays empty.
void label_answers(std::string& answer, std::string& against) {
    // Translators: in place of a token that differs between prompts
    answer = tr("prompt_mean.answer", "answer");
    against = against.empty() ? "" : tr("prompt_mean.against", "against");
}

/// Returns the cells of the grid on screen, by which prompts are compared with the mean.
std::vector<std::size_t> grid_cells(const NumbersOfPrompts& numbers, analysis::HeadScore score) {
    std::vector<std::size_t> cells;
    switch (numbers.asked.screen) {
    case MeanScreen::heads:
        for (std::size_t at = static_cast<std::size_t>(score); at < numbers.mean.cells.size() / 2;
             at += analysis::head_score_count)
            cells.push_back(at);
        break;
    case MeanScreen::direct:
        for (std::size_t n = 0; n < numbers.effects->attribution.parts.size(); ++n) {
            const analysis::Writer& writer = numbers.effects->attribution.parts[n].writer;
            if (writer.kind == Kind::mlp || writer.kind == Kind::delta ||
                (writer.kind == Kind::head && writer.stack == numbers.asked.stack))
                cells.push_back(n);
        }
        break;
    case MeanScreen::ablated:
    case MeanScreen::averaged:
        for (std::size_t at = first_sweep_cell(numbers); at + 1 < numbers.mean.cells.size(); at += 2)
            cells.push_back(at);
        break;
    case MeanScreen::patching:
        for (std::size_t row = 0; row < numbers.map->cells.size(); ++row)
            for (std::size_t column = 0; column < numbers.map->cells[row].size(); ++column)
                if (!numbers.map->same[row][column])
                    cells.push_back(row * numbers.map->cells[row].size() + column);
        break;
    }
    return cells;
}

} // namespace

std::shared_ptr<const Effects> mean_effects(const NumbersOfPrompts& numbers) {
    const Effects& first = *numbers.effects;
    analysis::LogitAttribution attribution = first.attribution;
    for (std::size_t n = 0; n < attribution.parts.size(); ++n) {
        attribution.parts[n].value = numbers.mean.cells[n].mean;
        attribution.parts[n].sources.clear();
    }
    attribution.logit = attribution.capped = numbers.mean.cells[attribution.parts.size()].mean;
    const std::size_t cells = attribution.parts.size() + 1;
    const auto out =
        arranged_effects(numbers.model->config(), first.question, first.stack, std::move(attribution));
    out->against = first.question.from == analysis::LogitQuestion::From::token ? "against" : "";
    label_answers(out->token, out->against);
    out->mean = part_of_mean(numbers.mean, 0, cells);
    return out;
}

std::shared_ptr<const EffectsSweep> mean_sweep(const NumbersOfPrompts& numbers) {
    EffectsSweep out = *numbers.sweep;
    const std::size_t first = first_sweep_cell(numbers);
    out.mean = part_of_mean(numbers.mean, first, numbers.mean.cells.size() - first);
    out.max_abs = 0;
    std::size_t at = 0;
    for (auto& row : out.heads)
        for (auto& cell : row) {
            const PlaceStatistics &loss = out.mean->cells[at], &divergence = out.mean->cells[at + 1];
            at += 2;
            cell.reset();
            if (loss.count == 0)
                continue;
            cell = {.loss = loss.mean, .divergence = divergence.mean};
            out.max_abs = std::max(out.max_abs, std::abs(loss.mean));
        }
    out.before = out.mean->cells[at].mean;
    out.done = out.count; // the progress of the mean is counted in prompts
    return std::make_shared<const EffectsSweep>(std::move(out));
}

std::shared_ptr<const PatchingView> mean_patching(const NumbersOfPrompts& numbers) {
    PatchingMap map = *numbers.map;
    map.mean = std::make_shared<const PromptMean>(numbers.mean);
    std::size_t at = 0;
    for (auto& row : map.cells)
        for (std::optional<float>& cell : row) {
            const PlaceStatistics& share = numbers.mean.cells[at++];
            cell.reset();
            if (share.count > 0)
                cell = static_cast<float>(share.mean);
        }
    map.done = map.count;
    map.similar_pairs = std::ranges::count_if(numbers.prompts, [at](const auto& prompt) {
        return prompt->fault.empty() &&
               std::abs(*prompt->cells[at] - *prompt->cells[at + 1]) < analysis::least_difference;
    });
    PatchingPair pair;
    pair.clean_difference = numbers.mean.cells[at].mean;
    pair.corrupted_difference = numbers.mean.cells[at + 1].mean;
    pair.against = "against";
    label_answers(pair.answer, pair.against);
    if (!by_head(map))
        for (std::size_t n = 0; n < map.cells.front().size(); ++n) { // positions in place of words
            pair.clean_tokens.push_back(std::to_string(n));
            pair.corrupted_tokens.push_back(std::to_string(n));
            pair.differs.push_back(false);
        }
    PatchingView view{.asked = numbers.asked.patching, .mean = true};
    view.pair = std::make_shared<const PatchingPair>(std::move(pair));
    view.map = std::make_shared<const PatchingMap>(std::move(map));
    return std::make_shared<const PatchingView>(std::move(view));
}

void show_mean_heads(Atlas& atlas, const NumbersOfPrompts& numbers) {
    const std::size_t scores = analysis::head_score_count, half = numbers.mean.cells.size() / 2;
    for (std::size_t at = 0; at < atlas.heads.size() && (at + 1) * scores <= half; ++at) {
        analysis::HeadMetrics metrics;
        bool any = false;
        for (std::size_t s = 0; s < scores; ++s) {
            const PlaceStatistics& score = numbers.mean.cells[at * scores + s];
            if (score.count == 0)
                continue;
            any = true;
            metrics.set(static_cast<analysis::HeadScore>(s), static_cast<float>(score.mean));
            metrics.beside[s] = static_cast<float>(numbers.mean.cells[half + at * scores + s].mean);
        }
        metrics.labelled = label_of(metrics);
        metrics.beside_first = is_beside_first(metrics);
        atlas.heads[at].reset();
        if (any)
            atlas.heads[at] = metrics;
    }
    atlas.mean = part_of_mean(numbers.mean, 0, half);
}

std::vector<std::optional<double>> distances_from_mean(const NumbersOfPrompts& numbers, std::size_t count,
                                                       analysis::HeadScore score) {
    std::vector<std::optional<double>> distances(count);
    if (numbers.mean.cells.empty())
        return distances;
    const std::vector<std::size_t> cells = grid_cells(numbers, score);
    for (const auto& prompt : numbers.prompts) {
        double squares = 0;
        std::int64_t n = 0;
        for (const std::size_t at : cells)
            if (prompt->fault.empty() && prompt->cells[at]) {
                const double apart = *prompt->cells[at] - numbers.mean.cells[at].mean;
                squares += apart * apart;
                ++n;
            }
        if (n > 0)
            distances[prompt->index] = std::sqrt(squares / static_cast<double>(n));
    }
    return distances;
}

} // namespace headscope::app
