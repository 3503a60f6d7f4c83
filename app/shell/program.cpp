#include "app/shell/program.h"

#include "app/draw/effects/patching_page.h"
#include "app/shell/control/open_question.h"
#include "app/shell/draw_window.h"
#include "app/shell/edit_keys.h"
#include "app/shell/input_queue.h"
#include "app/shell/report.h"
#include "app/shell/shortcuts.h"
#include "app/state/screens/flow.h"
#include "app/views/presentation/presentation.h"
#include "app/views/style.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace headscope::app {

namespace {

/// Checks the steps of the tour that a command has done.
void follow_tour(FlowTour& tour, const Command& command) {
    if (!tour.offered)
        return;
    if (std::holds_alternative<SetSentence>(command))
        tour.changed_word = true;
    if (const auto* gain = std::get_if<SetGain>(&command); gain != nullptr && gain->gain == 0)
        tour.switched_off = true;
}

} // namespace

Program::Program(const Options& options)
    : workspace_(state_, options.recipe,
                 {.device = options.device,
                  .wake = options.wake,
                  .changed =
                      [this] {
                          compare_.list_history();
                          files_.document_changed();
                      },
                  .drop_baseline = [this] { compare_.drop(); }}),
      compare_(state_, workspace_, options.device, options.wake), step_before_(state_, workspace_),
      files_(state_, workspace_,
             {.state_folder = options.state_folder,
              .no_state_folder_reason = options.no_state_folder_reason,
              .wake = options.wake,
              .show_lesson = [this](const std::string& path) { lessons_.open(path); },
              .compare_with_unedited = [this](const std::string& name) { compare_.mark_when_shown(name); },
              .leave_lesson = [this] { lessons_.leave(); },
              .offer_picture = options.offer_picture,
              .film = {.device = options.device,
                       .lesson_folders = options.lesson_folders,
                       .language = options.language}}),
      hub_(state_.files, {.client = options.hub_client,
                          .wake = options.wake,
                          .open = [this](const std::string& folder) { files_.open_path(folder); }}),
      lessons_(state_, workspace_, compare_,
               {.lesson_folders = options.lesson_folders,
                .language = options.language,
                .state_folder = options.state_folder,
                .wake = options.wake},
               [this](const Action& action) { act(action); }) {
    compare_.list_history();
    files_.document_changed();
}

void Program::act(const Action& action) {
    if (!std::holds_alternative<ViewChange>(action) && !std::holds_alternative<WindowAction>(action) &&
        !std::exchange(state_.removed_texts.restore_pending, false))
        if (const std::optional<Action> again = std::exchange(state_.removed_texts.retype, std::nullopt))
            if (const auto* move = std::get_if<MoveInHistory>(&action); move != nullptr && move->by == -1)
                return act(*again);
    try {
        perform(action);
    } catch (const Error& fault) {
        state_.error = fault.what();
    }
    follow_question();
}

void Program::perform(const Action& action) {
    std::visit(Overloaded{[&](const ViewChange& change) { change_view(change); },
                          [&](const Command& command) {
                              workspace_.run(command);
                              follow_tour(state_.view.flow.tour, command);
                          },
                          [&](const MoveInHistory& move) { workspace_.move_in_history(move.by); },
                          [&](const TypedNumber& typed) { workspace_.run(parse_edit(typed)); },
                          [&](const TypedWord& typed) {
                              perform(replaced_word(*state_.document, state_.model.prompt, typed));
                          },
                          [&](const OperateOn& operation) {
                              state_.view.operation = operation.choice;
                              workspace_.run(operation_command(state_, operation.choice));
                          },
                          [&](const CopyNumbers&) { copy_numbers(state_); },
                          [&](const PasteNumbers&) { workspace_.run(paste_command(state_)); },
                          [&](const DismissNotice& read) {
                              state_.notice.clear();
                              if (read.error_too)
                                  state_.error.clear();
                          },
                          [&](const FileCommand& command) { files_.act(command); },
                          [&](const MarkBaseline& mark) { compare_.mark(mark.as_built); },
                          [&](const DropBaseline&) { compare_.drop(); },
                          [&](const ComparePrompts&) { compare_prompts(); },
                          [&](const CopyFirstPrompt&) {
                              workspace_.session().act(AskPatching{.corrupted = state_.model.prompt});
                              state_.field = {.next = second_prompt_field};
                          },
                          [&](const LessonAction& lesson) { lessons_.run(lesson); },
                          [&](const EngineAction& wanted) { workspace_.act(wanted); },
                          [&](const ModelAction& wanted) { workspace_.session().act(wanted); },
                          [&](const HubAction& wanted) { hub_.act(wanted); },
                          [&](const WindowAction& wanted) { app::apply(state_, focus_, canvas_, wanted); }},
               action);
}

void Program::follow_question() {
    const std::optional<OpenQuestion> open = open_question(state_);
    std::string now = open ? std::string(open->kind) + "\n" + open->text : "";
    if (open && open->kind == "recovery") // two offers may read alike
        now += "\n" + state_.files.recoveries.front().path;
    if (now == question_)
        return;
    question_ = std::move(now);
    question_number_ += open ? 1 : 0;
}

std::uint64_t Program::question_number() {
    follow_question();
    return question_number_;
}

void Program::compare_prompts() {
    check_prompts(*state_.document->part(), state_.model.patching.corrupted);
    compare_.mark(false, tr("program.clean_prompt", "the clean prompt"));
    workspace_.session().act(SwapPrompts{});
    state_.model.compared_prompt = state_.model.prompt;
    change_view(ShowScreen{Screen::stages});
    change_view(SetCompare{Compare::difference});
}

void Program::change_view(const ViewChange& change) {
    if (std::holds_alternative<SetCompare>(change) && !state_.compare.marked() &&
        !state_.document->shows_weights())
        compare_.mark(true);
    const auto page = [this] { return std::pair(state_.view.group, state_.view.attention.screen); };
    const auto [left, said] = std::pair(page(), state_.error);
    const std::string shown_notice = state_.notice;
    const float arrival = state_.view.arrival;
    workspace_.change_view(change);
    if (state_.view.arrival < arrival || (state_.view.arrival == 0 && page() != left))
        keep_leaving(left.second);
    if (page().second != left.second && state_.notice == shown_notice)
        state_.notice.clear();
    // Remove errors about the previous view; keep those about stale results and failed saves.
    if (page() != left && state_.error == said && said != state_.files.save_error &&
        state_.shown.document == workspace_.session().document_to_show())
        state_.error.clear();
    // On return to the patching screen, restore the previous order of the prompts.
    if (state_.view.attention.screen == Screen::patching && !state_.model.compared_prompt.empty() &&
        std::exchange(state_.model.compared_prompt, {}) == state_.model.prompt &&
        !state_.model.patching.corrupted.empty()) {
        workspace_.change_view(SetCompare{Compare::now});
        workspace_.session().act(SwapPrompts{});
    }
}

void Program::keep_leaving(Screen left) {
    constexpr std::size_t most_items = 20'000; // a picture with more fades in without one that leaves
    const bool known = state_.shown.document != nullptr && canvas_.scene.items.size() <= most_items;
    const bool zooms = (left == Screen::flow) != (state_.view.attention.screen == Screen::flow);
    state_.leaving =
        known ? std::make_shared<const LeavingPicture>(leaving_picture(canvas_, state_.shown.dims(), zooms))
              : nullptr;
}

void Program::begin() {
    if (state_.view.start_page) {
        state_.view.tab = LeftTab::start;
        state_.view.group = StageGroup::weights; // the most informative stage
        state_.view.attention.screen = Screen::flow;
        state_.view.flow.tour.offered = state_.files.recent.empty();
        state_.view.flow.wait_for_reading = state_.view.flow.tour.offered;
        return;
    }
    std::error_code none;
    const auto latest = std::ranges::find_if(
        state_.files.recent, [&](const std::string& path) { return std::filesystem::exists(path, none); });
    if (latest != state_.files.recent.end())
        open_path(*latest);
}

void Program::follow_notice(double now) {
    constexpr double least_seconds = 5, letters_a_second = 12;
    drawn_at_ = now;
    if (state_.notice == last_notice_ && now >= notice_until_)
        state_.notice.clear();
    if (state_.notice == last_notice_)
        return;
    last_notice_ = state_.notice;
    notice_until_ = last_notice_.empty()
                        ? std::numeric_limits<double>::infinity()
                        : now + least_seconds + static_cast<double>(last_notice_.size()) / letters_a_second;
}

void Program::take_results() {
    if (std::optional<Shown> before = workspace_.take_results()) {
        step_before_.replaced(*before);
        if (state_.view.flashes())
            compare_.begin_flash(std::move(*before));
    }
    try {
        lessons_.take_scene();
    } catch (const Error& fault) {
        state_.error = fault.what();
    }
    if (const DocumentPtr& shown = state_.shown.document; shown != nullptr && shown != counted_.lock()) {
        counted_ = shown;
        ++revision_;
    }
}

void Program::settle() {
    files_.settle();
    lessons_.course().settle_scene();
    for (int round = 0; round < 2; ++round) { // a run, then what the session computes from its trace
        take_results();
        workspace_.settle();
    }
    do { // for A: a run, then a layer of it, then the values around its attention
        compare_.wait();
        take_results();
        compare_.follow();
    } while (compare_.busy());
    workspace_.settle(); // the atlas, once A is known
    take_results();
    compare_.follow();
    lessons_.course().settle(state_.shown);
    lessons_.course().settle_pictures(lessons_.pictured());
}

bool Program::wait_for_results(std::chrono::milliseconds at_most) {
    return workspace_.await(at_most);
}

bool Program::animating() const {
    return moving_ || working();
}

double Program::next_frame_at() const {
    constexpr double look_again = 1; // messages about files have their own duration, see Files
    const double next = std::min({notice_until_, step_before_.fades_at(), hub_.next_frame_at()});
    return state_.files.notice.empty() ? next : std::min(next, drawn_at_ + look_again);
}

float Program::zoom() const {
    const float beside = presents_arithmetic(state_) ? presented_inspector_width : 0;
    return state_.presentation.on ? presentation_zoom(state_.presentation, window_.x, window_.y, beside)
                                  : state_.view.zoom;
}

figure::Color Program::background() const {
    return theme(state_.view.dark).canvas;
}

std::string Program::title() const {
    return window_title(state_);
}

bool Program::settled() const {
    return !animating() && state_.shown.document == workspace_.session().document_to_show();
}

std::string Program::report(float scale) const {
    return app::report(state_, canvas_,
                       {.revision = revision_,
                        .scale = scale,
                        .settled = settled(),
                        .has_tab_focus = focus_.visible(),
                        .question = question_number_,
                        .extremes = &extremes_});
}

void Program::begin_action(RepeatedRequest asked) {
    state_.error.clear();
    old_faults_ = asked == RepeatedRequest::file ? std::vector<std::string>() : visible_errors(state_);
    if (asked == RepeatedRequest::prompt)
        std::erase(old_faults_, state_.model.error);
    moving_ = true; // the consequences are known after the next frame
}

std::string Program::new_fault() const {
    for (const std::string& fault : visible_errors(state_))
        if (std::ranges::find(old_faults_, fault) == old_faults_.end())
            return fault;
    return "";
}

void Program::frame(Surface& surface, double now) {
    update_want_text_input();
    const bool worked = working();
    take_results();
    files_.frame(now);
    hub_.frame(now);
    follow_question();
    lessons_.follow_file();
    follow_notice(now);
    follow_flow(state_.shown, state_.view);
    state_.view_on_screen = workspace_.view_of_shown();
    const double since = times_.begin(now);
    const StageGroup stage = state_.view.group;
    moving_ = advance(state_.view, now, since, workspace_.session().document_to_show()->problem.dims);
    moving_ = workspace_.session().advance_animations(now) || moving_;
    if (stage != state_.view.group) {
        keep_leaving(state_.view.attention.screen); // playback went on to the next stage
        workspace_.session().follow();              // its reading options apply only at the weights stage
    }
    compare_.follow(); // uses the session's current content
    moving_ = compare_.fade_flash(since) || moving_;
    moving_ = step_before_.advance(now, since, ImGui::IsMouseDown(ImGuiMouseButton_Left)) || moving_;
    lessons_.course().follow(state_.shown);
    lessons_.course().follow_pictures(lessons_.pictured());
    moving_ = lessons_.course().fade_marks(since) || moving_;
    const bool awaits = state_.shown.is_pending();
    times_.note(awaits);
    if (state_.view.arrival >= 1 || awaits)
        state_.leaving = nullptr;

    // Dear ImGui keeps data of windows that are not on screen for a minute by default.
    ImGui::GetIO().ConfigMemoryCompactTimer = FrameCounter::kept_seconds;
    const float scale = surface.scale();
    const Theme& colours = theme(state_.view.dark);
    apply_style(colours, scale);
    const figure::TextMeasure measure = surface_measure(surface);
    FocusRing elsewhere; // the controls of canvas and panels return with the next trace
    std::vector<Action> actions;
    const Sink send = [&actions](const Action& action) { actions.push_back(action); };
    std::string hovered_spot;
    const ViewTools tools{
        .surface = surface,
        .focus = awaits ? elsewhere : focus_,
        .theme = colours,
        .measure = measure,
        .send = send,
        .value = [this](const CellAddress& cell) { return state_.shown.value(cell); },
        .is_replaced =
            [this](const CellAddress& cell) {
                return state_.shown.block != nullptr && state_.shown.block->is_set(cell.tensor, cell.at);
            },
        .view = &state_.view,
        .field = &state_.field,
        .removed_texts = &state_.removed_texts,
        .hovered = &hovered_spot,
        .number = &state_.number,
        .pixels = &state_.pixels,
        .is_allowed_by_mask =
            [this](const CellAddress& cell) { return mask_allows(*state_.document, cell); }};

    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float zoomed = zoom();
    window_ = {size.x / scale * zoomed, size.y / scale * zoomed};
    const ProgramLayout places = compute_layout(state_, size.x / scale, size.y / scale);
    if (state_.presentation.on) {
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const bool inside =
            ImGui::IsMousePosValid() && mouse.x >= 0 && mouse.y >= 0 && mouse.x < size.x && mouse.y < size.y;
        moving_ = move_spot_to_mouse(state_.presentation.spot,
                                     inside ? std::optional(figure::Point{mouse.x / scale, mouse.y / scale})
                                            : std::nullopt,
                                     since, state_.view.animates()) ||
                  moving_;
    }
    const bool free = !state_.files.dialog_open() && !state_.settings_open;
    (free ? dialog_focus_ : focus_).clear();
    if (!awaits)
        focus_.begin_frame();
    dialog_focus_.begin_frame();
    if (gestures_.begin_frame(state_.view, scale, now))
        workspace_.end_gesture();
    if (free && !state_.palette.open)
        gestures_.wheel(state_, canvas_.scrolls, send, now);
    moving_ = gestures_.drag_number(state_, scale, send) || moving_;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        focus_.clear();
    const ActionContext situated = action_context(
        state_, {places.left_open, places.inspector_open, focus_.visible(), focus_.takes_steps()});
    handle_shortcuts(state_, situated, send);

    // The frame starts with the canvas color everywhere; software GL is slow to fill the window again.
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("Headscope", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse |
                     ImGuiWindowFlags_NoBackground);
    const auto hovered = gestures_.pointed(
        draw_window(state_, workspace_.session(), places, situated, tools, dialog_focus_, canvas_));
    moving_ = hovered != state_.view.hover || moving_;
    if (hovered && !state_.view.hover)
        state_.view.flow.lit = 0;
    state_.view.hover = hovered;
    (free ? focus_ : dialog_focus_).draw(colours.ink, scale);
    ImGui::End();

    state_.pixels.end_frame();
    state_.typing = ImGui::IsAnyItemActive() && ImGui::GetIO().WantTextInput;
    moving_ = moving_ || (state_.presentation.types_sentence && !state_.typing); // the field closes
    state_.requests = {};
    moving_ = hovered_spot != state_.hovered || moving_;
    state_.hovered = std::move(hovered_spot);
    for (const Action& action : actions) {
        act(action);
        moving_ = true;
    }
    moving_ = moving_ || worked; // the next frame shows these changes
    // Content of the previous page must not open this page's gates.
    if (workspace_.shows_document()) {
        moving_ = lessons_.course().watch(state_.shown, state_.view) || moving_;
        if (const auto clicked = lessons_.course().clicked_answer(state_.view)) {
            act(*clicked);
            moving_ = true;
        }
    }
    if (std::string fault = lessons_.course().take_fault(); !fault.empty()) {
        state_.error = std::move(fault);
        moving_ = true;
    }
}

} // namespace headscope::app
