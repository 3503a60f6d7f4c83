#include "app/commands/actions.h"
#include "app/draw/effects/screens.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/state/attention_document.h"
#include "app/state/screens/screen.h"
#include "app/views/files/file_views.h"
#include "app/views/given_weights.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

DrawContext bar_context(const AppState& state, const ViewTools& tools, float width) {
    return {state.shown, state.drawn_view(), tools.theme, tools.measure, width, 0};
}

std::string sizes_text(const AttentionInfo& info) {
    std::string text = info.axis == SetAxis::layers
                           ? tr("attention_bars.layers", "layers {}", grouped(info.own_layers()))
                           : tr("attention_bars.sequences", "sequences {}", grouped(info.own_layers()));
    text += "  H " + grouped(info.own_heads());
    text += info.Tq == info.Tk ? "  T " + grouped(info.Tq)
                               : "  Tq " + grouped(info.Tq) + "  Tk " + grouped(info.Tk);
    return text + "  ·  " + info.held_as + "  ·  " + bytes_text(static_cast<std::int64_t>(info.bytes));
}

} // namespace

void view_attention_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const DrawContext context = bar_context(state, tools, area.w);
    const AttentionInfo& info = state.document->shown_weights()->info();
    tools.surface.need_glyphs(info.title);
    Picture picture;
    figure::Scene back;
    back.add(figure::RectItem{.area = area, .fill = theme.panel});
    back.add(figure::LineItem{{0, area.bottom() - 0.5F}, {area.w, area.bottom() - 0.5F}, theme.line, 1});
    paint(back, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    const std::string chosen = chosen_attention_text(info);
    const std::string title = shortened(info.title, chosen.empty() ? 48 : 24);
    const float name_width = tools.measure(title, figure::Font::ui_medium, 14.5F);
    const float file = view_file_button(state, {16, 10}, tools);
    const figure::Rect name{16 + file + 8, 10, name_width + 118, 32};
    picture.scene.add(
        figure::RectItem{.area = name, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    const float caption =
        draw_text(picture, context, name.x + 12, figure::baseline_for(26, 13),
                  tr("attention_bars.weights", "weights from"), figure::Font::ui, 13, theme.muted);
    draw_text(picture, context, name.x + 12 + caption + 8, figure::baseline_for(26, 14.5F), title,
              figure::Font::ui_medium, 14.5F, theme.ink);
    picture.tips.push_back({name, info.source});
    float x = name.right() + 12;
    if (!chosen.empty()) { // the file has other texts, or other attentions
        const float width = tools.measure(chosen, figure::Font::ui_medium, 13) + 26;
        draw_button(picture, context, {x, 10, width, 32}, chosen, ChooseAttention{}, false,
                    tr("attention_bars.choose", "Show another text or attention of this file"));
        x += width + 8;
    }
    draw_button(picture, context, {x, 10, 116, 32}, tr("attention_bars.close_file", "Close file"),
                NewProject{}, false,
                tr("attention_bars.back_computing_attention", "Back to computing attention from a sentence"));
    const bool grid_open = state.view.attention.head_grid_open;
    if (screen_of(state.shown, state.view) == Screen::stages)
        draw_button(
            picture, context, {x + 124, 10, 116, 32},
            grid_open ? tr("common.hide_board", "Hide grid") : tr("common.show_board", "Show grid"),
            ShowHeadGrid{!grid_open}, false,
            with_key(tr("attention_bars.all_heads_beside_open", "All heads beside the open one"), "board"));
    const std::vector<Segment> screens = screen_segments(*state.document, state.shown, state.view);
    draw_segmented(picture, context, area.w - 16 - 80 - segmented_width(context, screens), 12, screens);
    add_icon_buttons(state, picture, tools, area.w - 16);
    show_picture(picture, origin.x, origin.y, tools, nullptr);
}

void view_attention_strip(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const float scale = tools.surface.scale();
    const DrawContext context = bar_context(state, tools, area.w);
    Picture picture;
    picture.scene.add(figure::LineItem{{0, area.h - 0.5F}, {area.w, area.h - 0.5F}, theme.line, 1});
    const std::string label(group_info(StageGroup::weights).label);
    const float baseline = figure::baseline_for(area.h / 2 - 1, 13);
    const float width =
        draw_text(picture, context, canvas_pad, baseline, label, figure::Font::ui_semibold, 13, theme.ink);
    picture.scene.add(figure::RectItem{.area = {canvas_pad, area.h - 2, width, 2}, .fill = theme.ink});
    const std::string_view made = weights_without_stages(state)->info().made_head.english;
    draw_text(picture, context, canvas_pad + width + 20, baseline,
              !shows_transformed_weights(state)
                  ? tr("attention_bars.one_stage_file_holds", "the only stage in the file")
              : made == "rollout" ? tr("attention_bars.all_rollout_open_one",
                                       "the only stage of a rollout; open a head for the other stages")
              : made == "flow"    ? tr("attention_bars.all_flow_open_one",
                                       "the only stage of a flow; open a head for the other stages")
                                  : tr("attention_bars.all_mean_open_one",
                                       "the only stage of a mean; open a head for the other stages"),
              figure::Font::ui, 13, theme.muted);
    show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
}

void view_attention_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const DrawContext context = bar_context(state, tools, area.w);
    const AttentionSetPtr given = weights_without_stages(state);
    const AttentionInfo& info = given->info();
    const std::int64_t layer =
        (shows_transformed_weights(state) ? state.shown.document : state.document)->layer();
    Picture picture;
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel});
    picture.scene.add(figure::LineItem{{0, area.y}, {area.w, area.y}, theme.line, 1});
    const float center = area.y + area.h / 2, baseline = figure::baseline_for(center, 13);
    const std::int64_t ready = state.head_grid == nullptr ? info.L : state.head_grid->ready();
    if (ready < info.L) {
        const figure::Rect track{32, center - 3, 220, 6};
        const float share = static_cast<float>(ready) / static_cast<float>(info.L);
        picture.scene.add(figure::RectItem{.area = track, .fill = theme.line2, .radius = 3});
        picture.scene.add(figure::RectItem{
            .area = {track.x, track.y, track.w * share, track.h}, .fill = theme.ink, .radius = 3});
        draw_text(picture, context, track.right() + 14, baseline,
                  info.mean_layer
                      ? tr("attention_bars.reading_heads_rows_board",
                           "reading heads: {} of {} rows of the grid", grouped(ready), grouped(info.L))
                  : info.axis == SetAxis::layers
                      ? tr("attention_bars.reading_heads_layers", "reading heads: {} of {} layers",
                           grouped(ready), grouped(info.L))
                      : tr("attention_bars.reading_heads_sequences", "reading heads: {} of {} sequences",
                           grouped(ready), grouped(info.L)),
                  figure::Font::ui, 13, theme.text);
    } else {
        draw_text(picture, context, 32, baseline,
                  state.running
                      ? tr("attention_bars.reading", "reading {} …", analysis::layer_name(info, layer))
                      : tr("attention_bars.heads_layers_shift_arrows",
                           "← → heads    ↑ ↓ layers    Shift and arrows: next weight    {} all keys",
                           key_hint("help")),
                  figure::Font::ui, 13, theme.muted);
    }
    draw_text(picture, context, area.w - 24, baseline, sizes_text(info), figure::Font::ui, 13, theme.text,
              figure::Align::right);
    show_picture(picture, origin.x, origin.y, tools, nullptr);
}

} // namespace headscope::app
