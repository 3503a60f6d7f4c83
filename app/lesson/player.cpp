#include "app/lesson/player.h"

#include "app/draw/lesson/lesson_panel.h"
#include "app/lesson/answering.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"
#include "core/project/same_bits.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace headscope::app {

namespace {

/// Sets the attention input, if it differs from the current one, and the view. A scene with a model is left
/// to a worker. `of_page`: the scene belongs to the page, not to a button.
std::vector<Action> show(CourseState& course, const lesson::StepScene& scene, const Document& now,
                         const std::string& label, bool of_page) {
    course.pending_scene.reset();
    course.button_input = {};
    course.button_line = of_page ? 0 : scene.line;
    if (scene.model) {
        course.pending_scene = std::make_shared<const ModelScene>(ModelScene{scene, label, of_page});
        if (of_page)
            course.page_input = {};
        return {};
    }
    const project::Recipe recipe = lesson::recipe_of(scene);
    std::vector<Action> actions;
    if (!now.is_experiment() || !project::same_bits(recipe, now.recipe))
        actions.emplace_back(SetRecipe{recipe, label});
    const Problem problem = project::with_edits(project::build_recipe(recipe).problem, recipe);
    const std::vector<Action> view = view_of(scene, problem);
    actions.insert(actions.end(), view.begin(), view.end());
    (of_page ? course.page_input : course.button_input) = recipe;
    return actions;
}

/// Returns the captions of the toolbar controls whose values differ between two recipes.
std::set<std::string> controls_moved(const project::Recipe& before, const project::Recipe& after) {
    std::set<std::string> moved;
    const auto look = [&](const char* caption, bool same) {
        if (!same)
            moved.insert(caption);
    };
    look("sentence", before.sentence == after.sentence);
    look("preset", before.preset == after.preset);
    look("mask", before.mask == after.mask && before.extra_mask.size() == after.extra_mask.size());
    look("H", before.H == after.H);
    look("variant", before.Hkv == after.Hkv);
    return moved;
}

/// Forgets the answers that are not accepted.
void clear_answers(CourseState& course) {
    course.drafts.clear();
    course.hints.clear();
    course.tries.clear();
}

std::vector<Action> turn_to(CourseState& course, int page, const Document& now) {
    course.page = std::clamp(page, 0, std::max(course.pages() - 1, 0));
    course.panels.clear();
    clear_answers(course);
    course.page_numbers.reset();
    LessonProgress& progress = course.progress[course.open->id];
    progress.page = course.page;
    progress.furthest = std::max(progress.furthest, course.page);
    return show(course, course.scene(), now, tr("player.lesson", "lesson: {}", course.open->title), true);
}

void open(CourseState& course, const std::string& id) {
    const auto found = std::ranges::find(course.lessons, id, [](const auto& lesson) { return lesson->id; });
    if (found == course.lessons.end())
        fail_input(tr("player.no_lesson_file_start",
                      "there is no lesson \"{}\"; File, Start page, All lessons lists them", id));
    if (course.open != *found)
        course.typed.clear();
    course.open = *found;
}

/// Shows the scene of a question that has just been answered, if it has one.
std::vector<Action> after_answer(CourseState& course, const std::string& id, const Document& now) {
    const lesson::StepQuestion& question = *question_of_step(course, id);
    if (question.show.line == 0)
        return {};
    return show(course, lesson::combine_scenes(course.scene(), question.show), now,
                tr("player.lesson_answer", "lesson: answer"), false);
}

std::vector<Action> answer(CourseState& course, const AnswerStep& given, const Document& now) {
    return give_answer(course, given) ? after_answer(course, given.question, now) : std::vector<Action>{};
}

/// Opens the tab of the course in addition.
std::vector<Action> in_its_tab(std::vector<Action> actions) {
    actions.emplace_back(ShowTab{LeftTab::course});
    return actions;
}

/// Marks a table as done if every cell holds the engine's number. Returns true if the table was not done
/// before.
bool watch_table(CourseState& course, const lesson::FillTable& table, const Shown& shown) {
    const auto typed = course.typed.find(table.id);
    if (typed == course.typed.end() || course.of_open().done.contains(table.id))
        return false;
    try {
        const std::vector<float> values =
            lesson::values_of(lesson::resolve(table.cells, shown.problem()), shown.problem(), *shown.trace);
        if (typed->second.size() != values.size() ||
            !std::ranges::all_of(typed->second, [&](const auto& cell) {
                return lesson::is_correct(table, cell.second, values[static_cast<std::size_t>(cell.first)]);
            }))
            return false;
    } catch (const Error&) {
        return false; // the learner's own input may not have these cells
    }
    course.progress[course.open->id].done.insert(table.id);
    return true;
}

/// Returns the actions that open the scene's screen of a checkpoint and set its questions.
std::vector<Action> screen_of(const lesson::StepScene& scene) {
    std::vector<Action> actions;
    const std::string name = scene.screen.value_or("stages");
    const NamedScreen& wanted = *find_screen(name);
    actions.emplace_back(ShowScreen{wanted.screen});
    if (wanted.screen != Screen::effects && wanted.screen != Screen::patching)
        return actions;
    actions.emplace_back(ShowEffects{wanted.effects});
    using What = AskEffects::What;
    actions.emplace_back(AskEffects{What::usual, {}});
    for (const auto& [word, what] :
         {std::pair(scene.token, What::token), std::pair(scene.against, What::against)})
        if (word)
            actions.emplace_back(AskEffects{what, *word});
    if (wanted.screen != Screen::patching)
        return actions;
    actions.emplace_back(AskPatching{.corrupted = scene.corrupted.value_or("")});
    const auto kinds = analysis::patch_kinds();
    const auto kind =
        std::ranges::find(kinds, scene.patched.value_or("residual"), &analysis::PatchKindInfo::id);
    actions.emplace_back(kind == kinds.end() ? AskPatching{.paths = true} : AskPatching{.kind = kind->kind});
    const auto [row, column] = scene.patch.value_or(std::array<std::int64_t, 2>{-1, -1});
    actions.emplace_back(PickPatch{row, column});
    return actions;
}

} // namespace

std::vector<Action> play(CourseState& course, const LessonAction& action, const Document& now) {
    return std::visit(
        Overloaded{[&](const OpenLesson& a) {
                       open(course, a.id);
                       const int page = course.of_open().page;
                       return in_its_tab(turn_to(course, page + 1 >= course.pages() ? 0 : page, now));
                   },
                   [&](const CloseLesson&) {
                       close_lesson(course);
                       return in_its_tab({PointAt{}});
                   },
                   [&](const TurnPage& a) {
                       return course.open == nullptr ? std::vector<Action>{}
                                                     : turn_to(course, course.page + a.by, now);
                   },
                   [&](const GoToPage& a) {
                       return course.open == nullptr ? std::vector<Action>{} : turn_to(course, a.page, now);
                   },
                   [&](const ShowScene& a) {
                       const lesson::StepScene scene = lesson::combine_scenes(course.scene(), a.scene);
                       course.highlighted_controls.clear();
                       if (!scene.model) // these controls do not apply to a model
                           course.highlighted_controls = controls_moved(now.recipe, lesson::recipe_of(scene));
                       course.highlight_strength = course.highlighted_controls.empty() ? 0.0F : 1.0F;
                       return show(course, scene, now, tr("player.lesson_show_me", "lesson: show me"), false);
                   },
                   [&](const ReturnToLesson&) {
                       return course.open == nullptr ? std::vector<Action>{}
                                                     : turn_to(course, course.page, now);
                   },
                   [&](const AnswerQuestion& a) {
                       if (course.open != nullptr) // only the first answer counts
                           course.progress[course.open->id].answers.try_emplace(a.question, a.choice);
                       return std::vector<Action>{};
                   },
                   [&](const AnswerStep& a) { return answer(course, a, now); },
                   [&](const DraftAnswer& a) {
                       course.drafts[a.question] = a.text;
                       course.hints.erase(a.question);
                       return std::vector<Action>{};
                   },
                   [&](const CheckAnswer& a) {
                       if (a.text)
                           course.drafts[a.question] = *a.text;
                       try {
                           return answer(course, {a.question, course.drafts[a.question]}, now);
                       } catch (const Error& fault) { // shown below the question
                           course.hints[a.question] = fault.what();
                           return std::vector<Action>{};
                       }
                   },
                   [&](const ShowAnswer& a) {
                       const bool done = course.of_open().done.contains(a.question);
                       show_answer(course, a.question);
                       return done ? std::vector<Action>{} : after_answer(course, a.question, now);
                   },
                   [&](const FillCell& a) {
                       course.typed[a.table][a.cell] = a.text;
                       return std::vector<Action>{};
                   },
                   [&](const TurnKnobs& a) {
                       for (const auto& [name, value] : a.values)
                           course.panels[a.panel].set[name] = value;
                       return std::vector<Action>{};
                   },
                   [&](const StartLessonAgain&) {
                       if (course.open == nullptr)
                           return std::vector<Action>{};
                       course.progress[course.open->id] = {};
                       course.typed.clear();
                       return turn_to(course, 0, now);
                   }},
        action);
}

void close_lesson(CourseState& course) {
    course.open = nullptr;
    course.page = 0;
    course.page_input = course.button_input = {};
    course.pending_scene.reset();
    // The computed values hold the model.
    course.pass = nullptr;
    course.model = nullptr;
    course.page_numbers.reset();
    course.panels.clear();
    clear_answers(course);
}

bool watch_gates(CourseState& course, const Shown& shown, const ViewState& view) {
    const lesson::Step* step = course.step();
    if (step == nullptr || shown.trace == nullptr)
        return false;
    bool met = false;
    for (const lesson::LessonBlock& block : step->blocks) {
        if (const auto* table = std::get_if<lesson::FillTable>(&block); table != nullptr)
            met = watch_table(course, *table, shown) || met;
        const auto* gate = std::get_if<lesson::Gate>(&block);
        if (gate == nullptr || course.of_open().done.contains(gate_name(*gate)))
            continue;
        try {
            if (gate->condition.truth(lesson_state(shown, view, course))) {
                course.progress[course.open->id].done.insert(gate_name(*gate));
                met = true;
            }
        } catch (const Error&) {
            // The learner's own input may lack something that the gate's condition needs: the gate stays
            // closed.
        }
    }
    return met;
}

std::vector<Action> view_of(const lesson::StepScene& scene, const Problem& problem) {
    std::vector<Action> actions;
    const StageGroup asked = scene.stage.value_or(StageGroup::weights);
    // Only a checkpoint has steps around attention.
    const StageGroup group = is_around(asked) && !scene.model ? StageGroup::weights : asked;
    std::int64_t row = -1;
    if (scene.row && scene.row->kind != lesson::TargetIndex::Kind::all)
        row = lesson::query_row(*scene.row, problem);
    actions.emplace_back(GoTo{group, row});
    static const std::map<std::string_view, WeightsView> views{{"heatmap", WeightsView::heatmap},
                                                               {"arcs", WeightsView::arcs},
                                                               {"text", WeightsView::text},
                                                               {"graph", WeightsView::graph}};
    static const std::map<std::string_view, HeadsView> heads{
        {"each", HeadsView::each}, {"difference", HeadsView::difference}, {"mean", HeadsView::mean}};
    static const std::map<std::string_view, Projection> projections{
        {"q", Projection::q}, {"k", Projection::k}, {"v", Projection::v}};
    actions.emplace_back(ShowWeightsAs{views.at(scene.view.value_or("heatmap"))});
    actions.emplace_back(ShowHeads{heads.at(scene.heads.value_or("each"))});
    actions.emplace_back(ShowProjection{projections.at(scene.projection.value_or("q"))});
    actions.emplace_back(ShowOneHead{scene.model.has_value()}); // for a model, only the focused head
    if (scene.apart)
        actions.emplace_back(group == StageGroup::concat ? Action(SetJoined{!*scene.apart})
                                                         : SetApart{*scene.apart});
    actions.emplace_back(PickHead{scene.head.value_or(0)});
    if (scene.model)
        std::ranges::move(screen_of(scene), std::back_inserter(actions));
    if (scene.other)
        actions.emplace_back(CompareWith{*scene.other});
    std::optional<CellAddress> selected;
    if (scene.select) {
        const lesson::CellRange cell = lesson::resolve(*scene.select, problem);
        selected = CellAddress{cell.tensor, cell.first};
    }
    actions.emplace_back(Select{selected});
    PointAt point;
    for (const lesson::Target& target : scene.point)
        point.cells.push_back(lesson::resolve(target, problem));
    actions.emplace_back(point);
    return actions;
}

} // namespace headscope::app
