#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/heads/head_metrics.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/generation/sampling.h"
#include "core/lesson/panel_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace headscope::lesson {

namespace {

std::span<const float> last_row(const LessonModel& model) {
    return model.run.logits->values().last(static_cast<std::size_t>(model.run.logits->shape().back(0)));
}

/// The weights of one row of a head.
std::span<const float> row_of(const LessonModel& model, analysis::HeadPlace head, std::int64_t i) {
    const Tensor& weights = *layer_of(model, head.layer).trace.stage(TensorId::weights);
    return weights.values().subspan(static_cast<std::size_t>(weights.offset(0, head.head, i, 0)),
                                    static_cast<std::size_t>(weights.shape().back(0)));
}

/// The induction score of Olsson et al. 2022: the mean weight, over rows whose token occurred before, on the
/// keys that followed that token. 0 if no token occurs twice.
double induction(const LessonModel& model, analysis::HeadPlace head) {
    const std::vector<std::int64_t>& ids = model.inputs.ids;
    double sum = 0;
    int rows = 0;
    for (std::size_t i = 1; i < ids.size(); ++i) {
        const auto weights = row_of(model, head, static_cast<std::int64_t>(i));
        double followed = 0;
        bool again = false;
        for (std::size_t j = 0; j + 1 <= i; ++j)
            if (ids[j] == ids[i] && j + 1 < i) {
                again = true;
                followed += static_cast<double>(weights[j + 1]);
            }
        sum += followed;
        rows += again ? 1 : 0;
    }
    return rows == 0 ? 0 : sum / rows;
}

/// Computes the columns of a table of heads.
class HeadColumns {
public:
    HeadColumns(const LessonModel& model, const HeadsPanel& panel) : model_(model) {
        const auto wants = [&](const char* column) {
            return std::ranges::find(panel.columns, column) != panel.columns.end();
        };
        if ((wants("attribution") || wants("effect") || wants("without")) && panel.word.empty())
            fail_input(tr("model_panels.panel_heads_speaks_tokens",
                          "the panel of heads is about a token's logit; add word: Mary"));
        if (!panel.word.empty())
            token_ = checkpoint::word_token(*model.model, panel.word);
        if (!panel.against.empty())
            against_ = checkpoint::word_token(*model.model, panel.against);
        if (wants("attribution"))
            parts_ = analysis::logit_attribution(
                *model.numbers, analysis::question_of(model.inputs.T - 1, *token_, against_), Progress());
        needs_ablation_ = wants("effect") || wants("without");
    }

    HeadsFigure::Row row(const HeadsPanel& panel, analysis::HeadPlace head) {
        HeadsFigure::Row row{head, {}};
        std::vector<float> without;
        if (needs_ablation_)
            without = logits_without(head);
        for (const std::string& column : panel.columns)
            row.cells.push_back(cell(column, head, without));
        return row;
    }

    double probability(std::span<const float> logits) const {
        return static_cast<double>(checkpoint::chances_of(logits, std::array{*token_}).front());
    }

private:
    std::vector<float> logits_without(analysis::HeadPlace head) const {
        checkpoint::ModelEdits edits = model_.edits;
        std::vector<float>& gains = edits[head.layer].gains;
        gains.resize(static_cast<std::size_t>(model_.model->model->config().H), 1.0F);
        gains[static_cast<std::size_t>(head.head)] = 0;
        Progress progress;
        return last_logits(model_, edits, progress);
    }

    double difference(std::span<const float> logits) const {
        const auto at = [&](std::int64_t id) {
            return static_cast<double>(logits[static_cast<std::size_t>(id)]);
        };
        return at(*token_) - (against_ ? at(*against_) : 0.0);
    }

    HeadsFigure::Cell cell(const std::string& column, analysis::HeadPlace head,
                           std::span<const float> without) const {
        if (column == "reads") {
            const auto row = row_of(model_, head, model_.inputs.T - 1);
            const auto best = std::ranges::max_element(row);
            return {static_cast<double>(*best),
                    word_of(model_, model_.inputs.ids[static_cast<std::size_t>(best - row.begin())])};
        }
        if (column == "induction")
            return {induction(model_, head), {}};
        if (column == "without")
            return {probability(without), {}};
        if (column == "effect")
            return {difference(without) - difference(last_row(model_)), {}};
        if (column == "attribution") {
            return {sum_of_parts(parts_,
                                 [&](const analysis::Writer& writer) {
                                     return writer.layer == head.layer && writer.head == head.head;
                                 }),
                    {}};
        }
        const analysis::HeadScoreInfo* const score = analysis::find_head_score(column);
        if (score == nullptr || !analysis::is_of_one_run(*score))
            fail_input(tr("model_panels.panel_heads_no_column",
                          "a panel of heads has no column \"{}\"; columns are reads, induction, attribution, "
                          "effect, without and the scores of heads",
                          column));
        const checkpoint::LayerRun& layer = layer_of(model_, head.layer);
        const auto all = analysis::head_metrics(*layer.problem, layer.trace, 0);
        return {static_cast<double>(all[static_cast<std::size_t>(head.head)][score->score]), {}};
    }

    const LessonModel& model_;
    std::optional<std::int64_t> token_, against_;
    analysis::LogitAttribution parts_;
    bool needs_ablation_ = false;
};

} // namespace

SamplingFigure sampling_figure(const LessonModel& model, const SamplingPanel& panel) {
    checkpoint::SamplingSettings settings;
    settings.temperature = panel.temperature;
    if (panel.top_k < SamplingPanel::most_top_k)
        settings.top_k = panel.top_k;
    if (panel.top_p < 1)
        settings.top_p = panel.top_p;
    const std::span<const float> logits = last_row(model);
    const checkpoint::Distribution next = checkpoint::sample(logits, settings, model.inputs.T, logits.size());
    SamplingFigure figure{{}, next.kept, 0};
    for (const checkpoint::Candidate& one : next.candidates) {
        if (static_cast<std::int64_t>(figure.rows.size()) < panel.rows)
            figure.rows.push_back({word_of(model, one.id), one.probability, one.kept});
        if (one.probability > 0)
            figure.entropy -= one.probability * std::log(one.probability);
    }
    return figure;
}

HeadsFigure heads_figure(const LessonModel& model, const HeadsPanel& panel) {
    const checkpoint::ModelConfig& config = model.model->model->config();
    HeadColumns columns(model, panel);
    HeadsFigure figure{panel.columns, {}, 0};
    for (std::int64_t l = 0; l < config.layers; ++l)
        for (std::int64_t h = 0; h < config.H; ++h)
            figure.rows.push_back(columns.row(panel, {l, h}));
    const auto number =
        std::ranges::find_if(panel.columns, [](const std::string& column) { return column != "reads"; });
    const auto by =
        static_cast<std::size_t>(number == panel.columns.end() ? 0 : number - panel.columns.begin());
    std::ranges::stable_sort(figure.rows, std::greater<>(),
                             [&](const HeadsFigure::Row& row) { return std::abs(row.cells[by].number); });
    figure.rows.resize(std::min(figure.rows.size(), static_cast<std::size_t>(panel.rows)));
    if (!panel.word.empty())
        figure.probability = columns.probability(last_row(model));
    return figure;
}

PathFigure path_figure(const LessonModel& model, const PathPanel& panel) {
    const Problem& problem = *layer_of(model, panel.to.front().layer).problem;
    const std::int64_t i = query_row(panel.row, problem), j = query_row(panel.key, problem),
                       T = model.inputs.T;
    const auto word = [&](std::int64_t at) {
        return word_of(model, model.inputs.ids[static_cast<std::size_t>(at)]);
    };
    PathFigure figure{.from = panel.from, .query = word(i), .key = word(j), .rows = {}};
    for (const analysis::HeadPlace to : panel.to) {
        Progress progress;
        const analysis::CutPath cut = analysis::cut_path(*model.numbers, panel.from, to, progress);
        const auto at = [&](const std::vector<float>& weights) {
            return static_cast<double>(weights[static_cast<std::size_t>(i * T + j)]);
        };
        const auto row =
            std::span(cut.without_keys).subspan(static_cast<std::size_t>(i * T), static_cast<std::size_t>(T));
        figure.rows.push_back({to, at(cut.whole), at(cut.without_queries), at(cut.without_keys),
                               word(std::ranges::max_element(row) - row.begin())});
    }
    return figure;
}

PositionsFigure positions_figure(const PositionsPanel& panel) {
    constexpr int curve = 64;
    constexpr double half_turn = 180;
    const std::int64_t pairs = panel.dk / 2;
    const auto angle = [&](std::int64_t p) {
        return std::pow(panel.base, -2.0 * static_cast<double>(p) / static_cast<double>(panel.dk));
    };
    const auto mean = [&](double distance) {
        double sum = 0;
        for (std::int64_t p = 0; p < pairs; ++p)
            sum += std::cos(distance * angle(p));
        return sum / static_cast<double>(pairs);
    };
    const auto degrees = [&](double radians) { return radians * half_turn / std::acos(-1.0); };
    const double slope = std::exp2(-8.0 / static_cast<double>(panel.H));
    const auto steps = static_cast<double>(panel.query - panel.key);
    const double own = angle(panel.pair);
    PositionsFigure figure{.distance = panel.query - panel.key,
                           .angle = degrees(own),
                           .rotation = std::remainder(degrees(own * steps), 2 * half_turn),
                           .pair = std::cos(own * steps),
                           .all = mean(steps),
                           .bias = -slope * std::abs(steps),
                           .pairs = pairs};
    for (int distance = 0; distance < curve; ++distance) {
        const double d = distance;
        figure.pair_curve.emplace_back(d, std::cos(own * d));
        figure.all_curve.emplace_back(d, mean(d));
        figure.bias_curve.emplace_back(d, -slope * d);
    }
    return figure;
}

} // namespace headscope::lesson
