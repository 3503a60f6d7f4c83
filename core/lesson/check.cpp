#include "core/lesson/check.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/base/parse.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/additional_passes.h"
#include "core/lesson/formula.h"
#include "core/lesson/panel_figure.h"
#include "core/lesson/questions/check_question.h"
#include "core/lesson/questions/step_tasks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

namespace headscope::lesson {

namespace {

constexpr int fewest_words = 5;

int decimals_of(std::string_view quoted) {
    const auto point = quoted.find('.');
    return point == std::string_view::npos ? 0 : static_cast<int>(quoted.size() - point - 1);
}

class LessonCheck {
public:
    LessonCheck(const Lesson& lesson, engine::Engine& engine, std::vector<LessonError>& faults,
                LessonTally& tally)
        : lesson_(lesson), engine_(engine), faults_(faults), tally_(tally) {}

    void all() {
        for (const Step& step : lesson_.steps) {
            ++tally_.steps;
            line_ = step.line;
            guarded(step.line, [&] { play(step); });
        }
        for (const Question& question : lesson_.quiz) {
            ++tally_.questions;
            line_ = question.line;
            guarded(question.line, [&] { play(question); });
        }
        std::ranges::move(repeated_ids(lesson_), std::back_inserter(faults_));
    }

private:
    /// Turns an Error of the call into a lesson error at a line.
    template<class Call>
    void guarded(int line, const Call& call) {
        try {
            call();
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::cancelled)
                throw;
            faults_.push_back({line, error.what()});
        }
    }

    struct Stage {
        Problem problem;
        Trace trace;
        LessonModelPtr model = {};
        std::int64_t layer = 0;
        LessonState state() const {
            return {.problem = problem, .trace = trace, .model = model.get(), .layer = layer};
        }
    };

    Stage run(const StepScene& scene) {
        if (scene.model)
            return run_model(scene);
        if (scene.layer)
            fail_input(
                tr("check.layer_model_add_model", "\"layer\" applies only to a model; add model: pocket"));
        if (scene.screen)
            fail_input(
                tr("check.screen_model_add_model", "\"screen\" applies only to a model; add model: pocket"));
        return run(recipe_of(scene));
    }

    Stage run(const project::Recipe& recipe) {
        Stage stage{.problem = project::with_edits(project::build_recipe(recipe).problem, recipe),
                    .trace = {}};
        stage.trace = engine_.run(stage.problem);
        return stage;
    }

    Stage run_model(const StepScene& scene) {
        checkpoint::TextModelPtr& model = models_[*scene.model];
        if (model == nullptr)
            model = checkpoint::open_text_model(checkpoint::model_folder(*scene.model));
        Progress progress;
        Stage stage;
        stage.model = std::make_shared<const LessonModel>(run_lesson_model(
            model,
            checkpoint::prompt_inputs(*model, scene.sentence.value_or(checkpoint::first_prompt(*model))),
            edits_of(scene, model->model->config()), scene.corrupted.value_or(""), progress));
        stage.layer = scene.layer.value_or(0);
        const checkpoint::LayerRun& layer = layer_of(*stage.model, stage.layer);
        stage.problem = *layer.problem;
        stage.trace = layer.trace;
        return stage;
    }

    void check_scene(const StepScene& scene, const Stage& stage) {
        const int line = scene.line > 0 ? scene.line : line_;
        const auto check_target = [&](const Target& target, bool one) {
            ++tally_.targets;
            guarded(line, [&] {
                const CellRange cells = resolve(target, stage.problem);
                if (one && cells.size() != 1)
                    fail_input(tr("check.select_names_cells_name", "select names {} cells with {}; name one",
                                  cells.size(), target_text(target)));
                const Tensor* const tensor = stage.model != nullptr
                                                 ? tensor_of(*stage.model, stage.layer, target.tensor)
                                                 : tensor_of(stage.problem, stage.trace, target.tensor);
                if (tensor == nullptr)
                    fail_input(
                        tr("common.problem_no", "this problem has no {}", tensor_info(target.tensor).name));
            });
        };
        if (scene.select)
            check_target(*scene.select, true);
        for (const Target& target : scene.point)
            check_target(target, false);
        if (scene.row && scene.row->kind != TargetIndex::Kind::all) {
            ++tally_.targets;
            guarded(line, [&] { query_row(*scene.row, stage.problem); });
        }
        if (stage.model != nullptr && scene.screen)
            guarded(line, [&] { check_screen(scene, *stage.model); });
        for (const auto& head : {scene.head, scene.other})
            if (head && (*head < 0 || *head >= stage.problem.dims.H))
                faults_.push_back({line, tr("common.no_head_heads_numbered",
                                            "there is no head {}; heads are numbered 0 to {}", *head,
                                            stage.problem.dims.H - 1)});
    }

    void check(const LiveValue& value, const LessonState& state) {
        ++(value.quoted.empty() ? tally_.values : tally_.quoted);
        guarded(value.line, [&] {
            if (value.quoted.empty()) {
                print_value(value, state);
                return;
            }
            const LessonValue found = value.expression.value(state);
            const auto* number = std::get_if<double>(&found);
            std::string typed = value.quoted;
            if (typed.starts_with("-"))
                typed.replace(0, 1, "−");
            const std::string computed =
                number == nullptr ? std::get<std::string>(found) : with_decimals(*number, decimals_of(typed));
            if (computed != typed)
                fail_input(tr("check.lesson_says_engine_computes",
                              "the lesson says {} for {}, and the engine computes {}", typed,
                              value.expression.text(), computed));
        });
    }

    void check(const Spans& spans, const LessonState& state) {
        for (const Span& span : spans)
            if (span.value)
                check(*span.value, state);
            else
                tally_.words += count_words(span.text);
    }

    static int count_words(const std::string& text) {
        std::istringstream in(text);
        std::string word;
        int count = 0;
        while (in >> word)
            ++count;
        return count;
    }

    void check(const std::vector<LessonBlock>& blocks, const StepScene& scene, const Stage& stage) {
        const LessonState state = stage.state();
        for (const LessonBlock& block : blocks)
            std::visit(
                Overloaded{
                    [&](const Paragraph& b) { check(b.spans, state); },
                    [&](const Heading& b) { check(b.spans, state); },
                    [&](const ListBlock& b) {
                        for (const Spans& item : b.items)
                            check(item, state);
                    },
                    [&](const TableBlock& b) {
                        for (const Spans& cell : b.header)
                            check(cell, state);
                        for (const auto& row : b.rows)
                            for (const Spans& cell : row)
                                check(cell, state);
                    },
                    [](const CodeBlock&) {},
                    [&](const FormulaBlock& b) {
                        ++tally_.formulas;
                        guarded(b.line, [&] { parse_formula(b.tex); });
                    },
                    [&](const Gate& gate) { guarded(gate.line, [&] { check(gate, scene, stage); }); },
                    [&](const FillTable& table) {
                        ++tally_.tables;
                        guarded(table.line, [&] {
                            values_of(resolve(table.cells, stage.problem), stage.problem, stage.trace);
                        });
                    },
                    [&](const LessonPanel& panel) { guarded(panel.line, [&] { check(panel, stage); }); },
                    [&](const ShowMe& show) {
                        guarded(show.line, [&] {
                            const StepScene shown = combine_scenes(scene, show.scene);
                            check_scene(shown, run(shown));
                        });
                    },
                    [&](const StepQuestion& question) {
                        guarded(question.line, [&] { check(question, blocks, scene, stage); });
                    },
                    [&](const Claim& claim) {
                        ++tally_.claims;
                        guarded(claim.line, [&] { check(claim, scene, stage); });
                    },
                    [&](const Callout& callout) {
                        if (callout.when)
                            guarded(callout.line, [&] { callout.when->truth(with_view(state, scene)); });
                        check(callout.blocks, scene, stage);
                    }},
                block);
    }

    static PageNumbers page_numbers(const Stage& stage) {
        return {.problem = {std::shared_ptr<void>(), &stage.problem},
                .trace = {std::shared_ptr<void>(), &stage.trace},
                .model = stage.model,
                .layer = stage.layer};
    }

    void check(const std::vector<QuizChoice>& choices, const LessonState& state) {
        for (const QuizChoice& choice : choices) {
            check(choice.text, state);
            check(choice.explanation, state);
        }
    }

    void check(const StepQuestion& question, const std::vector<LessonBlock>& blocks, const StepScene& scene,
               const Stage& stage) {
        ++tally_.step_questions;
        const LessonState state = with_view(stage.state(), scene);
        const int words = tally_.words; // the words of a question do not count as prose
        check(question.text, state);
        for (const Mistake& mistake : question.mistakes)
            check(mistake.why, state);
        if (const auto* choice = std::get_if<ChoiceTask>(&question.task))
            check(choice->choices, state);
        if (const auto* order = std::get_if<OrderTask>(&question.task))
            for (const OrderTask::Item& item : order->items)
                check(item.text, state);
        std::ranges::move(check_question(question, state), std::back_inserter(faults_));
        const StepScene shown = combine_scenes(scene, question.show);
        const PageNumbers own = page_numbers(stage);
        const Stage after = run(shown);
        check_scene(shown, after);
        LessonState answered = with_view(after.state(), shown);
        answered.page_numbers = &own;
        answered.text_changed = question.show.sentence || question.show.kv_sentence;
        answered.edited = changes_problem(question.show);
        check_later_gates(question, blocks, answered);
        if (changes_problem(question.show))
            check_quoted(question.after);
        check(question.after, answered);
        tally_.words = words;
    }

    /// A text that stays on the page after the problem changes back.
    static void check_quoted(const Spans& after) {
        for (const Span& span : after)
            if (span.value && span.value->quoted.empty())
                fail_input(tr("check.after_stays_page_change",
                              "\"after\" stays on the page when the change is undone; quote its number, as "
                              "in {{{{{} = 0.42}}}}",
                              span.value->expression.text()));
    }

    void check(const Claim& claim, const StepScene& scene, const Stage& stage) {
        const PageNumbers own = page_numbers(stage);
        const bool elsewhere = claim.scene.line > 0;
        const StepScene shown = combine_scenes(scene, claim.scene);
        const Stage other = elsewhere ? run(shown) : Stage(stage);
        LessonState state = with_view(other.state(), shown);
        if (elsewhere)
            state.page_numbers = &own;
        check_claim(claim, state);
    }

    /// Computes the panel with the lesson's values, then with each knob at its lowest and highest value.
    void check(const LessonPanel& panel, const Stage& stage) {
        ++tally_.panels;
        const std::vector<Knob> knobs = knobs_of(panel, {});
        for (const Knob& knob : knobs)
            check_knob(panel, {}, knob.name, knob.lesson_value);
        compute_panel(panel, {}, stage.problem, stage.model.get(), engine_);
        for (const Knob& knob : knobs)
            for (const double end : {knob.low, knob.high})
                compute_panel(panel, {{knob.name, end}}, stage.problem, stage.model.get(), engine_);
    }

    void check(const Gate& gate, const StepScene& scene, const Stage& own) {
        ++tally_.gates;
        tally_.words += count_words(gate.task);
        if (gate.condition.truth(with_view(own.state(), scene)))
            fail_input(tr("check.gate_open_before_learner",
                          "the gate \"{}\" is open before the learner does anything; ask for something that "
                          "is not true yet",
                          gate.condition.text()));
        const StepScene solved = combine_scenes(scene, gate.solution);
        const Stage stage = run(solved);
        check_scene(solved, stage);
        LessonState after = with_view(stage.state(), solved);
        const PageNumbers of_page = page_numbers(own);
        after.page_numbers = &of_page;
        after.edited = true;
        after.text_changed = gate.solution.sentence || gate.solution.kv_sentence;
        after.done = task_ids(lesson_);
        if (!gate.condition.truth(after))
            fail_input(tr("check.gate_stays_closed_after", "the gate \"{}\" stays closed after its solution",
                          gate.condition.text()));
        check_quoted(gate.after);
        check(gate.after, after);
    }

    /// The returned state refers to the scene.
    static LessonState with_view(LessonState state, const StepScene& scene) {
        if (scene.stage && is_around(*scene.stage) && !scene.model)
            fail_input(
                tr("check.stage_stands_around_attention",
                   "the stage \"{}\" is outside attention, where a preset has nothing; add model: pocket",
                   group_info(*scene.stage).label));
        if (scene.stage)
            state.stage = group_info(*scene.stage).label;
        state.head = scene.head.value_or(0);
        if (scene.row && scene.row->kind != TargetIndex::Kind::all)
            state.row = query_row(*scene.row, state.problem);
        if (scene.select)
            state.selected = resolve(*scene.select, state.problem);
        if (scene.screen)
            state.screen = *scene.screen;
        if (state.screen == "patching") {
            state.patched = scene.patched ? std::string_view(*scene.patched) : "residual";
            state.patch = scene.patch.value_or(state.patch);
        }
        return state;
    }

    void play(const Step& step) {
        const StepScene scene = combine_scenes(lesson_.scene, step.scene);
        const Stage stage = run(scene);
        check_scene(scene, stage);
        const int before = tally_.words;
        check(step.blocks, scene, stage);
        play_changed(step, scene, stage);
        if (tally_.words - before < fewest_words)
            faults_.push_back(
                {step.line, tr("check.step_fewer_words_say",
                               "the step \"{}\" has fewer than {} words; describe what is on screen",
                               step.title, fewest_words)});
    }

    /// Changes that a learner is likely to try: another sentence, another number of heads, an ablated head.
    /// Omits changes that this problem does not allow.
    std::vector<Stage> changed(const StepScene& scene, const Stage& own) {
        std::vector<Stage> stages;
        const auto add = [&](const auto& make) {
            try {
                stages.push_back(make());
            } catch (const Error& error) {
                if (error.kind() == ErrorKind::cancelled)
                    throw;
            }
        };
        if (scene.model) {
            StepScene retyped = scene, without = scene;
            retyped.sentence = "A dog slept under the old tree";
            without.gains.push_back({.layer = own.layer, .head = 0, .gain = 0});
            for (const StepScene& other : {retyped, without})
                add([&] { return run_model(other); });
            return stages;
        }
        const project::Recipe recipe = recipe_of(scene);
        const std::int64_t H = own.problem.dims.H;
        project::Recipe retyped = recipe, regrouped = recipe, without = recipe;
        retyped.sentence = "A dog ran away quickly";
        regrouped.H = H == 1 ? 2 : 1;
        without.gains.resize(static_cast<std::size_t>(H), 1.0F);
        without.gains.front() = 0;
        for (const project::Recipe& other : {retyped, regrouped, without})
            add([&] { return run(other); });
        return stages;
    }

    /// After a change, a number in the prose must be the page's own, optionally followed by the changed one.
    void check_after_change(const LiveValue& value, const LessonState& state) {
        if (!value.quoted.empty())
            return;
        std::string own;
        try {
            own = printed(value, page_state(state)).text;
        } catch (const Error&) {
            return; // already reported by the check of the page itself
        }
        const std::string said = print_value(value, state);
        if (said == own)
            return;
        const std::string now = printed(value, current_state(state)).text;
        if (said != tr("common.now", "was {}, now {}", own, now))
            fail_input(tr("check.after_change_lesson_prints",
                          "after a change the lesson prints {} for {}, which was {} and is {}", said,
                          value.expression.text(), own, now));
    }

    void check_after_change(const std::vector<LessonBlock>& blocks, const LessonState& state) {
        const auto check_spans = [&](const Spans& spans) {
            for (const Span& span : spans)
                if (span.value)
                    guarded(span.value->line, [&] { check_after_change(*span.value, state); });
        };
        for (const LessonBlock& block : blocks)
            std::visit(Overloaded{[&](const Paragraph& b) { check_spans(b.spans); },
                                  [&](const Heading& b) { check_spans(b.spans); },
                                  [&](const ListBlock& b) { std::ranges::for_each(b.items, check_spans); },
                                  [&](const TableBlock& b) {
                                      std::ranges::for_each(b.header, check_spans);
                                      for (const auto& row : b.rows)
                                          std::ranges::for_each(row, check_spans);
                                  },
                                  [&](const StepQuestion& b) { check_spans(b.text); },
                                  [&](const Callout& b) {
                                      // A callout that appears only after a change describes that change.
                                      if (is_shown(b, state) &&
                                          state_inside(b, state).page_numbers != nullptr)
                                          check_after_change(b.blocks, state);
                                  },
                                  [](const auto&) {}},
                       block);
    }

    void play_changed(const Step& step, const StepScene& scene, const Stage& stage) {
        const PageNumbers own = page_numbers(stage);
        for (const Stage& other : changed(scene, stage)) {
            ++tally_.changes;
            LessonState state = other.state();
            state.edited = true;
            state.page_numbers = &own;
            check_after_change(step.blocks, state);
        }
    }

    void play(const Question& question) {
        const StepScene scene = combine_scenes(lesson_.scene, question.scene);
        const Stage stage = run(scene);
        check_scene(scene, stage);
        const LessonState state = stage.state();
        const int words = tally_.words; // the words of a quiz do not count as prose
        check(question.text, state);
        check(question.choices, state);
        tally_.words = words;
    }

    const Lesson& lesson_;
    engine::Engine& engine_;
    std::vector<LessonError>& faults_;
    LessonTally& tally_;
    int line_ = 0;
    std::map<std::string, checkpoint::TextModelPtr> models_; ///< by their names in the scenes
};

} // namespace

std::vector<LessonError> check_lesson(const Lesson& lesson, engine::Engine& engine, LessonTally* tally) {
    std::vector<LessonError> faults;
    LessonTally own;
    LessonCheck(lesson, engine, faults, tally == nullptr ? own : *tally).all();
    std::ranges::stable_sort(faults, {}, &LessonError::line);
    return faults;
}

bool is_correct(const FillTable& table, const std::string& typed, float value) {
    constexpr std::string_view minus = "−";
    std::string text = typed;
    if (text.starts_with(minus))
        text.replace(0, minus.size(), "-");
    const auto number = number_of<double>(text);
    const double half = 0.5 * std::pow(10.0, -table.decimals);
    return number && std::abs(*number - static_cast<double>(value)) <= half * (1 + 1e-6);
}

} // namespace headscope::lesson
