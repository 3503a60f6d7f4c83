#include "app/shell/report.h"

#include "app/commands/actions.h"
#include "app/state/model_document.h"
#include "app/views/action_context.h"
#include "app/views/files/file_views.h"
#include "core/base/json.h"
#include "core/lesson/questions/step_tasks.h"
#include "core/text/plain_text.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

nlohmann::json rect_json(const figure::Rect& area, float scale) {
    return {area.x * scale, area.y * scale, area.w * scale, area.h * scale};
}

/// Returns the actions of the current view, with the reason for each that is not available.
nlohmann::json actions_json(const ActionContext& now) {
    auto listed = nlohmann::json::array();
    for (const ActionInfo& info : actions()) {
        if (!info.make_actions || !info.applies(now))
            continue;
        auto keys = nlohmann::json::array();
        for (const Chord& chord : info.keys)
            keys.push_back(chord_text(chord));
        listed.push_back({{"id", info.id},
                          {"group", info.group.english},
                          {"title", info.title},
                          {"tip", info.tip},
                          {"keys", std::move(keys)},
                          {"missing", why_not(info, now)}});
    }
    return listed;
}

/// Returns the open page of the course and the questions of its step.
nlohmann::json lesson_json(const CourseState& course) {
    auto questions = nlohmann::json::array();
    const LessonProgress progress = course.of_open();
    if (course.step() != nullptr)
        for (const lesson::StepQuestion* const question : lesson::questions_of(course.step()->blocks)) {
            const auto given = progress.given.find(question->id);
            const auto tries = course.tries.find(question->id);
            questions.push_back(
                {{"id", question->id},
                 {"answered", progress.done.contains(question->id)},
                 {"shown", given != progress.given.end() && given->second.shown},
                 {"tries", tries == course.tries.end() ? std::vector<std::string>() : tries->second}});
        }
    return {{"id", course.open->id},
            {"page", course.page},
            {"pages", course.pages()},
            {"questions", std::move(questions)}};
}

/// Returns the texts of queries and keys; the second is empty if both come from one text.
std::pair<std::string, std::string> texts_of(const Document& document) {
    if (document.is_given())
        return {};
    if (!document.is_checkpoint())
        return {document.recipe.sentence, document.recipe.kv_sentence};
    const RunSpec& part = *document.part();
    if (!part.two_texts() || document.stack() == checkpoint::Stack::encoder)
        return {part.prompt, ""};
    return {part.target, document.stack() == checkpoint::Stack::cross ? part.prompt : ""};
}

/// Returns the preset; empty if the numbers come from a file.
std::string preset_of(const Document& document) {
    const bool built = document.is_experiment() && document.recipe.base == nullptr;
    return built ? document.recipe.preset : "";
}

} // namespace

std::vector<std::string> visible_errors(const AppState& state) {
    const Shown& shown = state.shown;
    std::vector<std::string> faults{state.error, state.model.error};
    if (shown.atlas != nullptr)
        faults.push_back(shown.atlas->survey_error);
    if (shown.patching != nullptr)
        faults.push_back(shown.patching->error);
    if (shown.circuits != nullptr)
        faults.push_back(shown.circuits->error);
    if (shown.map != nullptr)
        faults.push_back(shown.map->error);
    std::erase(faults, "");
    return faults;
}

std::string report(const AppState& state, const Picture& canvas, const WindowFacts& facts) {
    nlohmann::json out;
    const Shown& shown = state.shown;
    const float scale = facts.scale;
    const auto [sentence, kv_sentence] = texts_of(*state.document);
    out["revision"] = facts.revision;
    out["settled"] = facts.settled;
    out["sentence"] = sentence;
    out["text_pair"] = state.document->is_checkpoint() ? state.document->part()->pair : "";
    if (state.model.typed_pair)
        out["typed_pair"] = {state.model.typed_pair->first, state.model.typed_pair->second};
    out["kv_sentence"] = kv_sentence;
    out["preset"] = preset_of(*state.document);
    out["tokens"] = state.document->problem.tokens;
    out["kv_tokens"] = state.document->problem.kv_tokens;
    out["stage"] = group_info(state.view.group).label;
    out["row"] = state.view.row;
    static constexpr const char* comparisons[] = {"now", "baseline", "difference"};
    out["compare"] = comparisons[static_cast<std::size_t>(side_on_screen(state))];
    if (state.document->shows_weights())
        out["attention"] = {{"file", state.document->title},
                            {"layer", state.view.attention.layer},
                            {"head", state.view.head},
                            {"ready", state.head_grid->ready()}};
    if (shown.map != nullptr && shown.map->selected)
        out["weight"] = {{"query", shown.map->selected->query},
                         {"key", shown.map->selected->key},
                         {"value", shown.map->selected->weight}};
    const std::vector<std::string> faults = visible_errors(state);
    out["error"] = faults.empty() ? "" : faults.front();
    out["dark"] = state.view.dark;
    out["playing"] = state.view.playing;
    out["project"] = state.files.path;
    out["unsaved"] = state.files.unsaved;
    out["saved"] = save_status(state.files).text;
    out["typing"] = state.typing;
    const std::string dialog = dialog_name(state.files);
    out["dialog"] = !dialog.empty()       ? dialog
                    : state.settings_open ? "settings"
                    : state.palette.open  ? "commands"
                                          : "";
    out["presenting"] = state.presentation.on;
    if (state.course.open != nullptr)
        out["lesson"] = lesson_json(state.course);
    ActionContext now = action_context(state);
    now.has_tab_focus = facts.has_tab_focus;
    out["actions"] = actions_json(now);
    auto& grids = out["grids"] = nlohmann::json::array();
    for (const MatrixGrid& grid : canvas.grids)
        grids.push_back({{"tensor", tensor_info(grid.tensor).name},
                         {"origin", grid.origin},
                         {"row_axis", grid.row_axis},
                         {"col_axis", grid.col_axis},
                         {"rows", grid.rows},
                         {"cols", grid.cols},
                         {"area", rect_json(grid.area, scale)},
                         {"pitch", {grid.pitch_x * scale, grid.pitch_y * scale}},
                         {"gap", grid.gap * scale},
                         {"heatmap", grid.heatmap},
                         {"map", grid.map},
                         {"by_row", grid.relative_to_row_max},
                         {"low", grid.low},
                         {"high", grid.high},
                         {"actual", grid.shows_own_values}});
    return dump_json(out);
}

std::string window_title(const AppState& state) {
    const FilesState& files = state.files;
    if (files.lesson && state.course.open != nullptr)
        return state.course.open->title + " · Headscope";
    const std::string& sentence = state.document->recipe.sentence;
    const bool own = !sentence.empty() && !state.document->has_head_grid();
    const std::string& name = own ? sentence : state.document->title;
    const bool named = !files.path.empty() && !state.document->is_checkpoint();
    return (files.unsaved ? "• " : "") + text::plain_text(named ? files.name() : name) + " · Headscope";
}

} // namespace headscope::app
