#include "app/shell/program.h"

#include "app/commands/notice.h"
#include "app/jobs/recomputed.h"
#include "app/shell/edit_keys.h"
#include "app/state/attention_document.h"
#include "app/views/file_views.h"
#include "app/views/given_weights.h"
#include "core/base/error.h"
#include "core/base/overloaded.h"
#include "core/text/plain_text.h"
#include "core/text/preset.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float smallest_canvas = 640.0F;
constexpr float comfortable_canvas = 800.0F; ///< the inspector opens by itself only when this much is left

void set_style(const Theme& theme, float scale) {
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowPadding = {0, 0};
    style.WindowBorderSize = 0;
    style.WindowRounding = 0;
    style.ChildBorderSize = 0;
    style.PopupBorderSize = std::max(std::floor(scale), 1.0F);
    style.PopupRounding = 6 * scale;
    style.FrameRounding = 4 * scale;
    style.ItemSpacing = {0, 0};
    style.ScrollbarSize = 10 * scale;
    style.ScrollbarRounding = 5 * scale;
    const auto set = [&](ImGuiCol id, figure::Color color) {
        style.Colors[id] = ImGui::ColorConvertU32ToFloat4(color);
    };
    set(ImGuiCol_WindowBg, theme.canvas);
    set(ImGuiCol_ChildBg, 0);
    set(ImGuiCol_PopupBg, theme.raise);
    set(ImGuiCol_Border, theme.line2);
    set(ImGuiCol_Text, theme.ink);
    set(ImGuiCol_TextDisabled, theme.muted);
    set(ImGuiCol_TextSelectedBg, figure::with_alpha(theme.muted, 90));
    set(ImGuiCol_Header, theme.highlight);
    set(ImGuiCol_HeaderHovered, theme.highlight);
    set(ImGuiCol_HeaderActive, theme.highlight);
    set(ImGuiCol_ScrollbarBg, 0);
    set(ImGuiCol_ScrollbarGrab, theme.line2);
    set(ImGuiCol_ScrollbarGrabHovered, theme.muted);
    set(ImGuiCol_ScrollbarGrabActive, theme.muted);
    set(ImGuiCol_NavHighlight, 0);
}

/// The sentence that a preset comes with, where none is given and it counts.
project::Recipe with_sentence(project::Recipe recipe) {
    const text::PresetInfo* preset = text::find_preset(recipe.preset);
    if (recipe.base != nullptr || !recipe.sentence.empty() || preset == nullptr)
        return recipe;
    recipe.sentence = preset->sentence;
    if (recipe.kv_sentence.empty())
        recipe.kv_sentence = text::opening_kv_sentence(*preset);
    return recipe;
}

/// The fields show what the document has, except the one that is being typed into.
void fill_sentences(AppState& state, const Command* typed = nullptr) {
    const project::Recipe& recipe = state.document->recipe;
    if (typed == nullptr || !std::holds_alternative<SetSentence>(*typed))
        state.sentence = recipe.sentence;
    const auto* second = typed == nullptr ? nullptr : std::get_if<SetKvSentence>(typed);
    if (second == nullptr || second->sentence != state.kv_sentence)
        state.kv_sentence = recipe.kv_sentence;
}

} // namespace

Program::Program(const Options& options)
    : engines_(options.device), runner_(engines_.engine(), options.wake), options_(options) {
    const project::Recipe recipe = with_sentence(options.recipe);
    state_.document = make_document(recipe, 1);
    fill_sentences(state_);
    history_.emplace(state_.document);
    files_.emplace(
        state_,
        Files::Setup{
            .state_folder = options.state_folder,
            .wake = options.wake,
            .fresh = [this] { return make_document(with_sentence({}), state_.document->revision + 1); },
            .show = [this](DocumentPtr next) { show_document(std::move(next)); },
            .show_attention = [this](const AttentionSetPtr& set) { open_attention(set); },
            .show_checkpoint = [this](const OpenedModel& opened) { open_checkpoint(opened); },
            .show_lesson = [this](const std::string& path) { open_lesson(path); },
            .show_edits = [this](const ModelPart& edited,
                                 const std::string& label) { show_edits(edited, label); }});
    load_course();
    document_changed();
}

void Program::act(const Action& action) {
    try {
        std::visit(Overloaded{[&](const ViewChange& change) { change_view(change); },
                              [&](const Command& command) { run_command(command); },
                              [&](const MoveInHistory& move) { restore(move.by); },
                              [&](const TypedNumber& typed) { run_command(parse_edit(typed)); },
                              [&](const OperateOn& operation) {
                                  state_.view.operation = operation.choice;
                                  run_command(operation_command(state_, operation.choice));
                              },
                              [&](const CopyNumbers&) { copy_numbers(state_); },
                              [&](const PasteNumbers&) { run_command(paste_command(state_)); },
                              [&](const DismissNotice&) { state_.notice.clear(); },
                              [&](const FileCommand& command) { files_->act(command); },
                              [&](const MarkBaseline& mark) { mark_baseline(mark.as_built); },
                              [&](const DropBaseline&) { drop_baseline(); },
                              [&](const LessonAction& lesson) { run_lesson(lesson); },
                              [&](const EngineAction& wanted) {
                                  if (engines_.act(wanted, state_.document))
                                      runner_.submit(wanted_document());
                              },
                              [&](const ModelAction& wanted) { run_model_action(wanted); }},
                   action);
    } catch (const Error& fault) {
        state_.error = fault.what();
    }
}

void Program::change_view(const ViewChange& change) {
    const bool marks = std::holds_alternative<SetCompare>(change) && !state_.compare.marked() &&
                       !state_.document->shows_weights();
    if (marks)
        mark_baseline(true);
    app::apply(state_.view, change, with_means(wanted_document()->problem.dims));
    if (!std::holds_alternative<AttentionChange>(change))
        look_.leave_mean(state_.view);
    follow_attention();
}

void Program::drop_baseline() {
    state_.compare.drop();
    state_.view.compare = Compare::now;
    list_history();
}

void Program::run_command(const Command& command) {
    if (const auto layer = coming_layer()) {
        state_.notice = "Layer " + std::to_string(*layer) +
                        " is being opened: nothing was changed; edit it once it is shown.";
        return;
    }
    CommandName name = name_of(*state_.document, command);
    if (state_.document->is_checkpoint())
        name.label = open_layer_name(*state_.document) + " " + name.label;
    DocumentPtr next = app::apply(state_.document, command);
    std::string notice = notice_of(*state_.document, command, *next);
    history_->push({next, std::move(name.label), std::move(name.detail), gesture_});
    state_.document = std::move(next);
    fill_sentences(state_, &command);
    document_changed();
    state_.notice = std::move(notice);
}

void Program::restore(std::int64_t by) {
    state_.document = on_changed_layer(history_->move(by));
    fill_sentences(state_);
    document_changed();
}

void Program::show_document(DocumentPtr document) {
    history_.emplace(document);
    state_.document = std::move(document);
    fill_sentences(state_);
    state_.view.selected.reset();
    document_changed();
}

void Program::document_changed() {
    state_.error.clear();
    state_.notice.clear();
    const Dims dims = with_means(state_.document->problem.dims);
    if (state_.view.row >= dims.Tq)
        state_.view.row = -1;
    clamp_to(state_.view, dims);
    // What is changed is B: it is not left behind A.
    if (state_.view.compare == Compare::baseline)
        state_.view.compare = Compare::now;
    follow_attention();
    list_history();
    runner_.submit(wanted_document());
    files_->document_changed();
}

void Program::open_attention(const AttentionSetPtr& set) {
    state_.view.attention = {.board = state_.view.attention.board};
    state_.view.head = 0;
    state_.view.row = -1;
    state_.view.heads_view = HeadsView::each;
    state_.view.selected.reset();
    state_.view.hover.reset();
    state_.view.drag.reset();
    state_.shown = {}; // its heads are none of this board
    show_document(attention_document(set, 0, *state_.document));
}

void Program::take_results() {
    engines_.poll();
    state_.engines = engines_.state();
    std::optional<RunResult> result = runner_.poll();
    state_.running = runner_.busy();
    if (!result)
        return;
    if (result->trace == nullptr) {
        state_.error = result->error;
        return;
    }
    if (state_.view.flashes()) {
        state_.flash.before = state_.shown;
        flash_begins_ = true;
    }
    state_.recomputed = !result->document->shows_weights() ? recomputed_text(*result->trace) : std::string();
    state_.shown = {result->document, result->trace, std::move(result->metrics)};
    show_what_waited();
    clamp_to(state_.view, with_means(state_.shown.dims()));
}

void Program::settle() {
    files_->settle();
    do {
        if (desk_)
            desk_->wait();
        take_model_results();
    } while (desk_ && desk_->busy());
    runner_.wait();
    if (baseline_runner_)
        baseline_runner_->wait();
    if (maps_ != nullptr)
        maps_->wait();
    take_results();
    update_comparison();
}

bool Program::animating() const {
    return moving_ || (desk_ && desk_->busy()) || engines_.busy() || runner_.busy() || files_->busy() ||
           (baseline_runner_ && baseline_runner_->busy());
}

figure::Color Program::background() const {
    return theme(state_.view.dark).canvas;
}

Program::Layout Program::layout(float width, float height) {
    const ViewState& view = state_.view;
    Layout out;
    out.toolbar = {0, 0, width, toolbar_height};
    out.bottom = {0, height - bottom_height, width, bottom_height};
    const float top = toolbar_height, middle = height - toolbar_height - bottom_height;
    const float room = width - view.left_width - view.inspector_width;
    out.inspector_open = view.inspector_open.value_or(room >= comfortable_canvas);
    const float beside = out.inspector_open ? view.inspector_width : rail_width;
    // The text of an open lesson stays beside what it speaks of.
    const bool in_lesson = view.tab == LeftTab::course && state_.course.open != nullptr;
    out.left_open = view.left_open.value_or(
        (width - view.left_width - beside >= smallest_canvas && !canvas_too_narrow_) || in_lesson);
    // A canvas narrower than it may ever be folds what was opened, the inspector first.
    const auto canvas_width = [&] {
        return width - (out.left_open ? view.left_width : rail_width) -
               (out.inspector_open ? view.inspector_width : rail_width);
    };
    if (canvas_width() < 480)
        out.inspector_open = false;
    if (canvas_width() < 480)
        out.left_open = false;
    const float left = out.left_open ? view.left_width : rail_width;
    const float right = out.inspector_open ? view.inspector_width : rail_width;
    out.left = {0, top, left, middle};
    out.inspector = {width - right, top, right, middle};
    out.canvas_head = {left, top, width - left - right, strip_height};
    out.canvas = {left, top + strip_height, width - left - right, middle - strip_height};
    return out;
}

void Program::splitters(const Layout& layout, float width, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    const auto drag = [&](const char* id, float x, float& size, float direction, float low, float high) {
        // In a window of its own, above the panels on both sides, which would take the mouse.
        const ImVec2 grip{6 * scale, (layout.left.h - strip_height) * scale};
        ImGui::SetCursorScreenPos(
            {origin.x + (x - 3) * scale, origin.y + (toolbar_height + strip_height) * scale});
        ImGui::BeginChild(id, grip);
        ImGui::InvisibleButton(id, grip);
        if (ImGui::IsItemHovered() || ImGui::IsItemActive())
            ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
        if (ImGui::IsItemActive()) {
            const float mouse = (ImGui::GetIO().MousePos.x - origin.x) / scale;
            size = std::clamp(direction > 0 ? mouse : width - mouse, low, high);
        }
        ImGui::EndChild();
    };
    if (layout.left_open)
        drag("left edge", layout.left.right(), state_.view.left_width, 1, 280, 480);
    if (layout.inspector_open)
        drag("inspector edge", layout.inspector.x, state_.view.inspector_width, -1, 280, 420);
}

void Program::frame(Surface& surface, double now) {
    take_model_results();
    take_results();
    files_->frame(now);
    update_comparison();
    state_.view_behind.reset();
    if (state_.shown.trace != nullptr) {
        ViewState within = state_.view;
        clamp_to(within, state_.shown.dims());
        const bool weights_only = state_.shown.document->shows_weights();
        if (weights_only)
            within.group = StageGroup::weights;
        if (weights_only || state_.shown.dims() != state_.document->problem.dims ||
            within.head != state_.view.head || within.other != state_.view.other)
            state_.view_behind = std::move(within);
    }
    const double since = last_frame_ < 0 ? 0 : std::min(now - last_frame_, 0.1);
    last_frame_ = now;
    const StageGroup stage = state_.view.group;
    moving_ = advance(state_.view, now, since, wanted_document()->problem.dims);
    if (stage != state_.view.group && state_.document->is_checkpoint())
        follow_model(); // of the weights it may show another reading
    moving_ = fade_flash(since) || moving_;
    moving_ = follow_course(since) || moving_;

    const float scale = surface.scale();
    const Theme& colours = theme(state_.view.dark);
    set_style(colours, scale);
    const figure::TextMeasure measure = surface_measure(surface);
    std::vector<Action> actions;
    const Sink send = [&actions](const Action& action) { actions.push_back(action); };
    const ViewTools tools{
        .surface = surface,
        .focus = focus_,
        .theme = colours,
        .measure = measure,
        .send = send,
        .value = [this](const CellAddress& cell) { return state_.shown.value(cell); },
        .view = &state_.view,
        .field = &state_.field,
        .allowed = [this](const CellAddress& cell) { return mask_allows(*state_.document, cell); }};

    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float width = size.x / scale, height = size.y / scale;
    const Layout places = layout(width, height);
    const bool free = !state_.files.dialog_open();
    if (!free)
        focus_.clear();
    else
        dialog_focus_.clear();
    focus_.begin_frame();
    dialog_focus_.begin_frame();
    constexpr double wheel_rest = 0.7; // seconds between turns that are one gesture
    // The move that ends a drag belongs to it.
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::GetIO().WantTextInput && !state_.view.drag &&
        now - wheel_turned_ > wheel_rest)
        ++gesture_;
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
        state_.view.selecting = false;
        state_.view.brush.allows.reset();
    }
    if (free && handle_wheel(state_, send))
        wheel_turned_ = now;
    drag_number(surface, send);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        focus_.clear();
    handle_shortcuts(state_, focus_, send);
    if (free && ImGui::IsKeyPressed(GLFW_KEY_LEFT_BRACKET, false) && !ImGui::GetIO().WantTextInput)
        send(ViewChange(OpenLeft{!places.left_open}));
    if (free && ImGui::IsKeyPressed(GLFW_KEY_RIGHT_BRACKET, false) && !ImGui::GetIO().WantTextInput)
        send(ViewChange(OpenInspector{!places.inspector_open}));

    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("Headscope", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
    std::optional<CellAddress> hovered;
    // A document without a trace of its own yet is seen as the one before.
    const bool given = state_.document->shows_weights(), model = state_.document->is_checkpoint();
    const bool given_shown = state_.shown.trace != nullptr && state_.shown.document->shows_weights();
    const bool board_shown = state_.shown.trace != nullptr && state_.shown.document->has_board();
    if (model)
        view_model_toolbar(state_, places.toolbar, tools);
    else if (given)
        view_attention_toolbar(state_, places.toolbar, tools);
    else
        view_toolbar(state_, places.toolbar, tools);
    if (given_shown && weights_alone(state_))
        view_attention_strip(state_, places.canvas_head, tools);
    else if (state_.shown.trace != nullptr)
        view_strip(state_, places.canvas_head, tools);
    view_canvas(state_, places.canvas, tools, hovered, canvas_);
    if (state_.document->has_board() && board_shown) {
        LayersInSight rows;
        view_attention_canvas(state_, places.canvas, tools, hovered, canvas_, rows);
        maps_->look_at(state_.view.attention.layer, rows.first, rows.last);
    }
    view_canvas_notices(state_, places.canvas, tools);
    view_left_panel(state_, places.left, places.left_open, tools);
    view_inspector(state_, places.inspector, places.inspector_open, tools, hovered);
    if (state_.number.active)
        hovered.reset(); // what is read is the number that is being typed
    if (weights_alone(state_))
        view_attention_bar(state_, places.bottom, tools);
    else
        view_bottom_bar(state_, places.bottom, tools);
    view_notice(state_, places.canvas, tools);
    splitters(places, width, tools);
    if (state_.view.help_open)
        view_help(state_, {0, 0, width, height}, tools);
    view_file_dialogs(state_, {surface, dialog_focus_, colours, measure, send});
    (free ? focus_ : dialog_focus_).draw(colours.ink, scale);
    ImGui::End();

    typing_ = ImGui::IsAnyItemActive() && ImGui::GetIO().WantTextInput;
    if (hovered != state_.view.hover) {
        state_.view.hover = hovered;
        moving_ = true;
    }
    // The figure needs more than the canvas beside an open left panel: the panel folds, unless the user
    // opened it.
    const std::uint64_t measured_for =
        state_.document->revision * 64 + static_cast<std::uint64_t>(state_.view.group);
    if (measured_for != narrow_for_) {
        narrow_for_ = measured_for;
        canvas_too_narrow_ = false;
    }
    const float wanted = std::max(canvas_.scene.width, canvas_.wanted_width);
    const float folded = places.canvas.w + places.left.w - rail_width;
    // Beside a board it stays: it tells what the model predicts.
    if (!state_.document->has_board() && !canvas_too_narrow_ && !state_.view.left_open &&
        wanted > places.canvas.w + 1 && wanted <= folded) {
        canvas_too_narrow_ = true;
        moving_ = true;
    }
    for (const Action& action : actions) {
        act(action);
        moving_ = true;
    }
    watch_course();
}

void Program::drag_number(const Surface& surface, const Sink& send) {
    if (!state_.view.drag)
        return;
    CellDrag& drag = *state_.view.drag;
    const bool cancelled = ImGui::IsKeyPressed(GLFW_KEY_ESCAPE, false);
    if (cancelled && drag.moved)
        send(Command(EditCell{drag.cell, drag.start_value}));
    // A slow frame may bring the last move together with the release: it counts.
    const bool over = cancelled || !ImGui::IsMouseDown(ImGuiMouseButton_Left);
    if (!cancelled && ImGui::IsMousePosValid())
        follow_drag(drag, surface, send);
    if (over) {
        state_.view.drag.reset();
        moving_ = true;
    }
}

void Program::follow_drag(CellDrag& drag, const Surface& surface, const Sink& send) const {
    const ImGuiIO& io = ImGui::GetIO();
    constexpr float threshold = 3; // a click that trembles is no drag
    const float way = io.MousePos.x / surface.scale() - drag.start_x;
    drag.moved = drag.moved || std::abs(way) >= threshold;
    if (!drag.moved || state_.shown.tensor(drag.cell.tensor) == nullptr)
        return;
    const float grain = grain_of(state_, drag.cell.tensor, io.KeyShift);
    const float value = std::round((drag.start_value + way * grain) / grain) * grain;
    if (value != drag.value)
        send(Command(EditCell{drag.cell, value}));
    drag.value = value;
}

} // namespace headscope::app
