#include "app/draw/panels/panels.h"
#include "app/draw/effects/screens.h"
#include "app/draw/kit/controls.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/draw/map/long_map.h"
#include "app/draw/pages/pages.h"
#include "app/draw/panels/predictions_panel.h"
#include "app/draw/panels/start_panel.h"
#include "app/draw/prompts/prompts_panel.h"
#include "app/state/block.h"
#include "app/views/action_context.h"
#include "app/views/given_weights.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

/// The scroll position near `top` that cuts no line of text: below the line, or above it if that position
/// would cut the area pointed at.
float between_lines(const figure::Scene& scene, float top, float pointed_top) {
    constexpr float air = 2;
    constexpr int most_lines = 6;
    float begin = top;
    for (int n = 0; n < most_lines && begin > 0; ++n) {
        const auto cut = std::ranges::find_if(scene.items, [&](const figure::SceneItem& item) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            return text != nullptr && text->angle == 0 && text->at.y - text->size < begin &&
                   text->at.y + 0.25F * text->size > begin;
        });
        if (cut == scene.items.end())
            return begin;
        const auto& text = std::get<figure::TextItem>(*cut);
        const float below = text.at.y + 0.25F * text.size + air;
        if (below > pointed_top - air)
            return std::max(text.at.y - text.size - air, 0.0F);
        begin = below;
    }
    return top;
}

/// Scrolls the current region until the area that a lesson points at is visible, during the motion of
/// pointing.
void bring_into_sight(const Picture& picture, const figure::Rect& area, float pointing, float scale) {
    const figure::Rect& pointed = picture.pointed_area;
    constexpr float margin = 24, pull = 0.3F, last_part = 0.9F;
    const auto wanted = [&](float from, float to, float room, float now) {
        const float far = std::max(now, to + margin - room);
        return std::max(0.0F, std::min(far, from - margin));
    };
    const auto towards = [&](float now, float want) {
        return pointing > last_part ? want : now + (want - now) * pull;
    };
    const float x = ImGui::GetScrollX() / scale, y = ImGui::GetScrollY() / scale;
    ImGui::SetScrollX(towards(x, wanted(pointed.x, pointed.right(), area.w, x)) * scale);
    const float down = wanted(pointed.y, pointed.bottom(), area.h, y);
    ImGui::SetScrollY(towards(y, down == y ? y : between_lines(picture.scene, down, pointed.y)) * scale);
}

const Flash* flash_of(const AppState& state) {
    return state.flash.strength > 0 ? &state.flash : nullptr;
}

/// `shown` must outlive the context.
DrawContext context_showing(const Shown& shown, Compare showing, const AppState& state,
                            const ViewTools& tools, float width, float height) {
    return {shown,
            state.drawn_view(),
            tools.theme,
            tools.measure,
            width,
            height,
            true,
            state.history,
            state.history_position,
            state.compare.marked() ? &state.compare : nullptr,
            showing,
            flash_of(state),
            state.head_grid,
            tools.pixels,
            {},
            state.earlier.strength > 0 ? &state.earlier : nullptr};
}

/// The context of panels: B's numbers, or A's while A is on screen.
DrawContext context_of(const AppState& state, const ViewTools& tools, float width, float height) {
    const bool baseline = side_on_screen(state) == Compare::baseline;
    return context_showing(baseline ? state.compare.baseline() : state.shown,
                           baseline ? Compare::baseline : Compare::now, state, tools, width, height);
}

/// The layer whose weights are shown transformed, without its stages; otherwise what is on screen.
Shown layer_behind(const AppState& state) {
    return shows_transformed_weights(state) ? Shown{state.document, nullptr, {}} : state.shown;
}

DrawContext on_layer(const DrawContext& context, const Shown& layer) {
    if (layer.trace != nullptr)
        return context;
    return {layer,          context.view,     context.theme,    context.measure,          context.width,
            context.height, context.controls, context.history,  context.history_position, nullptr,
            Compare::now,   nullptr,          context.head_grid};
}

} // namespace

DrawContext canvas_context(const AppState& state, const ViewTools& tools, float width, float height) {
    if (side_on_screen(state) != Compare::difference || !draws_difference(state.view))
        return context_of(state, tools, width, height);
    return context_showing(state.compare.difference(state.view.group), Compare::difference, state, tools,
                           width, height);
}

namespace {

/// A collapsed panel: a chevron and the panel's name.
void view_rail(const figure::Rect& area, const Message& name, bool opens_right, const Action& open,
               const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    Picture picture;
    const std::string shown = tr(name);
    const figure::Point tip{area.x + rail_width / 2 + (opens_right ? 4.0F : -4.0F), area.y + 22};
    draw_chevron(picture.scene, tip, opens_right ? Pointing::right : Pointing::left, theme.ink, 7, 2);
    add_text(picture.scene, {area.x + rail_width / 2 - 5, area.y + 60}, shown, figure::Font::ui, 13,
             theme.text, figure::Align::left, 90);
    picture.add_hotspot(area, "open " + std::string(name.english), open,
                        tr("panels.show_panel", "Show the {} panel", shown));
    show_picture(picture, origin.x, origin.y, tools, nullptr);
}

float header_tabs(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    Picture picture;
    picture.scene.add(figure::LineItem{
        {area.x, area.y + strip_height}, {area.right(), area.y + strip_height}, theme.line, 1});
    float x = area.x + panel_pad;
    const bool newcomer = !state.course.any_started();
    // Translators: the names of tabs, short
    const std::pair<Message, LeftTab> tabs[] = {
        {translatable("panels.predict", "Predict"), LeftTab::predictions},
        {translatable("panels.prompts", "Prompts"), LeftTab::prompts},
        newcomer ? std::pair{translatable("panels.start", "Start"), LeftTab::start}
                 : std::pair{translatable("panels.course", "Course"), LeftTab::course},
        {translatable("panels.guide", "Guide"), LeftTab::guide},
        {translatable("panels.tensors", "Tensors"), LeftTab::tensors},
        {translatable("panels.heads", "Heads"), LeftTab::heads},
        {translatable("panels.edit", "Edit"), LeftTab::edit}};
    const bool model = state.document->is_checkpoint(),
               given = !model && weights_without_stages(state) != nullptr;
    const LeftTab open = state.view.tab;
    // A lesson that plays on a model replaces the guide.
    const bool learning = state.course.open != nullptr || open == LeftTab::course;
    const auto left_out = [&](LeftTab tab) {
        if (!model) // only a model makes predictions
            return tab == LeftTab::predictions || tab == LeftTab::prompts;
        if (tab == LeftTab::prompts) // there is little room for tabs
            return state.model.prompts == nullptr && open != LeftTab::prompts;
        return tab == LeftTab::start || (tab == LeftTab::course && !learning) ||
               (tab == LeftTab::guide && learning && open != LeftTab::guide);
    };
    struct ShownTab {
        Message name;
        LeftTab tab;
        std::string label;
    };
    std::vector<ShownTab> shown;
    const figure::Point tip{area.right() - 26, area.y + 22};
    for (const auto& [name, tab] : tabs) {
        if (left_out(tab))
            continue;
        if (state.document->is_long() && !given && tab != LeftTab::start && tab != LeftTab::course &&
            tab != LeftTab::guide && tab != LeftTab::predictions && tab != LeftTab::prompts)
            continue; // there are no stages
        if (given && tab != LeftTab::heads && tab != LeftTab::tensors)
            continue; // weights alone have no arithmetic to explain and no inputs to edit
        const Message one = given && tab == LeftTab::tensors ? translatable("panels.source", "Source") : name;
        shown.push_back({one, tab, tr(one)});
    }
    const auto wide = [&](const std::string& label, float size) {
        return tools.measure(label, figure::Font::ui_semibold, size);
    };
    // Long labels of another language shrink before they touch.
    constexpr float tab_size = 13, smallest_tab = 10.5F, smallest_gap = 6;
    const float room = tip.x - 12 - x;
    float size = tab_size;
    const auto left = [&] {
        float rest = room;
        for (const ShownTab& one : shown)
            rest -= wide(one.label, size);
        return rest / static_cast<float>(shown.size() - 1);
    };
    while (left() < smallest_gap && size > smallest_tab)
        size -= 0.5F;
    const float gap = std::clamp(left(), smallest_gap, 13.0F);
    for (const auto& [name, tab, label] : shown) {
        // Until the course has begun, the list of lessons belongs to the Start page.
        const bool on = state.view.tab == tab || (tab == LeftTab::start && state.view.tab == LeftTab::course);
        const float width = wide(label, size);
        add_text(picture.scene, {x, figure::baseline_for(area.y + strip_height / 2 - 1, 13)}, label,
                 on ? figure::Font::ui_semibold : figure::Font::ui_medium, size,
                 on ? theme.ink : theme.muted);
        if (on)
            picture.scene.add(
                figure::RectItem{.area = {x, area.y + strip_height - 2, width, 2}, .fill = theme.ink});
        picture.add_hotspot({x - 6, area.y, width + 12, strip_height}, std::string(name.english),
                            ShowTab{tab});
        x += width + gap;
    }
    draw_chevron(picture.scene, tip, Pointing::left, theme.muted, 5);
    // Next to the last tab if there is space, never narrower than the chevron.
    const float fold = std::clamp(x - 7, tip.x - 10, tip.x - 6);
    picture.add_hotspot({fold, area.y + 6, tip.x + 16 - fold, 32}, "fold left", OpenLeft{false},
                        tr("panels.fold_panel", "Fold this panel"));
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    return strip_height;
}

} // namespace

figure::Rect physical(const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const float scale = tools.surface.scale();
    return {origin.x + area.x * scale, origin.y + area.y * scale, area.w * scale, area.h * scale};
}

void paint_here(const figure::Scene& scene, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    paint(scene, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
}

void begin_region(const char* id, const figure::Rect& area, const ViewTools& tools, int flags) {
    const figure::Rect place = physical(area, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    ImGui::BeginChild(id, {place.w, place.h}, false, flags);
}

void draw_panel_background(const figure::Rect& area, const ViewTools& tools, bool border_right) {
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area, .fill = tools.theme.panel});
    const float x = border_right ? area.right() - 0.5F : area.x;
    scene.add(figure::LineItem{{x, area.y}, {x, area.bottom()}, tools.theme.line, 1});
    paint_here(scene, tools);
}

void scrolled_picture(const char* id, const figure::Rect& area, const ViewTools& tools,
                      std::optional<CellAddress>* hovered, Picture* kept,
                      const std::function<Picture(float width, float height)>& draw, const Scrolling& how) {
    const float scale = tools.surface.scale();
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    begin_region(id, area, tools,
                 ImGuiWindowFlags_HorizontalScrollbar |
                     (how.by_wheel ? 0 : ImGuiWindowFlags_NoScrollWithMouse));
    ImGui::PopStyleVar();
    int& shown_page = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("page"), how.content_id);
    if (std::exchange(shown_page, how.content_id) != how.content_id) {
        ImGui::SetScrollX(0);
        ImGui::SetScrollY(0);
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    Picture picture = draw(area.w, area.h);
    show_picture(picture, at.x, at.y, tools, hovered);
    ImGui::SetCursorScreenPos(at);
    // Only content that does not fit makes the region scroll.
    const float width = picture.scene.width > area.w + 1 ? picture.scene.width : 0;
    const float height = picture.scene.height > area.h + 1 ? picture.scene.height : 0;
    ImGui::Dummy({width * scale, height * scale});
    // Scroll once more at the end: slow frames may arrive there from far away.
    bool& was_pointing = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID("pointing"), false);
    const bool ends = std::exchange(was_pointing, how.pointing < 1);
    if ((how.pointing < 1 || ends) && picture.pointed_area.w > 0 && width + height > 0)
        bring_into_sight(picture, area, how.pointing, scale);
    if (kept != nullptr) {
        const ImVec2 window = ImGui::GetMainViewport()->Pos;
        picture.move_by((at.x - window.x) / scale, (at.y - window.y) / scale);
        picture.scrolls = picture.scene.height > area.h + 0.5F || picture.scene.width > area.w + 0.5F;
        *kept = std::move(picture);
    }
    ImGui::EndChild();
}

DrawContext draw_context(const AppState& state, const ViewTools& tools, float width, float height) {
    DrawContext context = context_of(state, tools, width, height);
    context.hovered = state.hovered;
    return context;
}

Picture arriving(const AppState& state, Picture picture, const figure::Rect& area,
                 const DrawContext& context) {
    if (state.leaving == nullptr || context.view.arrival >= 1)
        return picture;
    const float width = picture.scene.width, height = picture.scene.height;
    picture.move_by(area.x, area.y);
    Picture moving = transition(*state.leaving, std::move(picture), context);
    moving.move_by(-area.x, -area.y);
    moving.scene.width = width;
    moving.scene.height = height;
    return moving;
}

void view_canvas(const AppState& state, const figure::Rect& whole, const ViewTools& tools,
                 std::optional<CellAddress>& hovered, Picture& kept) {
    if (state.shown.is_pending())
        scrolled_picture("awaited", whole, tools, nullptr, &kept, [&](float width, float height) {
            return draw_canvas(context_of(state, tools, width, height));
        });
    if (!state.shown.ready())
        return;
    const figure::Rect area = canvas_below_bars(state, whole);
    view_bars(state, whole, tools);
    // The wheel changes the number under the mouse. On a scrolling canvas it does so only for the selected
    // number.
    const bool wheel_edits = state.view.hover && is_owned(state.view.hover->tensor) &&
                             (!kept.scrolls || state.view.hover == state.view.selected);
    if (!state.shown.document->has_head_grid())
        scrolled_picture("canvas", area, tools, &hovered, &kept,
                         [&](float width, float height) {
                             DrawContext context = canvas_context(state, tools, width, height);
                             if (state.view.flow.on_screen) // a word under the mouse lights its path
                                 context.hovered = state.hovered;
                             return point_at_selected_match(
                                 arriving(state, draw_canvas(context), area, context), state.find,
                                 state.view);
                         },
                         {.pointing = state.find.follow ? at_once : state.view.pointing,
                          .by_wheel = !wheel_edits,
                          .content_id = state.view.flow.on_screen ? -1 : static_cast<int>(state.view.group)});
    if (screen_of(state.shown, state.view) == Screen::map && !state.shown.document->has_head_grid())
        steer_long_map(state, area, tools);
    if (state.view.arrival < 1 && state.leaving == nullptr) { // a new stage fades in
        figure::Scene veil;
        const float covered = 200 * (1 - eased(state.view.arrival));
        veil.add(figure::RectItem{
            .area = {0, 0, area.w, area.h},
            .fill = figure::with_alpha(tools.theme.canvas, static_cast<std::uint32_t>(covered))});
        const figure::Rect place = physical(area, tools);
        begin_region("veil", area, tools, ImGuiWindowFlags_NoInputs);
        paint(veil, place.x, place.y, tools.surface, *ImGui::GetWindowDrawList());
        ImGui::EndChild();
    }
}

namespace {

void view_start(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const figure::Rect page{area.x, area.y, area.w, area.h - start_foot};
    scrolled_picture("start", page, tools, nullptr, nullptr, [&](float width, float height) {
        return draw_start(context_of(state, tools, width, height), state.course, state.files);
    });
    show_footer(draw_start_foot(context_of(state, tools, area.w, start_foot)), page, tools);
}

} // namespace

void view_left_panel(const AppState& state, const figure::Rect& area, bool open, const ViewTools& tools) {
    draw_panel_background(area, tools, true);
    if (!open) {
        const std::string lesson = state.course.open == nullptr
                                       ? std::string()
                                       : tr("panels.lesson", "Lesson: {}", state.course.open->title);
        return view_rail(
            area,
            state.view.tab == LeftTab::start ? translatable("panels.start", "Start")
            : state.view.tab == LeftTab::course
                ? (lesson.empty() ? translatable("panels.course", "Course") : untranslated(lesson))
            : state.document->is_checkpoint()  ? translatable("panels.predict", "Predict")
            : !state.document->shows_weights() ? translatable("panels.guide", "Guide")
                                               : translatable("panels.heads", "Heads"),
            true, OpenLeft{true}, tools);
    }
    const float header = header_tabs(state, area, tools);
    if (!state.shown.ready())
        return;
    const figure::Rect inner{area.x, area.y + header, area.w - 1, area.h - header};
    if (state.view.tab == LeftTab::start)
        return view_start(state, inner, tools);
    if (state.view.tab == LeftTab::course)
        return view_course(state, inner, tools);
    // Each tab has its own region and keeps its scroll position.
    const char* ids[] = {"start", "course", "guide", "tensors", "heads", "edit", "predictions", "prompts"};
    scrolled_picture(ids[static_cast<std::size_t>(state.view.tab)], inner, tools, nullptr, nullptr,
                     [&](float width, float height) {
                         const DrawContext context = context_of(state, tools, width, height);
                         if (state.shown.document->is_long() && !state.shown.document->is_given() &&
                             state.view.tab != LeftTab::predictions && state.view.tab != LeftTab::prompts)
                             return draw_long_map_panel(context);
                         const Shown layer = layer_behind(state);
                         switch (state.view.tab) {
                         case LeftTab::start:
                         case LeftTab::course:
                             break; // handled above
                         case LeftTab::guide:
                             return draw_guide(context);
                         case LeftTab::tensors:
                             return draw_tensors(on_layer(context, layer));
                         case LeftTab::heads:
                             return draw_heads(context);
                         case LeftTab::edit:
                             return draw_edit(on_layer(context, layer));
                         case LeftTab::predictions:
                             return draw_predictions(context, state.model);
                         case LeftTab::prompts:
                             return draw_prompts(context, state.model,
                                                 ImGui::GetScrollY() / tools.surface.scale());
                         }
                         return Picture{};
                     });
}

void view_inspector(const AppState& state, const figure::Rect& area, bool open, const ViewTools& tools,
                    std::optional<CellAddress>& hovered) {
    draw_panel_background(area, tools, false);
    if (!open) {
        view_rail(area, translatable("common.inspector", "Inspector"), false, OpenInspector{true}, tools);
        return;
    }
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    Picture header;
    add_text(header.scene, {area.x + panel_pad, figure::baseline_for(area.y + strip_height / 2 - 1, 13)},
             tr("common.inspector", "Inspector"), figure::Font::ui_semibold, 13, theme.ink);
    header.scene.add(figure::LineItem{
        {area.x, area.y + strip_height}, {area.right(), area.y + strip_height}, theme.line, 1});
    const bool presented = state.presentation.on; // no controls that change the window or a number
    if (!presented) {
        const figure::Point tip{area.right() - 22, area.y + 22};
        draw_chevron(header.scene, tip, Pointing::right, theme.muted, 5);
        header.add_hotspot({tip.x - 16, area.y + 6, 26, 32}, "fold inspector", OpenInspector{false},
                           tr("panels.fold_panel", "Fold this panel"));
    }
    show_picture(header, origin.x, origin.y, tools, nullptr);
    if (!state.shown.ready())
        return;
    ViewTools kept = tools;
    kept.keeps_selection = true;
    const Screen screen = screen_of(state.shown, state.view);
    const bool of_stage =
        shows_stage_numbers(screen) && (screen != Screen::flow || !state.shown.document->is_checkpoint());
    const float field =
        !of_stage || presented
            ? 0
            : view_number_field(state, {area.x + 1, area.y + strip_height, area.w - 1, 0}, tools);
    scrolled_picture("inspector",
                     {area.x + 1, area.y + strip_height + field, area.w - 1, area.h - strip_height - field},
                     kept, &hovered, nullptr, [&](float width, float height) {
                         const DrawContext context = context_of(state, tools, width, height);
                         if (!of_stage)
                             return draw_screen_inspector(screen, context);
                         const Picture arithmetic = draw_inspector(context);
                         return presented ? arithmetic : with_selection_tools(arithmetic, context);
                     });
}

} // namespace headscope::app
