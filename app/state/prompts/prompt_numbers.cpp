#include "app/state/prompts/prompt_numbers.h"

#include "app/state/model_state.h"
#include "core/analysis/heads/model_heads.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

using analysis::LogitQuestion;
using checkpoint::ModelRun;
using checkpoint::ModelRunPtr;
using PromptCells = std::vector<std::optional<double>>;

/// Measures the prompts of one list.
class PromptMeter {
public:
    PromptMeter(const checkpoint::TextModel& model, const checkpoint::ModelEdits& edits,
                const PromptsQuestion& asked)
        : model_(model), edits_(edits), asked_(asked) {}

    /// Sets the form of `numbers` if this is the first prompt.
    PromptCells measure(const ListedPrompt& prompt, NumbersOfPrompts& numbers, Progress& progress) const {
        switch (asked_.screen) {
        case MeanScreen::heads:
            return scores(prompt, progress);
        case MeanScreen::direct:
        case MeanScreen::ablated:
        case MeanScreen::averaged:
            return effects(prompt, numbers, progress);
        case MeanScreen::patching:
            return recovered(prompt, numbers, progress);
        }
        return {};
    }

private:
    ModelRunPtr run_of(const checkpoint::ModelInputs& inputs, const checkpoint::ModelEdits& edits,
                       Progress& progress) const {
        return ModelRun::compute(model_.model, inputs, edits, nullptr, {}, progress);
    }

    PromptCells scores(const ListedPrompt& prompt, Progress& progress) const {
        cpu::CpuBackend backend(machine_);
        StageSet stages = StageSet().with(TensorId::weights);
        if (asked_.share)
            stages = stages.with(TensorId::contributions);
        const auto measured =
            analysis::text_heads(model_, *prompt.inputs, 0,
                                 {.stages = stages, .stack = asked_.stack, .logits = false, .edits = edits_},
                                 &backend, progress, asked_.hide_first);
        const checkpoint::ModelConfig& config = in_stack(model_.model->config(), asked_.stack);
        const auto all = static_cast<std::size_t>(config.layers * config.H);
        // Every score of each head, then what the scores are beside the first token.
        PromptCells cells(2 * all * analysis::head_score_count);
        for (const analysis::MeasuredHead& head : measured)
            for (std::size_t s = 0; s < analysis::head_score_count; ++s) {
                const std::size_t at =
                    static_cast<std::size_t>(head.layer * config.H + head.head) * analysis::head_score_count +
                    s;
                if (!head.metrics.measured.test(s))
                    continue;
                cells[at] = static_cast<double>(head.metrics.scores[s]);
                cells[all * analysis::head_score_count + at] = static_cast<double>(head.metrics.beside[s]);
            }
        return cells;
    }

    LogitQuestion question_of(const ListedPrompt& prompt, const ModelRunPtr& run, std::int64_t position,
                              Progress& progress) const {
        LogitQuestion question{.position = position};
        if (prompt.answer_id) {
            question.token = *prompt.answer_id;
            if (prompt.against_id) {
                question.from = LogitQuestion::From::token;
                question.against = *prompt.against_id;
            }
            return question;
        }
        const ModelRunPtr unedited = edits_.empty() ? run : run_of(*prompt.inputs, {}, progress);
        question = effects_question(*unedited, {}, position, progress);
        question.sources = false;
        return question;
    }

    PromptCells effects(const ListedPrompt& prompt, NumbersOfPrompts& numbers, Progress& progress) const {
        const ModelRunPtr run = run_of(*prompt.inputs, edits_, progress);
        const LogitQuestion question =
            question_of(prompt, run, position_of(*run, model_, std::nullopt), progress);
        const auto effects = arranged_effects(model_.model->config(), question, asked_.stack,
                                              analysis::logit_attribution(*run, question, progress));
        PromptCells cells;
        for (const analysis::LogitPart& part : effects->attribution.parts)
            cells.emplace_back(part.value);
        cells.emplace_back(effects->attribution.logit);
        if (numbers.effects == nullptr)
            numbers.effects = effects;
        if (asked_.screen == MeanScreen::direct)
            return cells;
        const auto sweep = std::make_shared<const EffectsSweep>(effects_sweep(
            *run, *effects,
            asked_.screen == MeanScreen::averaged ? analysis::Ablation::mean : analysis::Ablation::zero,
            nullptr, [](const EffectsSweep&) {}, progress));
        for (const auto& row : sweep->heads)
            for (const auto& cell : row) {
                cells.push_back(cell ? std::optional(cell->loss) : std::nullopt);
                cells.push_back(cell ? std::optional(cell->divergence) : std::nullopt);
            }
        cells.emplace_back(sweep->before);
        if (numbers.sweep == nullptr)
            numbers.sweep = sweep;
        return cells;
    }

    PromptCells recovered(const ListedPrompt& prompt, NumbersOfPrompts& numbers, Progress& progress) const {
        if (!prompt.is_pair())
            fail_input(tr("prompt_numbers.no_pair",
                          "Patching needs the fields clean, corrupted, answer and against; add them to the "
                          "line."));
        PatchingPair pair;
        pair.clean = run_of(*prompt.inputs, edits_, progress);
        pair.corrupted = run_of(*prompt.corrupted_inputs, edits_, progress);
        pair.question = {.answer = *prompt.answer_id,
                         .against = *prompt.against_id,
                         .position = pair.clean->inputs().T - 1};
        pair.patching =
            std::make_shared<analysis::Patching>(pair.clean, pair.corrupted, pair.question, progress);
        const auto map = std::make_shared<const PatchingMap>(patching_map(
            pair, asked_.patching, asked_.from, nullptr, [](const PatchingMap&) {}, progress));
        PromptCells cells;
        for (const auto& row : map->cells)
            for (const std::optional<float>& cell : row)
                cells.push_back(cell ? std::optional(static_cast<double>(*cell)) : std::nullopt);
        cells.emplace_back(pair.patching->clean());
        cells.emplace_back(pair.patching->corrupted());
        PatchingMap form = numbers.map != nullptr ? *numbers.map : *map;
        for (std::size_t row = 0; row < form.same.size(); ++row) // the same numbers in every pair
            for (std::size_t column = 0; column < form.same[row].size(); ++column)
                form.same[row][column] = form.same[row][column] && map->same[row][column];
        numbers.map = std::make_shared<const PatchingMap>(std::move(form));
        return cells;
    }

    const checkpoint::TextModel& model_;
    const checkpoint::ModelEdits& edits_;
    const PromptsQuestion& asked_;
    std::shared_ptr<cpu::CpuMachine> machine_ = cpu::make_cpu_machine(); ///< shared by all prompts
};

PromptMean mean_of_cells(const NumbersOfPrompts& numbers) {
    PromptMean mean{.of = numbers.of};
    std::vector<const PromptCells*> all;
    for (const auto& prompt : numbers.prompts)
        if (prompt->fault.empty())
            all.push_back(&prompt->cells);
    mean.prompts = std::ssize(all);
    if (all.empty())
        return mean;
    std::vector<double> values;
    for (std::size_t cell = 0; cell < all.front()->size(); ++cell) {
        values.clear();
        for (const PromptCells* cells : all)
            if (const auto& value = (*cells)[cell])
                values.push_back(*value);
        mean.cells.push_back(analysis::statistics_of(values));
    }
    return mean;
}

/// Returns true if patching has rows and columns that mean the same in prompts of different lengths.
bool is_by_head(const PatchingQuestion& asked) {
    return asked.paths || analysis::info_of(asked.kind).by_head;
}

} // namespace

std::string no_mean_reason(const PromptList& list, const PromptsQuestion& asked) {
    if (asked.screen == MeanScreen::heads)
        return {};
    if (asked.screen != MeanScreen::patching) {
        const std::int64_t answers = std::ranges::count_if(list.prompts, [](const ListedPrompt& prompt) {
            return prompt.usable() && prompt.answer_id.has_value();
        });
        return answers == 0 || answers == list.usable()
                   ? ""
                   : tr("prompt_numbers.mixed",
                        "Some lines of the list have an answer and others do not, so that their logits "
                        "have no mean. Give every line an answer, or none.");
    }
    std::optional<std::int64_t> length;
    bool equal = true;
    for (const ListedPrompt& prompt : list.prompts)
        if (prompt.is_pair()) {
            equal = equal && length.value_or(prompt.inputs->T) == prompt.inputs->T;
            length = prompt.inputs->T;
        }
    if (!length)
        return tr("prompt_numbers.no_pairs",
                  "No prompt of the list has the fields corrupted, answer and against, which patching "
                  "needs.");
    if (!equal && !is_by_head(asked.patching))
        return tr("prompt_numbers.lengths",
                  "The prompts of the list have different lengths, so that positions have no mean. Choose "
                  "Head output or another kind by head.");
    return {};
}

NumbersOfPrompts numbers_of_prompts(const checkpoint::TextModel& model, const PromptList& list,
                                    const checkpoint::ModelEdits& edits, const PromptsQuestion& asked,
                                    const NumbersOfPrompts* so_far,
                                    const std::function<void(const NumbersOfPrompts&)>& put,
                                    Progress& progress) {
    NumbersOfPrompts out;
    if (so_far != nullptr)
        out = *so_far;
    out.asked = asked;
    out.model = model.model;
    out.of = 0;
    for (const ListedPrompt& prompt : list.prompts)
        out.of += prompt.usable() ? 1 : 0;
    const PromptMeter meter(model, edits, asked);
    std::int64_t done = 0;
    for (std::size_t index = 0; index < list.prompts.size(); ++index) {
        const ListedPrompt& prompt = list.prompts[index];
        if (!prompt.usable())
            continue;
        const auto share = [&](std::int64_t of) {
            return static_cast<float>(of) / static_cast<float>(out.of);
        };
        progress.set_part(share(done), share(done + 1));
        ++done;
        if (std::ranges::any_of(out.prompts, [&](const auto& known) { return known->index == index; }))
            continue;
        progress.check();
        NumbersOfPrompt numbers{.index = index};
        try {
            numbers.cells = meter.measure(prompt, out, progress);
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::input)
                throw;
            numbers.fault = fault.what();
        }
        out.prompts.push_back(std::make_shared<const NumbersOfPrompt>(std::move(numbers)));
        out.mean = mean_of_cells(out);
        put(out);
    }
    progress.report(1);
    // Prompts that cannot be measured do not count.
    out.of = out.mean.of = out.mean.prompts;
    return out;
}

std::vector<std::optional<double>>
differences_of_prompts(const checkpoint::TextModel& model, const PromptList& list,
                       const checkpoint::ModelEdits& edits, const PromptCells* so_far,
                       const std::function<void(const PromptCells&)>& put, Progress& progress) {
    PromptCells out = so_far != nullptr ? *so_far : PromptCells(list.prompts.size());
    for (std::size_t index = 0; index < list.prompts.size(); ++index) {
        const ListedPrompt& prompt = list.prompts[index];
        if (!prompt.usable() || !prompt.answer_id || !prompt.against_id || out[index])
            continue;
        progress.check();
        try {
            const ModelRunPtr run =
                ModelRun::compute(model.model, *prompt.inputs, edits, nullptr, {.kept_bytes = 0}, progress);
            const TensorPtr logits = run->logits_at(position_of(*run, model, std::nullopt), progress);
            out[index] = static_cast<double>(logits->data()[*prompt.answer_id]) -
                         static_cast<double>(logits->data()[*prompt.against_id]);
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::input)
                throw;
            continue; // this line alone has no difference
        }
        put(out);
    }
    return out;
}

} // namespace headscope::app
