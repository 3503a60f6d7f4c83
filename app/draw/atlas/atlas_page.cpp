#include "app/commands/actions.h"
#include "app/draw/atlas/atlas.h"
#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/prompts/mean_text.h"
#include "core/analysis/heads/head_filter.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float beside_from = 780;      ///< minimum width of a canvas with the scatter plot next to the grid
constexpr float least_histograms = 150; ///< minimum space below the grid for a row of histograms
constexpr float chips_top = 92, parts_top = 128;
constexpr float reading_height = 40; ///< height of the note about transformed weights

AtlasChange change(AtlasPane pane) {
    return ShowAtlasPane{pane};
}

/// Describes the texts on which the scores were measured.
std::string measured_on(const Atlas& atlas, const AttentionInfo& info) {
    if (atlas.survey != nullptr)
        // Translators: probe and copying are scores that are measured without any text
        return tr_n("atlas_page.means_over_piece_tokens",
                    "means over {} piece of text, {} tokens; probe and copying use no text",
                    "means over {} pieces of text, {} tokens; probe and copying use no text",
                    atlas.survey->pieces, grouped(atlas.survey->pieces), grouped(atlas.survey->tokens));
    if (atlas.mean != nullptr)
        // Translators: probe and copying are scores that are measured without any text
        return tr("atlas_page.mean_of_prompts", "{}; probe and copying use no text",
                  mean_caption(*atlas.mean));
    if (info.Tq != info.Tk)
        return tr("atlas_page.all_scores_over_text", "all scores over this text, {} queries, {} keys",
                  grouped(info.Tq), grouped(info.Tk));
    return tr_n("atlas_page.all_scores_over_text_2", "all scores over this text, {} token",
                "all scores over this text, {} tokens", info.Tq, grouped(info.Tq));
}

std::string words_of(const LabelInfo& label) {
    return label.text.empty() ? tr("common.no_label", "no label") : tr(label.text);
}

/// Labels with their letters and counts. They serve as the legend, and a click selects their heads.
void draw_chips(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    std::vector<std::int64_t> counts;
    float wide = 0;
    for (const LabelInfo& label : atlas_labels()) {
        std::int64_t count = 0;
        for (std::int64_t l = 0; l < scene.atlas.L; ++l)
            for (std::int64_t h = 0; h < scene.atlas.H; ++h)
                count += scene.letter(l, h) == label.letter ? 1 : 0;
        counts.push_back(count);
        if (count > 0)
            wide += context.measure(words_of(label), Font::ui, 12.5F) + 70;
    }
    float x = room.x;
    for (std::size_t n = 0; n < counts.size(); ++n) {
        const LabelInfo& label = atlas_labels()[n];
        if (counts[n] == 0)
            continue;
        const std::string letter(1, label.letter), words = words_of(label), count = grouped(counts[n]);
        const bool on = context.view.attention.pattern == letter;
        const figure::Color ink = on ? theme.canvas : theme.ink, pale = on ? theme.canvas : theme.muted;
        float width = 30 + context.measure(count, Font::mono, 12.5F) + 10;
        if (wide <= room.w)
            width += context.measure(words, Font::ui, 12.5F) + 8;
        const figure::Rect area{x, room.y, width, 26};
        picture.scene.add(figure::RectItem{
            .area = area, .fill = on ? theme.ink : theme.raise, .stroke = theme.line2, .radius = 5});
        const float baseline = figure::baseline_for(area.y + area.h / 2, 12.5F);
        draw_text(picture, context, x + 10, baseline, label.letter == '-' ? "·" : letter, Font::mono_semibold,
                  12.5F, ink);
        if (wide <= room.w)
            draw_text(picture, context, x + 26, baseline, words, Font::ui, 12.5F, ink);
        draw_text(picture, context, area.right() - 10, baseline, count, Font::mono, 12.5F, pale,
                  Align::right);
        picture.add_hotspot(area, "label " + (label.text.empty() ? "none" : std::string(label.text.english)),
                            MarkPattern{letter},
                            on ? tr("atlas_page.click_takes_choice_back",
                                    "{}: {}. A click clears the selection.", words, label.meaning)
                               : words + ": " + label.meaning);
        x += width + 8;
    }
}

void draw_search(Picture& picture, const AtlasScene& scene, float x, float y, float width) {
    const DrawContext& context = scene.context;
    if (!context.controls)
        return;
    const float caption = draw_text(picture, context, x, figure::baseline_for(y + 14, 12.5F),
                                    tr("common.find", "find"), Font::ui, 12.5F, context.theme.muted);
    picture.fields.push_back({.area = {x + caption + 8, y, width - caption - 8, 28},
                              .label = "find heads",
                              .text = scene.view().search,
                              .action =
                                  [](const std::string& text) {
                                      analysis::HeadFilter::parse(text);
                                      return SearchHeads{text};
                                  },
                              .tip = tr("atlas_page.l5h3_induction_0_4",
                                        "L5H3, induction > 0.4, previous token; separate several by commas"),
                              .acts_on_each_letter = true});
}

/// Draws the pane next to the grid or below it. histograms: also the histograms below the pane.
float draw_beside(Picture& picture, const AtlasScene& scene, const figure::Rect& room, bool histograms) {
    const DrawContext& context = scene.context;
    const AtlasPane pane = scene.view().pane;
    const auto segment = [&](const std::string& label, AtlasPane of, const std::string& tip) {
        return Segment{.label = label, .action = change(of), .on = pane == of, .tip = tip};
    };
    float y = room.y;
    if (context.controls) {
        const std::vector<Segment> panes{
            // Translators: three views of all heads: a scatter plot, a similarity map, a list
            segment(tr("atlas_page.scatter", "Scatter"), AtlasPane::scatter,
                    tr("atlas_page.all_heads_two_scores", "All heads by two scores")),
            segment(tr("atlas_page.alike", "Alike"), AtlasPane::similarity,
                    tr("atlas_page.heads_read_alike_stand",
                       "Heads with similar attention weights are close together")),
            segment(tr("atlas_page.list", "List"), AtlasPane::list,
                    tr("atlas_page.heads_row_row_sorted", "Heads row by row, sorted by a score"))};
        const float width = segmented_width(context, panes);
        draw_segmented(picture, context, room.x, y, panes);
        if (pane == AtlasPane::scatter && room.w > width + 100)
            draw_text_button(
                picture, context, room.x + width + 12, y + 2, tr("atlas_page.stretched", "Stretched"),
                scene.view().stretched, StretchAxes{!scene.view().stretched},
                tr("atlas_page.spreads_heads_near_zero", "Spreads heads near zero, with asinh axes"));
        const float button = scene.resolved.is_filtered ? 90.0F : 0.0F,
                    find = std::min(room.w - button, 320.0F);
        draw_search(picture, scene, room.x, y + 42, find);
        if (scene.resolved.is_filtered)
            draw_text_button(picture, context, room.x + find + 10, y + 44,
                             tr("common.all_heads", "All heads"), false, ChooseAllHeads{},
                             with_key(tr("atlas_page.takes_back_brush_search",
                                         "Clears the selection by rectangle, search and label"),
                                      "all heads"));
        y += 86;
    }
    if (pane == AtlasPane::list)
        return draw_atlas_list(picture, scene, {room.x, y, room.w, 0});
    const float share = histograms ? 0.42F : 0.56F;
    const float height = std::clamp(std::min(room.w * 0.95F, context.height * share), 220.0F, 480.0F);
    y = draw_atlas_scatter(picture, scene, {room.x, y, room.w, height});
    return histograms ? draw_atlas_histograms(picture, scene, {room.x, y + 12, room.w, 0}) : y;
}

/// If scores, marks and labels were computed from transformed weights, shows a note and a button that shows
/// the original weights. Returns the height; 0 without a note.
float draw_reading_note(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const std::string& note = scene.info().reading;
    if (note.empty())
        return 0;
    const std::string back = tr("atlas_page.show", "Show them as they are");
    const float button = context.controls ? context.measure(back, Font::ui_medium, 12.5F) + 40 : 0.0F;
    const figure::Rect area{room.x, room.y, room.w, reading_height - 8};
    picture.scene.add(figure::RectItem{.area = area, .fill = context.theme.highlight, .radius = 5});
    picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = context.theme.ink});
    const std::string words =
        tr("atlas_page.weights_here_every_score", "Weights here: {}. Every score uses these.", note);
    const float room_of_words = area.w - 24 - button;
    const auto fits = [&](const std::string& text) {
        return context.measure(text, Font::ui, 12.5F) <= room_of_words;
    };
    const std::array shorter{words, tr("atlas_page.weights_here", "Weights here: {}", note), note};
    const auto* const fitting_words = std::ranges::find_if(shorter, fits);
    const std::string fitting = fitting_words != shorter.end()
                                    ? *fitting_words
                                    : fitted(context, note, Font::ui, 12.5F, room_of_words);
    draw_text(picture, context, area.x + 12, figure::baseline_for(area.y + area.h / 2, 12.5F), fitting,
              Font::ui, 12.5F, context.theme.ink);
    if (fitting != words)
        picture.tips.push_back({{area.x, area.y, area.w - button, area.h}, words});
    if (context.controls)
        draw_button(picture, context, {area.right() - button, area.y + 2, button - 2, area.h - 4}, back,
                    SetReadingOptions{}, false,
                    with_key(tr("atlas_page.measures_weights_run_again",
                                "Measures the heads again by the unchanged weights of the run"),
                             "hide first token"));
    return reading_height;
}

void draw_tiles_part(Picture& picture, const AtlasScene& scene, const figure::Rect& room, float& bottom) {
    const DrawContext& context = scene.context;
    const std::string title = tr("atlas_page.head_atlas", "Head atlas");
    const std::string what = scene.atlas.mean != nullptr         ? ", " + mean_caption(*scene.atlas.mean)
                             : scene.info().axis == SetAxis::one ? ", score[head]"
                                                                 : ", score[layer][head]";
    draw_view_heading(picture, context,
                      title + (scene.atlas.side == Compare::difference ? ", B − A"
                               : scene.atlas.side == Compare::baseline ? ", A"
                                                                       : ""),
                      set_size_text(scene.info()) + what);
    draw_score_button(picture, scene, room.right(), 28, AtlasMenu::colour, true);
    const float note = draw_reading_note(picture, scene, {room.x, chips_top, room.w, 0});
    const float top = parts_top + note;
    draw_chips(picture, scene, {room.x, chips_top + note, room.w, 26});
    bottom = draw_atlas_tiles(picture, scene, {room.x, top, room.w, room.h - top});
}

} // namespace

Picture draw_atlas_strip(const DrawContext& context) {
    const AtlasView& view = context.view.attention.atlas;
    const Atlas* const atlas = context.shown.atlas.get();
    const auto tab = [&](const std::string& label, AtlasTab of, const std::string& tip) {
        return Segment{.label = label, .action = ShowAtlasTab{of}, .on = view.tab == of, .tip = tip};
    };
    std::vector<Segment> tabs;
    if (context.shown.document->is_experiment()) // its toolbar has no space for the switch of screens
        tabs.push_back({.label = tr("common.stages_2", "← Stages"),
                        .action = ShowScreen{Screen::stages},
                        .on = false,
                        .tip = with_key(tr("common.back_walk_through_numbers",
                                           "Back to the model's numbers, stage by stage"),
                                        "stages screen")});
    tabs.push_back(tab(tr("atlas_page.text", "This text"), AtlasTab::text,
                       tr("atlas_page.board_scatter_every_score",
                          "The grid, the scatter plot and every score of this text")));
    if (atlas != nullptr && atlas->has_survey)
        tabs.push_back(
            tab(atlas->survey != nullptr ? tr("atlas_page.texts", "{} texts", grouped(atlas->survey->texts))
                                         : tr("atlas_page.survey", "Survey"),
                AtlasTab::survey,
                tr("atlas_page.means_over_corpus_survey", "Means over a corpus, from the open survey")));
    // Translators: a tab, with the number of compared heads
    tabs.push_back(tab(tr("atlas_page.compare", "Compare {}", view.pinned.size()), AtlasTab::compare,
                       tr("atlas_page.pinned_heads_side_side", "The pinned heads side by side")));
    Picture picture;
    draw_strip_tabs(picture, context, tabs, 32, {},
                    atlas == nullptr || context.head_grid == nullptr
                        ? ""
                        : measured_on(*atlas, context.head_grid->info()));
    return picture;
}

Picture draw_atlas_page(const DrawContext& context) {
    const Atlas* const atlas = context.shown.atlas.get();
    if (atlas == nullptr || context.head_grid == nullptr ||
        context.head_grid->info().own_layers() != atlas->L ||
        context.head_grid->info().own_heads() != atlas->H)
        return message_view(context, tr("atlas_page.head_atlas", "Head atlas"),
                            tr("atlas_page.heads_measured", "The heads are being measured."));
    Picture picture = empty_view(context);
    const AtlasView& view = context.view.attention.atlas;
    const AtlasScene scene(context, *atlas);
    picture.hotspots.reserve(2 * atlas->heads.size() + 64); // a tile and a point for each head
    picture.scene.items.reserve(4 * atlas->heads.size() + 256);
    const bool beside = context.width >= beside_from;
    const float whole = context.width - 2 * canvas_pad;
    float bottom = 0;
    if (view.tab == AtlasTab::survey && atlas->survey == nullptr)
        return message_view(context, tr("atlas_page.survey", "Survey"),
                            atlas->survey_error.empty()
                                ? tr("atlas_page.survey_read", "The survey is being read.")
                                : atlas->survey_error,
                            !atlas->survey_error.empty());
    if (view.tab == AtlasTab::compare) {
        bottom = draw_atlas_pinned(picture, scene, {canvas_pad, 0, whole, context.height});
        picture.scene.height = std::max(context.height, bottom + 24);
        return picture;
    }
    const float tiles_width = beside ? std::floor(whole * 0.56F) : whole;
    draw_tiles_part(picture, scene, {canvas_pad, 0, tiles_width, context.height}, bottom);
    const figure::Rect room =
        beside ? figure::Rect{canvas_pad + tiles_width + 36, 28, whole - tiles_width - 36, 0}
               : figure::Rect{canvas_pad, bottom + 16, whole, 0};
    // The distributions go where there is space: below a grid of few layers, otherwise below the scatter
    // plot.
    const bool below_tiles = beside && context.height - bottom > least_histograms;
    if (below_tiles)
        bottom = draw_atlas_histograms(picture, scene, {canvas_pad, bottom + 8, tiles_width, 0});
    bottom = std::max(bottom, draw_beside(picture, scene, room, !below_tiles));
    picture.scene.height = std::max(context.height, bottom + 24);
    return picture;
}

} // namespace headscope::app
