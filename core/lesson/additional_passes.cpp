#include "core/lesson/additional_passes.h"

#include "core/analysis/effects/ablation_sweep.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace headscope::lesson {

namespace {

using TakeExpression = std::function<void(const Expression&)>;

void each_expression(const Spans& spans, const TakeExpression& take) {
    for (const Span& span : spans)
        if (span.value)
            take(span.value->expression);
}

void each_expression(const std::vector<QuizChoice>& choices, const TakeExpression& take) {
    for (const QuizChoice& choice : choices) {
        each_expression(choice.text, take);
        each_expression(choice.explanation, take);
    }
}

void each_expression(const StepQuestion& question, const TakeExpression& take) {
    each_expression(question.text, take);
    for (const Mistake& mistake : question.mistakes) {
        std::ranges::for_each(mistake.values, take);
        each_expression(mistake.why, take);
    }
    std::visit(Overloaded{[&](const NumberTask& task) { take(task.value); },
                          [&](const ShapeTask& task) { std::ranges::for_each(task.sizes, take); },
                          [&](const OrderTask& task) {
                              for (const OrderTask::Item& item : task.items) {
                                  each_expression(item.text, take);
                                  take(item.value);
                              }
                          },
                          [&](const ChoiceTask& task) { each_expression(task.choices, take); },
                          [](const auto&) {}},
               question.task);
}

void each_expression(const std::vector<LessonBlock>& blocks, const TakeExpression& take) {
    const auto all = [&](const std::vector<Spans>& texts) {
        for (const Spans& spans : texts)
            each_expression(spans, take);
    };
    for (const LessonBlock& block : blocks)
        std::visit(Overloaded{[&](const Paragraph& b) { each_expression(b.spans, take); },
                              [&](const Heading& b) { each_expression(b.spans, take); },
                              [&](const ListBlock& b) { all(b.items); },
                              [&](const TableBlock& b) {
                                  all(b.header);
                                  std::ranges::for_each(b.rows, all);
                              },
                              [&](const Gate& b) { take(b.condition); },
                              [&](const StepQuestion& b) { each_expression(b, take); },
                              [&](const Callout& b) {
                                  if (b.when)
                                      take(*b.when);
                                  each_expression(b.blocks, take);
                              },
                              [](const CodeBlock&) {}, [](const FormulaBlock&) {}, [](const FillTable&) {},
                              [](const LessonPanel&) {}, [](const ShowMe&) {}, [](const Claim&) {}},
                   block);
}

void each_expression(const Question& question, const TakeExpression& take) {
    each_expression(question.text, take);
    each_expression(question.choices, take);
}

bool reads_further_passes(const Expression& expression) {
    constexpr std::array<std::string_view, 5> names{"before", "corrupted", "lost", "recovered", "path"};
    return std::ranges::any_of(expression.functions(), [&](const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    });
}

} // namespace

AdditionalPasses::AdditionalPasses(checkpoint::TextModelPtr model, checkpoint::ModelRunPtr run,
                                   std::string corrupted)
    : model_(std::move(model)), run_(std::move(run)), prompt_(std::move(corrupted)) {}

const LessonModel& AdditionalPasses::second() {
    if (prompt_.empty())
        fail_input(tr("further_passes.no_second_prompt_compare",
                      "there is no second prompt to compare with; add corrupted: and a text to the scene"));
    if (corrupted_ == nullptr) {
        Progress progress;
        corrupted_ = std::make_shared<const LessonModel>(run_lesson_model(
            model_, checkpoint::prompt_inputs(*model_, prompt_), run_->edits(), {}, progress));
    }
    return *corrupted_;
}

const LessonModel& AdditionalPasses::corrupted() {
    const std::lock_guard lock(one_at_a_time_);
    return second();
}

const LessonModel& AdditionalPasses::before() {
    const std::lock_guard lock(one_at_a_time_);
    if (before_ == nullptr) {
        Progress progress;
        before_ = std::make_shared<const LessonModel>(
            run_lesson_model(model_, run_->inputs(), {}, prompt_, progress));
    }
    return *before_;
}

double AdditionalPasses::ablation_loss(analysis::HeadPlace head, TokenPair words) {
    const std::lock_guard lock(one_at_a_time_);
    auto& losses = losses_[words];
    if (losses.empty()) {
        const std::int64_t last = run_->inputs().T - 1;
        analysis::SweepOptions options{.position = last, .tokens = {words.token}};
        if (words.against)
            options.tokens.push_back(*words.against);
        Progress progress;
        const TensorPtr logits = run_->logits_at(last, progress);
        const auto difference = [&](const auto& logit_of) {
            return static_cast<double>(logit_of(0)) -
                   (words.against ? static_cast<double>(logit_of(1)) : 0.0);
        };
        const double before = difference([&](std::size_t n) { return logits->at(0, 0, options.tokens[n]); });
        analysis::ablation_sweep(
            *run_, options,
            [&](const analysis::HeadEffect& effect) {
                losses[{effect.place.layer, effect.head}] =
                    before - difference([&](std::size_t n) { return effect.logits[n]; });
            },
            progress);
    }
    const auto found = losses.find({head.layer, head.head});
    if (found == losses.end())
        fail_input(tr("further_passes.lost_names_head_not", "lost names a head that does not exist"));
    return found->second;
}

double AdditionalPasses::recovered(analysis::PatchKind kind, std::int64_t row, std::int64_t column,
                                   TokenPair words) {
    const std::lock_guard lock(one_at_a_time_);
    const auto known = recovered_.find({words, kind, row, column});
    if (known != recovered_.end())
        return known->second;
    Progress progress;
    analysis::Patching& of = patching(words);
    if (row < 0 || row >= of.rows(kind) || column < 0 || column >= of.columns(kind))
        fail_input(
            tr("further_passes.recovered_names_place_not", "recovered names a position that does not exist"));
    const double share = of.recovered(of.patched(kind, row, column, progress));
    recovered_[{words, kind, row, column}] = share;
    return share;
}

analysis::Patching& AdditionalPasses::patching(TokenPair words) {
    auto& known = patchings_[words];
    if (known == nullptr) {
        Progress progress;
        known = std::make_unique<analysis::Patching>(
            run_, second().numbers,
            analysis::Patching::Question{.answer = words.token,
                                         .against = words.against.value_or(words.token),
                                         .position = run_->inputs().T - 1},
            progress);
    }
    return *known;
}

double AdditionalPasses::path(analysis::HeadPlace from, analysis::HeadPlace to, analysis::PatchKind input,
                              TokenPair words) {
    const std::lock_guard lock(one_at_a_time_);
    const std::array heads{from.layer, from.head, to.layer, to.head};
    const auto known = paths_.find({words, heads, input});
    if (known != paths_.end())
        return known->second;
    using enum analysis::PatchKind;
    const analysis::PathInputs inputs{.queries = input == q, .keys = input == k, .values = input == v};
    Progress progress;
    analysis::Patching& of = patching(words);
    const double share = of.recovered(of.path(from, to, inputs, progress));
    paths_[{words, heads, input}] = share;
    return share;
}

void precompute_passes(const Lesson& lesson, const LessonModel& model, const Progress& cancel) {
    const auto compute = [&](const StepScene& own, const auto& of) {
        const std::int64_t l = combine_scenes(lesson.scene, own).layer.value_or(0);
        if (l < 0 || std::cmp_greater_equal(l, model.run.layers.size()))
            return;
        const checkpoint::LayerRun& layer = layer_of(model, l);
        const LessonState state{.problem = *layer.problem, .trace = layer.trace, .model = &model, .layer = l};
        each_expression(of, [&](const Expression& expression) {
            cancel.check();
            if (!reads_further_passes(expression))
                return;
            try {
                expression.value(state);
            } catch (const Error&) {
                // The learner's own text may lack a word of the expression, which then prints no number.
            }
        });
    };
    for (const Step& step : lesson.steps)
        compute(step.scene, step.blocks);
    for (const Question& question : lesson.quiz)
        compute(question.scene, question);
}

} // namespace headscope::lesson
