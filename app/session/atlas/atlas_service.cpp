#include "app/session/atlas/atlas_service.h"

#include "app/session/prompt_list_service.h"
#include "app/state/model_document.h"
#include "app/state/screens/atlas.h"
#include "app/state/screens/probed_heads.h"
#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/heads/copying.h"
#include "core/analysis/heads/head_distance.h"
#include "core/analysis/heads/output_shares.h"
#include "core/base/message.h"
#include "core/checkpoint/run/spelled_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headscope::app {

namespace {

using analysis::HeadMetrics;
using analysis::HeadScore;
using analysis::ScoreSource;

/// Scores of heads by layer; empty if a head has none yet.
using ByHead = std::vector<std::vector<HeadMetrics>>;

constexpr analysis::ProbeOptions probe_options{};

void take(Atlas& atlas, const ByHead& from, std::initializer_list<HeadScore> scores) {
    for (std::size_t l = 0; l < from.size() && std::cmp_less(l, atlas.L); ++l)
        for (std::size_t h = 0; h < from[l].size() && std::cmp_less(h, atlas.H); ++h) {
            std::optional<HeadMetrics>& head = atlas.heads[l * static_cast<std::size_t>(atlas.H) + h];
            for (const HeadScore score : scores)
                if (head && from[l][h].has(score)) {
                    head->set(score, from[l][h][score]);
                    head->beside[static_cast<std::size_t>(score)] =
                        from[l][h].beside[static_cast<std::size_t>(score)];
                }
        }
}

/// Returns heads with one score each. scores: (L, H).
ByHead by_head(const std::vector<std::vector<double>>& scores, HeadScore score) {
    ByHead heads;
    for (const std::vector<double>& layer : scores) {
        std::vector<HeadMetrics>& row = heads.emplace_back(layer.size());
        for (std::size_t h = 0; h < layer.size(); ++h)
            row[h].set(score, static_cast<float>(layer[h]));
    }
    return heads;
}

/// Returns true for a decoder-only language model, which continues a text.
bool writes_text(const checkpoint::Model& model) {
    return model.has_head() && model.encoder() == nullptr && model.config().causal;
}

/// Copies the numbers of a value to the atlas and returns its progress.
ScoreProgress work_of(const Derived<ByHead>& value, Atlas& atlas, std::initializer_list<HeadScore> scores) {
    if (value.value != nullptr)
        take(atlas, *value.value, scores);
    return {value.error, value.done ? std::nullopt : std::optional(value.fraction)};
}

Atlas empty_atlas(const AttentionInfo& info) {
    Atlas atlas;
    atlas.L = info.own_layers();
    atlas.H = info.own_heads();
    atlas.numbers = info.numbers;
    atlas.numbers.resize(static_cast<std::size_t>(atlas.L));
    atlas.heads.resize(static_cast<std::size_t>(atlas.L * atlas.H));
    return atlas;
}

/// Takes over the scores of layer l of a grid; row: null if it is not read yet.
void take_row(Atlas& atlas, std::int64_t l, const std::shared_ptr<const HeadGridRow>& row,
              std::vector<std::shared_ptr<const void>>& holders) {
    holders.push_back(row);
    if (row != nullptr && !row->heads.empty())
        for (std::int64_t h = 0; h < atlas.H; ++h)
            atlas.heads[static_cast<std::size_t>(l * atlas.H + h)] =
                row->heads[static_cast<std::size_t>(h)].facts.metrics;
}

Atlas of_head_grid(const HeadGrid& head_grid, std::vector<std::shared_ptr<const void>>& holders) {
    Atlas atlas = empty_atlas(head_grid.info());
    for (std::int64_t l = 0; l < atlas.L; ++l)
        take_row(atlas, l, head_grid.row(l), holders);
    return atlas;
}

std::shared_ptr<const std::vector<std::string>> names_of(const AttentionInfo& info) {
    std::vector<std::string> names;
    for (std::int64_t l = 0; l < info.own_layers(); ++l)
        for (std::int64_t h = 0; h < info.own_heads(); ++h)
            names.push_back(analysis::head_name(info, l, h));
    return std::make_shared<const std::vector<std::string>>(std::move(names));
}

/// Returns the cells for a score; if the score does not define cells, the largest weights outside the first
/// key.
ActingCells acting_weights(const AttentionSet& set, std::int64_t l, std::int64_t h, HeadScore score) {
    constexpr std::size_t most = 3;
    const AttentionInfo& info = set.info();
    std::vector<float> weights(static_cast<std::size_t>(info.Tq * info.Tk));
    set.read_head(l, h, weights);
    const auto named = [](std::vector<std::string> tokens, std::int64_t count) {
        for (std::int64_t n = std::ssize(tokens); n < count; ++n)
            tokens.push_back(std::to_string(n));
        return tokens;
    };
    return {l, h,
            analysis::acting_cells(score, weights, info.Tk, key_facts(analysis::key_tokens_of(set, l)), most),
            named(set.query_tokens(l), info.Tq), named(set.key_tokens(l), info.Tk)};
}

ByHead swept(const checkpoint::ModelRun& run, std::int64_t position, checkpoint::Stack stack, std::int64_t L,
             const std::function<void(ByHead)>& put, Progress& progress) {
    ByHead heads(static_cast<std::size_t>(L));
    analysis::SweepOptions options{.position = position};
    for (std::int64_t l = 0; l < L; ++l)
        if (has_attention(run.model().config(), {stack, l}))
            options.places.push_back({stack, l});
    const auto H = static_cast<std::size_t>(run.model().config().H);
    analysis::ablation_sweep(
        run, options,
        [&](const analysis::HeadEffect& effect) {
            std::vector<HeadMetrics>& layer = heads[static_cast<std::size_t>(effect.place.layer)];
            layer.resize(H);
            layer[static_cast<std::size_t>(effect.head)].set(HeadScore::effect,
                                                             static_cast<float>(effect.divergence));
            put(heads);
        },
        progress);
    return heads;
}

} // namespace

AtlasService::AtlasService(SessionState& state, std::function<void()> wake)
    : state_(state), values_(std::move(wake)) {}

bool AtlasService::is_on_screen(HeadScore score) const {
    const AtlasView& view = state_.view.attention.atlas;
    return view.colour == score || view.x == score || view.y == score || view.sort == score;
}

void AtlasService::add_scores(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run) {
    add_model_scores(atlas, holders, run);
    add_effects(atlas, holders, run);
    add_shares(atlas, holders, run);
    add_retrieval(atlas, holders, run);
    add_changes(atlas, holders, run);
}

void AtlasService::add_changes(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run) {
    const checkpoint::ModelRunPtr& unedited = state_.model.unedited;
    const bool edited = run != nullptr && !state_.document->part()->edits.empty();
    if (!edited || unedited == nullptr || !(unedited->inputs() == run->inputs()) ||
        checkpoint::is_patched(run->edits()) || atlas.survey != nullptr)
        return;
    using Changes = std::vector<analysis::HeadChange>;
    const auto changes = values_.ask<Changes>({run, "changes"}, Priority::on_screen,
                                              [run, unedited](Progress& progress, const auto&) {
                                                  return analysis::head_changes(unedited, run, progress);
                                              });
    atlas.works[ScoreSource::comparison] = {changes.error,
                                            changes.done ? std::nullopt : std::optional(changes.fraction)};
    holders.push_back(changes.value);
    if (changes.value == nullptr)
        return;
    for (const analysis::HeadChange& change : *changes.value)
        if (change.place.stack == state_.view.attention.stack && atlas.has(change.place.layer, change.head))
            if (auto& head =
                    atlas.heads[static_cast<std::size_t>(change.place.layer * atlas.H + change.head)]) {
                head->set(HeadScore::attention_change, static_cast<float>(change.attention));
                if (change.parameters)
                    head->set(HeadScore::parameter_change, static_cast<float>(*change.parameters));
            }
}

void AtlasService::compare(Atlas& atlas, Holders& holders, const AttentionSetPtr& set,
                           const checkpoint::ModelRunPtr& run) {
    const Compare side = state_.view.compare;
    const checkpoint::ModelRunPtr& baseline = state_.model.baseline;
    atlas.compare_obstacle = why_no_grid_comparison(state_, run);
    if (baseline == nullptr || run == nullptr || atlas.survey != nullptr || !atlas.compare_obstacle.empty() ||
        baseline->model_ptr() != run->model_ptr()) {
        grids_ = nullptr;
        return;
    }
    if (side == Compare::now) // what is known of A stays
        return;
    if (grids_ == nullptr || grids_->run_of_a != baseline || grids_->b != set)
        grids_ = std::make_shared<const ComparedGrids>(
            ComparedGrids{std::make_shared<const checkpoint::SpelledRun>(
                              baseline, *state_.document->part()->model, state_.view.attention.stack),
                          set, baseline});
    Atlas a = empty_atlas(set->info());
    std::vector<std::shared_ptr<const HeadGridRow>> differences;
    for (std::int64_t l = 0; l < a.L; ++l) {
        const auto row = values_.ask<ComparedGridRow>({grids_, std::to_string(l)}, Priority::on_screen,
                                                      [grids = grids_, l](Progress& progress, const auto&) {
                                                          return compared_grid_row(*grids, l, progress);
                                                      });
        if (!row.error.empty())
            atlas.compare_obstacle = row.error;
        a.rows.push_back(row.value == nullptr ? nullptr : row.value->a);
        differences.push_back(row.value == nullptr ? nullptr : row.value->difference);
        take_row(a, l, a.rows.back(), holders);
    }
    add_scores(a, holders, baseline);
    if (side == Compare::baseline) {
        a.side = side;
        a.names = atlas.names;
        a.compare_obstacle = atlas.compare_obstacle;
        a.has_survey = atlas.has_survey;
        a.survey_error = atlas.survey_error;
        a.similarity_progress.unavailable_reason =
            tr("atlas_comparison.similarity", "The similarity of heads is shown for B only.");
        atlas = std::move(a);
        return;
    }
    atlas.rows = std::move(differences);
    holders.push_back(grids_); // differs from the numbers of A
    subtract_scores(atlas, a, !baseline->edits().empty());
}

void AtlasService::add_model_scores(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run) {
    const bool own = state_.view.attention.stack == checkpoint::Stack::own,
               problem = state_.document->is_experiment();
    if (run == nullptr || !own || run->model().encoder() != nullptr) {
        atlas.works[ScoreSource::probe].unavailable_reason =
            run != nullptr
                ? tr("atlas_desk.model_two_texts_not", "A model with two texts cannot be probed with one.")
            : problem ? tr("atlas_desk.problem_no_vocabulary_take",
                           "A problem has no vocabulary to take random tokens from.")
                      : tr("atlas_desk.weights_alone_known_no",
                           "Only the weights are known, so no other text can be run.");
    } else {
        const checkpoint::TextModelPtr model = state_.document->part()->model;
        const auto probe = values_.ask<ByHead>({run, "probe"}, Priority::on_screen,
                                               [run, model](Progress& progress, const auto&) {
                                                   return probed_heads(*model, *run, probe_options, progress);
                                               });
        atlas.works[ScoreSource::probe] =
            work_of(probe, atlas,
                    {HeadScore::probe_previous, HeadScore::probe_duplicate, HeadScore::probe_induction});
        atlas.probe_texts = probe_options.batch;
        atlas.probe_length = probe_options.length;
        holders.push_back(probe.value);
    }
    if (run == nullptr || !own || !run->model().has_head() || !analysis::has_direct_circuits(run->model())) {
        atlas.works[ScoreSource::model].unavailable_reason =
            run != nullptr && own && run->model().has_head()
                ? !analysis::has_one_stream(run->model())
                      ? tr("atlas_desk.several_streams",
                           "Layers mix several copies of the residual stream, so that the parameters of a "
                           "head alone do not say what it copies.")
                  : analysis::has_gates_of_heads(run->model())
                      ? tr("atlas_desk.gate_on_outputs", "A gate that depends on the text multiplies each "
                                                         "head output, so that the parameters "
                                                         "of a head alone do not say what it copies.")
                      : tr("atlas_desk.values_from_latent_vectors",
                           "Values come from latent vectors, so that the weights of a head alone do not say "
                           "what "
                           "it copies.")
            : run != nullptr ? tr("atlas_desk.heads_lead_no_logits", "These heads do not lead to logits.")
            : problem        ? tr("atlas_desk.problem_no_vocabulary_head",
                                  "A problem has no vocabulary that a head could write.")
                             : tr("atlas_desk.weights_alone_known_nothing",
                                  "Only the weights are known, not the outputs of the heads.");
        return;
    }
    const auto copying = values_.ask<ByHead>(
        {run, "copying"}, Priority::on_screen, [run, L = atlas.L](Progress& progress, const auto&) {
            std::vector<std::int64_t> layers(static_cast<std::size_t>(L));
            std::iota(layers.begin(), layers.end(), std::int64_t{0});
            return by_head(analysis::ov_copying(run->model(), run->edits(), layers, progress),
                           HeadScore::copying);
        });
    atlas.works[ScoreSource::model] = work_of(copying, atlas, {HeadScore::copying});
    holders.push_back(copying.value);
}

template<class Value, class Make>
std::shared_ptr<const Value> AtlasService::runs_of(Atlas& atlas, HeadScore score, const DerivedKey& key,
                                                   Make make) {
    const auto value =
        is_on_screen(score) ? values_.ask<Value>(key, Priority::on_screen, make) : values_.peek<Value>(key);
    atlas.works[analysis::info_of(score).of] = {
        value.error, value.done || !is_on_screen(score) ? std::nullopt : std::optional(value.fraction)};
    return value.value;
}

void AtlasService::add_effects(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run) {
    if (run == nullptr || !run->model().has_head()) {
        atlas.works[ScoreSource::further_runs].unavailable_reason =
            run != nullptr ? tr("atlas_desk.checkpoint_no_head_gives",
                                "The checkpoint has no unembedding that gives logits.")
            : state_.document->is_experiment()
                ? tr("atlas_desk.problem_predicts_no_token", "A problem predicts no token.")
                : tr("atlas_desk.weights_alone_known_no_2",
                     "Only the weights are known, so no head can be ablated.");
        return;
    }
    const std::int64_t position = position_of(*run, *state_.document->part()->model, state_.model.position);
    const checkpoint::Stack stack = state_.view.attention.stack;
    const auto effects = runs_of<ByHead>(
        atlas, HeadScore::effect,
        {run, "effect " + std::to_string(position) + " " + std::to_string(static_cast<int>(stack))},
        [run, position, stack, L = atlas.L](Progress& progress, const auto& put) {
            return swept(*run, position, stack, L, put, progress);
        });
    if (effects != nullptr)
        take(atlas, *effects, {HeadScore::effect});
    holders.push_back(effects);
}

void AtlasService::add_shares(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run) {
    if (atlas.survey != nullptr) // which has its own values of this score
        return;
    if (run == nullptr) {
        if (!state_.document->is_experiment()) // its run provides the contributions
            atlas.works[ScoreSource::contributions].unavailable_reason =
                tr("atlas_desk.weights_alone_known_nothing_2",
                   "Only the weights are known, not a head's contribution to the output.");
        return;
    }
    const checkpoint::Stack stack = state_.view.attention.stack;
    const auto shares =
        runs_of<ByHead>(atlas, HeadScore::share, {run, "share " + std::to_string(static_cast<int>(stack))},
                        [run, stack](Progress& progress, const auto&) {
                            return by_head(analysis::output_shares(*run, stack, progress), HeadScore::share);
                        });
    if (shares != nullptr)
        take(atlas, *shares, {HeadScore::share});
    holders.push_back(shares);
}

void AtlasService::add_retrieval(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run) {
    std::string why_not;
    if (run == nullptr)
        why_not = state_.document->is_experiment()
                      ? tr("atlas_desk.problem_writes_no_text", "A problem writes no text.")
                      : tr("atlas_desk.weights_alone_known_no_3",
                           "Only the weights are known, so no text can be written.");
    else if (!writes_text(run->model()))
        why_not = tr("atlas_desk.model_not_go_text", "This model does not continue a text.");
    if (!why_not.empty()) {
        atlas.works[ScoreSource::needles].unavailable_reason = why_not;
        return;
    }
    using analysis::Retrieval;
    const checkpoint::TextModelPtr model = state_.document->part()->model;
    atlas.needle = runs_of<Retrieval>(
        atlas, HeadScore::retrieval, {run, "retrieval"}, [run, model](Progress& progress, const auto& put) {
            return analysis::retrieval(*model, run->edits(),
                                       analysis::needle_texts(*model, analysis::usual_needle()), put,
                                       progress);
        });
    if (atlas.needle != nullptr)
        take(atlas, by_head(atlas.needle->scores, HeadScore::retrieval), {HeadScore::retrieval});
    holders.push_back(atlas.needle);
}

void AtlasService::add_alike(Atlas& atlas, Holders& holders, const AttentionSetPtr& set) {
    const DerivedKey key{set, "alike"};
    const auto alike = state_.view.attention.atlas.pane == AtlasPane::similarity
                           ? values_.ask<SimilarityMap>(
                                 key, Priority::on_screen,
                                 [set](Progress& progress, const auto&) {
                                     const auto all = analysis::head_distances(*set, progress);
                                     return SimilarityMap{analysis::scaled_to_plane(all), all.rows, all.of};
                                 })
                           : values_.peek<SimilarityMap>(key);
    atlas.similarity = alike.value;
    atlas.similarity_progress = {alike.error, alike.done ? std::nullopt : std::optional(alike.fraction)};
    holders.push_back(alike.value);
}

void AtlasService::add_acts(Atlas& atlas, Holders& holders, const AttentionSetPtr& set) {
    const std::int64_t l = state_.view.attention.layer, h = state_.view.head;
    if (atlas.survey != nullptr || atlas.mean != nullptr || !atlas.has(l, h) || !atlas.at(l, h) ||
        state_.document->is_long())
        return;
    const HeadScore score =
        label_of(*atlas.at(l, h), state_.view.attention.atlas.thresholds).value_or(HeadScore::entropy);
    atlas.acts = values_
                     .ask<ActingCells>({set, "acts " + std::to_string(l) + " " + std::to_string(h) + " " +
                                                 std::string(analysis::info_of(score).id)},
                                       Priority::on_screen,
                                       [set, l, h, score](Progress&, const auto&) {
                                           return acting_weights(*set, l, h, score);
                                       })
                     .value;
    holders.push_back(atlas.acts);
}

void AtlasService::follow_survey(Atlas& atlas, Holders& holders) {
    const std::string& path = state_.model.survey_path;
    atlas.has_survey = !path.empty();
    if (path.empty() || !state_.document->is_checkpoint() ||
        state_.view.attention.atlas.tab != AtlasTab::survey)
        return;
    const checkpoint::TextModelPtr model = state_.document->part()->model;
    const auto means = values_.ask<SurveyedHeads>(
        {model, "survey " + path}, Priority::on_screen,
        [model, path](Progress& progress, const auto&) { return surveyed_heads(*model, path, progress); });
    atlas.survey_error = means.error;
    if (means.value == nullptr)
        return;
    atlas.survey = means.value;
    holders.push_back(means.value);
    // The means replace all scores of the text. follow() adds probe, copying, effect and retrieval
    // afterwards.
    for (std::int64_t l = 0; l < atlas.L; ++l)
        for (std::int64_t h = 0; h < atlas.H; ++h)
            if (const auto at = static_cast<std::size_t>(l * atlas.H + h);
                std::cmp_less(l, means.value->heads.size()) && std::cmp_less(h, means.value->heads[0].size()))
                atlas.heads[at] =
                    means.value->heads[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)];
    const std::int64_t l = state_.view.attention.layer, h = state_.view.head;
    if (!atlas.has(l, h))
        return;
    const auto card = values_.ask<SurveyedHead>(
        {means.value, "card " + std::to_string(l) + " " + std::to_string(h)}, Priority::on_screen,
        [model, path, l, h](Progress&, const auto&) { return surveyed_head(*model, path, l, h); });
    atlas.surveyed = card.value;
    if (!card.error.empty())
        atlas.survey_error = card.error;
}

void AtlasService::add_prompt_mean(Atlas& atlas, Holders& holders, const PromptListService& prompts) {
    std::ranges::fill(atlas.heads, std::nullopt);
    holders.push_back(prompts.list());
    holders.push_back(prompts.numbers());
    if (prompts.numbers() != nullptr)
        show_mean_heads(atlas, *prompts.numbers());
    else
        atlas.mean = std::make_shared<const PromptMean>(PromptMean{.of = prompts.now().count});
    atlas.works.try_emplace(ScoreSource::contributions); // measured once the view shows the score
    for (const ScoreSource of : {ScoreSource::further_runs, ScoreSource::needles})
        atlas.works[of].unavailable_reason =
            tr("atlas_desk.not_of_prompts", "This score is not measured for a list of prompts. The Effects "
                                            "have the mean effect of ablation.");
}

void AtlasService::follow(const AttentionSetPtr& set, const checkpoint::ModelRunPtr& run,
                          const PromptListService* mean) {
    values_.begin_frame();
    const bool checkpoint = state_.document->is_checkpoint();
    const std::shared_ptr<const void> model = checkpoint ? state_.document->part()->model : nullptr;
    values_.retain({set, run, model, survey_, grids_, state_.model.baseline});
    if (state_.view.attention.screen != Screen::atlas || set == nullptr || state_.head_grid == nullptr) {
        state_.shown.atlas = nullptr;
        shown_.clear();
        named_ = nullptr;
        grids_ = nullptr;
        return;
    }
    Holders holders;
    Atlas atlas = of_head_grid(*state_.head_grid, holders);
    if (named_ != set) {
        named_ = set;
        names_ = names_of(set->info());
    }
    atlas.names = names_;
    follow_survey(atlas, holders);
    survey_ = atlas.survey;
    if (mean != nullptr) {
        add_prompt_mean(atlas, holders, *mean);
        add_model_scores(atlas, holders, run);
    } else {
        add_scores(atlas, holders, run);
    }
    add_alike(atlas, holders, set);
    add_acts(atlas, holders, set);
    if (mean == nullptr) {
        compare(atlas, holders, set, run);
    } else {
        grids_ = nullptr;
        atlas.compare_obstacle =
            tr("atlas_comparison.mean", "The mean over prompts is shown for B only; show the open prompt to "
                                        "compare it with A.");
    }
    for (const std::optional<HeadMetrics>& head : atlas.heads)
        if (head)
            atlas.known |= head->measured;
    atlas.version = holders == shown_ ? made_ : ++made_;
    shown_ = std::move(holders);
    state_.shown.atlas = std::make_shared<const Atlas>(std::move(atlas));
}

} // namespace headscope::app
