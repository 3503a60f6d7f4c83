#include "app/shell/report/report_parts.h"

#include "app/commands/actions.h"
#include "app/draw/effects/screens.h"
#include "app/draw/panels/panels.h"
#include "app/shell/report/grid_numbers.h"
#include "app/state/block.h"
#include "app/state/model_document.h"
#include "app/state/prompts/prompt_list.h"
#include "app/views/action_context.h"
#include "core/base/error.h"
#include "core/base/parse.h"
#include "core/hub/download.h"
#include "core/lesson/questions/step_tasks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

using nlohmann::json;

json actions_part(const ReportSource& source) {
    ActionContext now = action_context(source.state);
    now.has_tab_focus = source.facts.has_tab_focus;
    auto listed = json::array();
    for (const ActionInfo& info : actions()) {
        if (!info.make_actions || !info.applies(now))
            continue;
        auto keys = json::array();
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

json lesson_part(const ReportSource& source) {
    const CourseState& course = source.state.course;
    if (course.open == nullptr)
        return nullptr;
    auto questions = json::array();
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

json question_fields(const OpenQuestion& question, std::uint64_t number) {
    auto choices = json::array();
    for (const QuestionChoice& choice : question.choices)
        choices.push_back(choice.id);
    return {{"number", number},
            {"kind", question.kind},
            {"text", question.text},
            {"choices", std::move(choices)},
            {"takes", question.takes}};
}

json question_part(const ReportSource& source) {
    const std::optional<OpenQuestion> question = open_question(source.state);
    return question ? question_fields(*question, source.facts.question) : json();
}

namespace {

/// A job with an unknown fraction has null there.
json job_json(const char* kind, const std::string& label, double fraction) {
    return {{"kind", kind},
            {"label", label},
            {"fraction", fraction >= 0 ? json(std::round(fraction * 1000) / 1000) : json()}};
}

double fraction_done(std::int64_t done, std::int64_t count) {
    return count > 0 ? static_cast<double>(done) / static_cast<double>(count) : -1;
}

} // namespace

json jobs_part(const AppState& state) {
    auto jobs = json::array();
    if (state.files.job)
        jobs.push_back(
            job_json("file", state.files.job->label, static_cast<double>(state.files.job->fraction)));
    if (state.files.hub && state.files.hub->is_working()) {
        const HubDialog& hub = *state.files.hub;
        const bool downloads = hub.step == HubDialog::Step::downloading;
        jobs.push_back(job_json("hub", hub.name,
                                downloads ? fraction_done(static_cast<std::int64_t>(hub.received.bytes),
                                                          static_cast<std::int64_t>(hub.received.of_bytes))
                                          : -1));
    }
    if (state.model.running)
        jobs.push_back(job_json("run", state.document->title, static_cast<double>(state.model.fraction)));
    else if (state.running)
        jobs.push_back(job_json("run", state.document->title, -1));
    if (state.model.generating)
        jobs.push_back(job_json("writing", "", -1));
    if (state.model.measuring) {
        const Shown& shown = state.shown;
        const bool patches = shown.patching != nullptr && shown.patching->map != nullptr;
        const PromptListState* const prompts = state.model.prompts.get();
        jobs.push_back(job_json(
            "map", "",
            prompts != nullptr && prompts->shows_mean() ? fraction_done(prompts->done, prompts->count)
            : patches                ? fraction_done(shown.patching->map->done, shown.patching->map->count)
            : shown.sweep != nullptr ? fraction_done(shown.sweep->done, shown.sweep->count)
                                     : -1));
    }
    if (state.engines.listing)
        jobs.push_back(job_json("devices", "", -1));
    if (state.engines.comparing)
        jobs.push_back(job_json("comparison of devices", "", -1));
    if (state.engines.checking)
        jobs.push_back(job_json("check", "", static_cast<double>(state.engines.check_fraction)));
    return jobs;
}

json checkpoint_part(const AppState& state) {
    if (!state.document->is_checkpoint())
        return nullptr;
    const RunSpec& part = *state.document->part();
    const checkpoint::ModelConfig& config = checkpoint::in_stack(part.config(), state.document->stack());
    return {
        {"path", part.model->model->path()}, {"name", part.model->name()}, {"family", part.config().family},
        {"layers", config.layers},           {"heads", config.H},          {"edited", !part.edits.empty()}};
}

json selected_part(const AppState& state) {
    const std::optional<Block> block = selected_block(state.view);
    if (!block)
        return nullptr;
    json out{{"tensor", tensor_info(block->tensor).name},
             {"at", block->first},
             {"rows", block->rows},
             {"cols", block->cols}};
    if (!state.shown.ready())
        return out;
    const CellAddress& cell = *state.view.selected;
    out["cell"] = address_text(state.shown, cell);
    if (state.shown.is_known(cell))
        out["value"] = number_json(state.shown.value(cell));
    return out;
}

namespace {

/// The texts of a picture, one line for each baseline, from left to right.
std::vector<std::string> text_lines_of(const figure::Scene& scene) {
    std::map<int, std::vector<const figure::TextItem*>> by_line;
    for (const figure::SceneItem& item : scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item); text != nullptr && !text->text.empty())
            by_line[static_cast<int>(std::lround(text->at.y))].push_back(text);
    std::vector<std::string> lines;
    for (auto& [y, texts] : by_line) {
        std::ranges::stable_sort(texts, {}, [](const figure::TextItem* text) { return text->at.x; });
        std::string& line = lines.emplace_back();
        for (const figure::TextItem* text : texts)
            line += (line.empty() ? "" : "  ") + text->text;
    }
    return lines;
}

/// An estimate of the width of a text: the line breaks of the window may differ.
float estimated_width(std::string_view text, figure::Font, float size) {
    const auto letters =
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    constexpr float mean_width = 0.52F; // of a letter, as a fraction of the font size
    return static_cast<float>(letters) * size * mean_width;
}

bool has_stage_inspector(const AppState& state, Screen screen) {
    return shows_stage_numbers(screen) && (screen != Screen::flow || !state.shown.document->is_checkpoint());
}

} // namespace

json inspector_part(const ReportSource& source) {
    const AppState& state = source.state;
    if (!source.facts.settled || !state.shown.ready())
        return nullptr;
    const figure::TextMeasure measure = estimated_width;
    const bool baseline = side_on_screen(state) == Compare::baseline;
    constexpr float width = 640, height = 848;
    DrawContext context{.shown = baseline ? state.compare.baseline() : state.shown,
                        .view = state.view,
                        .theme = theme(state.view.dark),
                        .measure = measure,
                        .width = width,
                        .height = height,
                        .controls = false};
    context.compare = state.compare.marked() ? &state.compare : nullptr;
    context.showing = baseline ? Compare::baseline : Compare::now;
    context.head_grid = state.head_grid;
    const Screen screen = screen_of(state.shown, state.view);
    return text_lines_of((has_stage_inspector(state, screen) ? draw_inspector(context)
                                                             : draw_screen_inspector(screen, context))
                             .scene);
}

namespace {

using ScreenTable = std::vector<std::vector<std::string>>;

/// The first column names the rows; the others hold numbers, or texts.
json table_cell_json(const std::string& text, bool first) {
    const auto number = first ? std::nullopt : number_of<double>(text);
    return number && std::isfinite(*number) ? json(*number) : json(text);
}

json column_extremes(const ScreenTable& table, std::size_t column) {
    std::optional<std::pair<double, std::size_t>> low, high;
    for (std::size_t row = 1; row < table.size(); ++row) {
        const auto number = column < table[row].size() ? number_of<double>(table[row][column]) : std::nullopt;
        if (!number || !std::isfinite(*number))
            continue;
        if (!low || *number < low->first)
            low = {*number, row - 1};
        if (!high || *number > high->first)
            high = {*number, row - 1};
    }
    if (!low)
        return nullptr;
    return {{"column", table.front()[column]},
            {"min", low->first},
            {"min_row", low->second},
            {"max", high->first},
            {"max_row", high->second}};
}

ScreenTable table_on_screen(const AppState& state, Screen screen) {
    try {
        return screen == Screen::map ? far_weights_table(state.shown, state.view)
                                     : screen_table(state.shown, state.view);
    } catch (const Error&) {
        return {}; // its numbers are not known yet
    }
}

} // namespace

json table_part(const ReportSource& source) {
    const AppState& state = source.state;
    const Screen screen = screen_of(state.shown, state.view);
    if (!source.facts.settled || !state.shown.ready() || shows_stage_numbers(screen))
        return nullptr;
    const ScreenTable table = table_on_screen(state, screen);
    if (table.empty())
        return nullptr;
    const auto rows = std::ssize(table) - 1, columns = std::ssize(table.front());
    json out{{"columns", table.front()}, {"rows", rows}};
    if (rows <= most_listed_side && columns <= most_listed_side) {
        auto& values = out["values"] = json::array();
        for (std::size_t row = 1; row < table.size(); ++row) {
            auto& cells = values.emplace_back(json::array());
            for (std::size_t column = 0; column < table[row].size(); ++column)
                cells.push_back(table_cell_json(table[row][column], column == 0));
        }
        return out;
    }
    auto& extremes = out["extremes"] = json::array();
    for (std::size_t column = 1; column < table.front().size(); ++column)
        if (json one = column_extremes(table, column); !one.is_null())
            extremes.push_back(std::move(one));
    return out;
}

namespace {

/// The numbers that the cells of a grid show: B's, A's or B − A's. Null if they are computed by the view.
struct ShownNumbers {
    const Shown* shown = nullptr;
    bool change = false; ///< B − A
};

ShownNumbers numbers_shown_in(const AppState& state, const MatrixGrid& grid) {
    const Compare side = side_on_screen(state);
    if (side == Compare::now)
        return {grid.shows_own_values ? &state.shown : nullptr};
    // Against a baseline, `shows_own_values` is false for every matrix, also for the mean or the difference
    // of heads, whose cells are not those of a tensor.
    const bool one_row = grid.tensor == TensorId::logits || grid.tensor == TensorId::probabilities;
    if (one_row || state.view.heads_view != HeadsView::each)
        return {};
    if (side == Compare::baseline)
        return {&state.compare.baseline()};
    return draws_difference(state.view) && state.compare.of(grid.tensor) != nullptr
               ? ShownNumbers{&state.shown, true}
               : ShownNumbers{};
}

json listed_numbers(const AppState& state, const ShownNumbers& source, const MatrixGrid& grid) {
    auto rows = json::array();
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        auto& cells = rows.emplace_back(json::array());
        for (std::int64_t col = 0; col < grid.cols; ++col) {
            const CellAddress cell{grid.tensor, grid.index(row, col)};
            cells.push_back(
                number_json(source.change ? state.compare.change_at(cell) : source.shown->value(cell)));
        }
    }
    return {{"values", std::move(rows)}};
}

} // namespace

json grids_part(const ReportSource& source) {
    const AppState& state = source.state;
    auto grids = json::array();
    std::int64_t listed = 0;
    for (const MatrixGrid& grid : source.canvas.grids) {
        const ShownNumbers known =
            source.facts.settled && state.shown.ready() ? numbers_shown_in(state, grid) : ShownNumbers{};
        json numbers;
        if (known.shown != nullptr && known.shown->ready() && knows_cells(*known.shown, grid)) {
            const bool small = grid.rows <= most_listed_side && grid.cols <= most_listed_side &&
                               listed + grid.rows * grid.cols <= most_listed_numbers;
            if (small) {
                listed += grid.rows * grid.cols;
                numbers = listed_numbers(state, known, grid);
            } else if (!known.change && source.facts.extremes != nullptr) {
                numbers = source.facts.extremes->of(*known.shown, grid);
            }
        }
        grids.push_back(object_of(grid_fields(), GridSource{source, grid, numbers}));
    }
    return grids;
}

} // namespace headscope::app
