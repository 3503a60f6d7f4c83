#include "app/lesson/course_controller.h"

#include "app/lesson/answering.h"
#include "app/lesson/lesson_pictures.h"
#include "app/lesson/player.h"
#include "app/lesson/progress.h"
#include "app/lesson/reread.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/additional_passes.h"
#include "core/manual/glossary.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace headscope::app {

namespace {

/// Returns the cache key of a panel: its lesson, its line and its knobs.
std::string panel_key(const lesson::Lesson& lesson, const lesson::LessonPanel& panel,
                      const lesson::Knobs& set) {
    std::ostringstream key;
    key << std::hexfloat << lesson.id << ' ' << panel.line;
    for (const auto& [name, value] : set)
        key << ' ' << name << '=' << value;
    return key.str();
}

/// Returns the file of a lesson that is requested by name but not listed; null if it is listed or not found.
const UnlistedLesson* unlisted_lesson(const CourseState& course, const std::string& name) {
    if (std::ranges::any_of(course.lessons, [&](const auto& lesson) { return lesson->id == name; }))
        return nullptr;
    const auto file = std::ranges::find(course.unlisted, name, &UnlistedLesson::name);
    return file == course.unlisted.end() ? nullptr : &*file;
}

} // namespace

CourseController::CourseController(CourseState& course, Setup setup)
    : course_(course), setup_(std::move(setup)), watch_(setup_.wake),
      progress_path_(course_progress_path(setup_.state_folder)), panels_(setup_.wake), scenes_(setup_.wake),
      pictures_(setup_.wake) {
    begin_reading();
    course_.progress = read_progress(progress_path_);
}

/// Reads the lessons, and the glossary to which their words lead, while the window is being opened.
void CourseController::begin_reading() {
    reading_ = std::async(std::launch::async, [folders = setup_.lesson_folders, language = setup_.language] {
        std::vector<lesson::FoundLesson> found = lesson::find_lessons(folders, language);
        manual::terms();
        return found;
    });
}

void CourseController::finish_reading() {
    if (reading_.valid())
        list_lessons(course_, reading_.get());
}

std::string CourseController::add_lesson(const std::string& path) {
    finish_reading();
    const lesson::Lesson lesson = lesson::open_lesson(path);
    std::erase(setup_.lesson_folders, path);
    setup_.lesson_folders.push_back(path); // the last opened file has priority over others with the same id
    setup_.language = lesson.language;
    begin_reading();
    finish_reading();
    return lesson.id;
}

void CourseController::keep_progress() {
    std::string fault;
    try {
        write_progress(progress_path_, course_.progress);
    } catch (const Error& error) {
        fault = error.what();
    }
    if (fault != last_fault_)
        fault_ = fault;
    last_fault_ = std::move(fault);
}

std::string CourseController::take_fault() {
    return std::exchange(fault_, {});
}

std::vector<Action> CourseController::act(const LessonAction& action, const Document& now) {
    finish_reading();
    if (const auto* const wanted = std::get_if<OpenLesson>(&action))
        if (const UnlistedLesson* const file = unlisted_lesson(course_, wanted->id))
            add_lesson(std::string(file->path)); // throws unless the file has been fixed in the meantime
    std::vector<Action> follows = play(course_, action, now);
    if (!std::holds_alternative<TurnKnobs>(action) &&
        !std::holds_alternative<DraftAnswer>(action)) // knobs are not saved, and a drag sends many of these
        keep_progress();
    return follows;
}

std::optional<CourseController::Reread> CourseController::reread(const Document& now) {
    watch_.watch(course_.open == nullptr ? "" : course_.open->path);
    const std::string before = watch_.text();
    const std::optional<std::string> text = watch_.changed();
    if (!text || course_.open == nullptr)
        return {};
    lesson::ParsedLesson parsed = lesson::parse_lesson(*text, course_.open->path);
    if (!parsed.faults.empty())
        return Reread{.fault = reread_fault(course_.open->path, parsed.faults.front()), .follows = {}};
    const bool same_view = replace_open_lesson(course_, std::move(parsed.lesson), before, *text);
    if (same_view)
        return Reread{};
    return Reread{.fault = {}, .follows = play(course_, GoToPage{course_.page}, now)};
}

void CourseController::close() {
    close_lesson(course_);
}

Derived<OpenedModel> CourseController::ask_scene() {
    scenes_.begin_frame();
    const lesson::StepScene& scene = course_.pending_scene->scene;
    return scenes_.ask<OpenedModel>(
        {course_.pending_scene, "scene"}, Priority::on_screen,
        [this, scene](Progress& progress, const auto&) {
            std::weak_ptr<const checkpoint::TextModel>& known = models_[*scene.model];
            checkpoint::TextModelPtr model = known.lock();
            if (model == nullptr)
                known = model = checkpoint::open_text_model(checkpoint::model_folder(*scene.model));
            if (model->model->encoder() != nullptr)
                fail_input(tr("course_desk.lesson_asks_encoder_decoder",
                              "the lesson asks for {}, which has an encoder and a decoder; lessons need a "
                              "model with one stack",
                              model->name()));
            return open_model(model, {scene.sentence.value_or("")}, scene.layer.value_or(0),
                              lesson::edits_of(scene, model->model->config()), progress);
        });
}

std::optional<CourseController::OpenedScene> CourseController::take_scene(const Document& now) {
    if (course_.pending_scene == nullptr)
        return {};
    const Derived<OpenedModel> found = ask_scene();
    if (!found.done)
        return {};
    const std::shared_ptr<const ModelScene> scene = std::exchange(course_.pending_scene, nullptr);
    scenes_.clear();
    if (found.value == nullptr)
        fail_input(found.error);
    const OpenedModel& opened = *found.value;
    const bool there = now.is_checkpoint() && same_pass(*opened.part, *now.part());
    (scene->of_page ? course_.page_input : course_.button_input) = there ? now.part() : opened.part;
    OpenedScene out{{}, scene->label, {}};
    if (there)
        out.view.emplace_back(OpenHead{scene->scene.layer.value_or(0), scene->scene.head.value_or(0)});
    else
        out.opened = opened;
    for (Action& action : view_of(scene->scene, *opened.base))
        out.view.push_back(std::move(action));
    return out;
}

void CourseController::settle_scene() {
    if (course_.pending_scene == nullptr)
        return;
    ask_scene();
    scenes_.wait();
}

bool CourseController::watch(const Shown& shown, const ViewState& view) {
    const bool newly = course_.pending_scene == nullptr && watch_gates(course_, shown, view);
    if (newly)
        keep_progress();
    return newly;
}

std::optional<AnswerStep> CourseController::clicked_answer(const ViewState& view) const {
    if (course_.open == nullptr || course_.pending_scene != nullptr)
        return {};
    return app::clicked_answer(course_, view);
}

void CourseController::follow(const Shown& shown) {
    finish_reading();
    const lesson::Step* const step = course_.step();
    const DocumentPtr& document = shown.document;
    if (shown.trace == nullptr || document->shows_weights() || course_.open == nullptr)
        return panels_.clear();
    panels_.begin_frame();
    if (document->is_checkpoint())
        panels_.retain({document, document->part()});
    else
        panels_.retain({document});
    follow_model(*document);
    keep_own(shown);
    if (step == nullptr)
        return;
    for (const lesson::LessonBlock& block : step->blocks)
        if (const auto* panel = std::get_if<lesson::LessonPanel>(&block))
            follow(*panel, document);
}

void CourseController::keep_own(const Shown& shown) {
    const DocumentPtr& document = shown.document;
    if (course_.page_numbers != nullptr || course_.pending_scene != nullptr ||
        has_left_scene(course_, *document))
        return;
    if (std::holds_alternative<project::Recipe>(course_.page_input)) {
        course_.page_numbers = std::make_shared<const lesson::PageNumbers>(
            lesson::PageNumbers{{document, &document->problem}, shown.trace});
        return;
    }
    if (course_.model == nullptr || course_.pass != document->part())
        return; // not computed yet
    const lesson::LessonModelPtr& model = course_.model;
    const std::int64_t layer = course_.scene().layer.value_or(0);
    const checkpoint::LayerRun& run = lesson::layer_of(*model, layer);
    course_.page_numbers = std::make_shared<const lesson::PageNumbers>(
        lesson::PageNumbers{{model, &*run.problem}, {model, &run.trace}, model, layer});
}

void CourseController::follow_model(const Document& shown) {
    const auto* const given = std::get_if<RunSpecPtr>(&course_.page_input);
    if (given == nullptr || !shown.is_checkpoint() ||
        (*given)->model->model->path() != shown.part()->model->model->path()) {
        course_.pass = nullptr;
        course_.model = nullptr;
        return;
    }
    const RunSpecPtr& part = shown.part();
    const std::string corrupted = course_.scene().corrupted.value_or("");
    course_.model = panels_
                        .ask<lesson::LessonModel>(
                            {part, "model " + course_.open->id + " " + corrupted}, Priority::on_screen,
                            [part, corrupted, lesson = course_.open](Progress& progress, const auto&) {
                                lesson::LessonModel model = lesson::run_lesson_model(
                                    part->model, *part->inputs, part->edits, corrupted, progress);
                                lesson::precompute_passes(*lesson, model, progress);
                                return model;
                            })
                        .value;
    course_.pass = part;
}

void CourseController::follow(const lesson::LessonPanel& panel, const DocumentPtr& document) {
    PanelState& state = course_.panels[panel.line];
    // The input of the panel: the whole pass through a model, or the attention input on screen.
    const bool whole_pass = !std::holds_alternative<lesson::MergePanel>(panel.kind) &&
                            !std::holds_alternative<lesson::LoopPanel>(panel.kind) &&
                            document->is_checkpoint();
    if (whole_pass && course_.model == nullptr)
        return; // not computed yet
    const std::shared_ptr<const void> of =
        whole_pass ? std::shared_ptr<const void>(document->part()) : document;
    const Derived<lesson::PanelFigure> figure = panels_.ask<lesson::PanelFigure>(
        {of, panel_key(*course_.open, panel, state.set)}, Priority::on_screen,
        [this, lesson = course_.open, &panel, set = state.set, document, model = course_.model](Progress&,
                                                                                                const auto&) {
            if (engine_ == nullptr)
                engine_ = engine::make_engine("cpu");
            return lesson::compute_panel(panel, set, document->problem, model.get(), *engine_);
        });
    if (!figure.done || (figure.value != nullptr && figure.value == state.computed))
        return; // keep the previous figure until then
    state.computed = figure.value;
    if (figure.value != nullptr)
        state.shows = *figure.value;
    else
        state.shows = figure.error;
}

void CourseController::follow_pictures(const std::vector<std::shared_ptr<const lesson::Lesson>>& wanted) {
    pictures_.begin_frame();
    std::vector<std::shared_ptr<const void>> kept(wanted.begin(), wanted.end());
    pictures_.retain(kept);
    for (const auto& lesson : wanted) {
        if (course_.pictures.contains(lesson->id))
            continue;
        const Derived<LessonPicture> found = pictures_.ask<LessonPicture>(
            {lesson, "picture"}, Priority::on_screen, [lesson](Progress& progress, const auto&) {
                const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
                return lesson_picture(*lesson, *engine, progress);
            });
        if (found.done)
            course_.pictures[lesson->id] = found.value;
    }
}

void CourseController::settle_pictures(const std::vector<std::shared_ptr<const lesson::Lesson>>& wanted) {
    follow_pictures(wanted);
    pictures_.wait();
    follow_pictures(wanted);
}

bool CourseController::fade_marks(double seconds_since_last) {
    constexpr double ring_seconds = 1.6;
    course_.highlight_strength =
        std::max(0.0F, course_.highlight_strength - static_cast<float>(seconds_since_last / ring_seconds));
    return course_.highlight_strength > 0;
}

void CourseController::settle(const Shown& shown) {
    for (int pass = 0; pass < 2; ++pass) { // first a model's values, then the panels that use them
        follow(shown);
        panels_.wait();
    }
    follow(shown);
}

} // namespace headscope::app
