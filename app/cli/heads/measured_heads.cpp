#include "app/cli/heads/measured_heads.h"

#include "app/cli/prompt_option.h"
#include "app/cli/usage.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/attention_pages.h"
#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/heads/copying.h"
#include "core/analysis/heads/head_facts.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/format/attention_file.h"
#include "core/run/backend.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

namespace headscope::cli {

namespace {

using analysis::HeadScore;
using Opened = ModelOptions::Opened;

/// Minimum tolerance for the sum of a row of weights, regardless of the precision of the file.
constexpr float least_warned = 0.01F;

StageSet stages_for(const Scores& wanted) {
    const auto weights = StageSet().with(TensorId::weights);
    return wants(wanted, HeadScore::share) ? weights.with(TensorId::contributions) : weights;
}

/// Warns on standard error if numbers of a file are not attention weights, with the reasons for the first
/// head.
void warn(const std::string& path, const std::vector<MeasuredHead>& rows) {
    const auto warned = [](const MeasuredHead& row) { return !row.warnings.empty(); };
    const auto first = std::ranges::find_if(rows, warned);
    if (first == rows.end())
        return;
    std::cerr << "headscope: " << path << ": " << app::counted(std::ranges::count_if(rows, warned), "head")
              << " of " << rows.size() << " may not be attention weights, the first is head " << first->head
              << " of layer " << first->layer << ":";
    for (const std::string& warning : first->warnings)
        std::cerr << ' ' << warning;
    std::cerr << " Give the weights after the softmax.\n";
}

std::vector<MeasuredHead> heads_of_file(const std::string& path, const AttentionChoice& choice,
                                        bool hide_first) {
    const AttentionSetPtr set = format::open_attention_file(path, choice);
    AttentionInfo info = set->info();
    info.sum_tolerance = std::max(info.sum_tolerance, least_warned);
    const bool sequences = info.axis == SetAxis::sequences;
    std::vector<MeasuredHead> rows;
    for (std::int64_t l = 0; l < info.L; ++l) {
        const std::int64_t number = info.numbers[static_cast<std::size_t>(l)];
        analysis::HeadTokens tokens = analysis::key_tokens_of(*set, l);
        tokens.hide_first = hide_first;
        for (std::int64_t h = 0; h < info.H; ++h) {
            analysis::RowFacts facts(info.Tq, info.Tk, info.sum_tolerance, tokens, info.sinks,
                                     set->sink_shares(l, h));
            for_rows(*set, l, h,
                     [&](std::int64_t first, std::span<const float> weights) { facts.add(first, weights); });
            const analysis::HeadFacts found = facts.result();
            rows.push_back({.sequence = sequences ? std::optional(number) : std::nullopt,
                            .layer = sequences ? 0 : number,
                            .head = h,
                            .metrics = found.metrics,
                            .warnings = app::flags_of(found, info)});
        }
    }
    warn(path, rows);
    return rows;
}

std::vector<MeasuredHead> heads_of_text(const Opened& opened, const checkpoint::ModelInputs& inputs,
                                        std::int64_t repeated, StageSet stages, run::Backend& backend,
                                        bool hide_first) {
    checkpoint::ForwardOptions options = opened.options;
    options.stages = stages;
    Progress progress;
    return analysis::text_heads(*opened.text, inputs, repeated, options, &backend, progress, hide_first);
}

/// Adds the effect: the change of the prediction when a head is ablated.
void add_effects(const Opened& opened, const checkpoint::ModelInputs& inputs,
                 const std::optional<std::int64_t>& position, std::vector<MeasuredHead>& rows) {
    Progress progress;
    const checkpoint::ModelRunPtr run =
        checkpoint::ModelRun::compute(opened.text->model, inputs, opened.options.edits, nullptr,
                                      checkpoint::ModelRun::Options{.kept_bytes = 0}, progress);
    analysis::SweepOptions options{.position = position.value_or(inputs.T - 1)};
    const checkpoint::Stack stack = opened.options.stack.value_or(checkpoint::Stack::own);
    for (const MeasuredHead& row : rows)
        if (row.head == 0)
            options.places.push_back({stack, row.layer});
    analysis::ablation_sweep(
        *run, options,
        [&](const analysis::HeadEffect& effect) {
            for (MeasuredHead& row : rows)
                if (row.layer == effect.place.layer && row.head == effect.head)
                    row.metrics.set(HeadScore::effect, static_cast<float>(effect.divergence));
        },
        progress);
}

/// Adds the copying score. Only the model's own stack has heads between its words and its logits.
void add_copying(const Opened& opened, std::vector<MeasuredHead>& rows) {
    if (!opened.text->model->has_head() || !analysis::has_direct_circuits(*opened.text->model) ||
        opened.options.stack.value_or(checkpoint::Stack::own) != checkpoint::Stack::own)
        return;
    std::vector<std::int64_t> layers;
    for (const MeasuredHead& row : rows)
        if (layers.empty() || layers.back() != row.layer)
            layers.push_back(row.layer);
    const auto scores = analysis::ov_copying(*opened.text->model, opened.options.edits, layers, Progress());
    for (MeasuredHead& row : rows) {
        const auto at = std::ranges::find(layers, row.layer) - layers.begin();
        row.metrics.set(
            HeadScore::copying,
            static_cast<float>(scores[static_cast<std::size_t>(at)][static_cast<std::size_t>(row.head)]));
    }
}

/// Adds the retrieval score, and prints how much of the needle the model wrote.
void add_retrieval(const Opened& opened, const analysis::NeedleOptions& needle,
                   std::vector<MeasuredHead>& rows) {
    Progress progress;
    const std::vector<analysis::NeedleText> texts = analysis::needle_texts(*opened.text, needle);
    const analysis::Retrieval found = analysis::retrieval(
        *opened.text, opened.options.edits, texts, [](const analysis::Retrieval&) {}, progress);
    for (MeasuredHead& row : rows)
        row.metrics.set(
            HeadScore::retrieval,
            static_cast<float>(
                found.scores[static_cast<std::size_t>(row.layer)][static_cast<std::size_t>(row.head)]));
    std::cerr << "headscope: the model wrote " << app::number(100 * found.written, 0)
              << " % of the needle's distinct tokens (mean of " << app::counted(std::ssize(texts), "text")
              << "); no head can copy more\n";
}

/// Returns one row for each head of the wanted layers, without scores.
std::vector<MeasuredHead> unmeasured_heads(const Opened& opened) {
    const checkpoint::ModelConfig& config = opened.text->model->config();
    std::vector<MeasuredHead> rows;
    for (std::int64_t l = 0; l < config.layers; ++l)
        for (std::int64_t h = 0; h < config.H; ++h)
            if (l == opened.options.layer.value_or(l) && config.has_attention(l))
                rows.push_back({.layer = l, .head = h});
    return rows;
}

/// Returns one row per head: the means over the texts of the probe.
std::vector<MeasuredHead> heads_of_probe(const HeadsInput& input, const Opened& opened, const Scores& wanted,
                                         run::Backend& backend) {
    std::vector<std::vector<MeasuredHead>> texts;
    for (std::vector<std::int64_t>& ids : analysis::probe_texts(*opened.text, input.probe_options)) {
        checkpoint::ModelInputs inputs = checkpoint::token_inputs(*opened.text, std::move(ids));
        std::vector<MeasuredHead>& rows = texts.emplace_back(heads_of_text(
            opened, inputs, input.probe_options.length, stages_for(wanted), backend, input.hide_first));
        if (wants(wanted, HeadScore::effect))
            add_effects(opened, inputs, input.position, rows);
    }
    return analysis::mean_heads(texts);
}

std::vector<MeasuredHead> heads_of_model(const HeadsInput& input, const Scores& wanted) {
    const bool effect = wants(wanted, HeadScore::effect);
    if (effect && input.problem.temperature() != 1.0F)
        fail_usage("the effect of a head is measured without --temperature; leave one of them out");
    const bool retrieval = wants(wanted, HeadScore::retrieval);
    if (retrieval && input.problem.temperature() != 1.0F)
        fail_usage("retrieval is measured without --temperature; leave one of them out");
    const bool needle_alone = retrieval && wanted.size() == 1 && !input.model.has_tokens();
    const Opened opened =
        input.model.open(input.problem.gains(), input.problem.temperature(), input.probe || needle_alone);
    const std::unique_ptr<run::Backend> backend = engine::make_backend(input.problem.device());
    std::vector<MeasuredHead> rows;
    if (needle_alone) {
        rows = unmeasured_heads(opened);
    } else if (input.probe) {
        rows = heads_of_probe(input, opened, wanted, *backend);
    } else {
        rows = heads_of_text(opened, opened.inputs, 0, stages_for(wanted), *backend, input.hide_first);
        if (effect)
            add_effects(opened, opened.inputs, input.position, rows);
    }
    if (wants(wanted, HeadScore::copying))
        add_copying(opened, rows);
    if (retrieval)
        add_retrieval(opened, input.needle, rows);
    return rows;
}

} // namespace

struct HeadsOfTexts::Parts {
    const HeadsInput& input;
    Scores wanted;
    Opened opened;
    std::unique_ptr<run::Backend> backend;
    std::vector<MeasuredHead> copying = {}; ///< of the weights alone; empty: not computed yet
};

HeadsOfTexts::HeadsOfTexts(const HeadsInput& input, const Scores& wanted) {
    if (wants(wanted, HeadScore::retrieval))
        fail_usage("retrieval is measured on texts of its own; leave --prompts out");
    if (wants(wanted, HeadScore::effect) && input.problem.temperature() != 1.0F)
        fail_usage("the effect of a head is measured without --temperature; leave one of them out");
    parts_ = std::make_unique<Parts>(
        Parts{.input = input,
              .wanted = wanted,
              .opened = input.model.open(input.problem.gains(), input.problem.temperature(), true),
              .backend = engine::make_backend(input.problem.device())});
}

HeadsOfTexts::~HeadsOfTexts() = default;

const checkpoint::TextModel& HeadsOfTexts::model() const {
    return *parts_->opened.text;
}

std::vector<MeasuredHead> HeadsOfTexts::measure(const analysis::PromptValue& text) {
    const Opened& opened = parts_->opened;
    PromptOption prompt;
    prompt.set(text);
    const checkpoint::ModelInputs inputs = prompt.read(*opened.text);
    std::vector<MeasuredHead> rows = heads_of_text(opened, inputs, 0, stages_for(parts_->wanted),
                                                   *parts_->backend, parts_->input.hide_first);
    if (wants(parts_->wanted, HeadScore::effect))
        add_effects(opened, inputs, parts_->input.position, rows);
    if (!wants(parts_->wanted, HeadScore::copying))
        return rows;
    if (parts_->copying.empty()) {
        parts_->copying = rows;
        add_copying(opened, parts_->copying);
    }
    for (std::size_t n = 0; n < rows.size(); ++n)
        if (parts_->copying[n].metrics.has(HeadScore::copying))
            rows[n].metrics.set(HeadScore::copying, parts_->copying[n].metrics[HeadScore::copying]);
    return rows;
}

bool wants(const Scores& wanted, HeadScore score) {
    return std::ranges::find(wanted, score, &analysis::HeadScoreInfo::score) != wanted.end();
}

std::vector<MeasuredHead> measured_heads(const HeadsInput& input, const Scores& wanted) {
    if (input.attention)
        return heads_of_file(*input.attention,
                             {.part = input.model.stack_name().value_or(""), .text = input.batch},
                             input.hide_first);
    if (input.model.given())
        return heads_of_model(input, wanted);
    const app::DocumentPtr document = input.problem.read();
    const Problem& problem = document->problem;
    Progress progress;
    return analysis::layer_heads(
        engine::make_engine(input.problem.device())->run(problem, stages_for(wanted), progress), 0,
        {.keys = problem.cross() ? problem.kv_tokens : problem.tokens, .hide_first = input.hide_first});
}

} // namespace headscope::cli
