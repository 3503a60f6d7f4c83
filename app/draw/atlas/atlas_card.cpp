#include "app/draw/atlas/atlas.h"
#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/prompts/prompt_mean.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

using analysis::HeadScore;
using figure::Align;
using figure::Font;

std::string score_sentence(const analysis::HeadScoreInfo& score) {
    std::string says = tr(score.label.says);
    says.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(says.front())));
    return says + ": " + tr(score.formula) + ".";
}

/// The evidence for the head's label: the measured score and the label's threshold.
std::string evidence(const AtlasScene& scene, std::int64_t l, std::int64_t h) {
    const auto label = scene.resolved.labels[static_cast<std::size_t>(l * scene.atlas.H + h)];
    if (!label)
        return tr("atlas_card.no_score_names_heads", "No score reaches the threshold of a label here.") +
               (scene.atlas.survey != nullptr || scene.atlas.mean != nullptr
                    ? ""
                    : " " + tr("atlas_card.one_text_says_little",
                               "One text is little evidence: a head may behave differently on another one."));
    const analysis::HeadScoreInfo& score = analysis::info_of(*label);
    const analysis::HeadMetrics& metrics = *scene.atlas.labelled(l, h);
    if (analysis::is_beside_first(metrics, scene.view().thresholds))
        return score_sentence(score) + " " +
               tr("atlas_card.most_weight_first_token",
                  "Most of its weight is on the first token. The label describes the rest of each row, "
                  "rescaled to the sum 1: its score there is {}; the label applies from {}.",
                  score_text(*label, metrics.beside[static_cast<std::size_t>(*label)]),
                  number(static_cast<double>(scene.view().thresholds[static_cast<std::size_t>(*label)]), 2));
    const std::string value = score_text(*label, metrics[*label]),
                      from = number(
                          static_cast<double>(scene.view().thresholds[static_cast<std::size_t>(*label)]), 2);
    const auto measured = [&] { // the score and its threshold
        if (score.of == analysis::ScoreSource::probe)
            return tr_n(
                "atlas_card.over_text_random_tokens",
                "The score is {} over {} text of {} random tokens, repeated once; the label applies from {}.",
                "The score is {} over {} texts of {} random tokens, repeated once; the label applies from "
                "{}.",
                scene.atlas.probe_texts, value, grouped(scene.atlas.probe_texts),
                grouped(scene.atlas.probe_length), from);
        if (scene.atlas.survey != nullptr)
            return tr_n(
                "atlas_card.average_over_piece_corpus",
                "The score is {} on average over {} piece of text of the corpus; the label applies from {}.",
                "The score is {} on average over {} pieces of text of the corpus; the label applies from {}.",
                scene.atlas.survey->pieces, value, grouped(scene.atlas.survey->pieces), from);
        if (scene.atlas.mean != nullptr)
            return tr_n("atlas_card.average_over_prompts",
                        "The score is {} on average over {} prompt of the list; the label applies from {}.",
                        "The score is {} on average over {} prompts of the list; the label applies from {}.",
                        scene.atlas.mean->prompts, value, scene.atlas.mean->prompts, from);
        return tr("atlas_card.over_rows_text_head",
                  "The score is {} over the rows of this text; the label applies from {}.", value, from);
    };
    return score_sentence(score) + " " + measured();
}

/// The label used by the grid next to the stages and the tab Heads, if it differs; otherwise empty.
std::string other_name(const AtlasScene& scene, std::int64_t l, std::int64_t h) {
    const auto row = scene.context.head_grid->row(l);
    if (row == nullptr || std::cmp_less_equal(std::ssize(row->heads), h))
        return {};
    const Pattern& pattern = pattern_of(row->heads[static_cast<std::size_t>(h)].facts.metrics);
    if (pattern.letter == scene.letter(l, h))
        return {};
    return pattern.label.empty() ? tr("atlas_card.tab_heads_board_beside",
                                      "The tab Heads and the grid next to the stages use only the rows of "
                                      "this text and the default thresholds: there it has no label.")
                                 : tr("atlas_card.tab_heads_board_beside_2",
                                      "The tab Heads and the grid next to the stages use only the rows of "
                                      "this text and the default thresholds: there its label is “{}”.",
                                      tr(pattern.label));
}

std::string being_measured(analysis::ScoreSource source, const std::string& share) {
    using enum analysis::ScoreSource;
    return source == comparison
               ? tr("atlas_card.changes_measured_done", "The changes are being measured: {} done.", share)
           : source == probe
               ? tr("atlas_card.probe_measured_done", "The probe is being measured: {} done.", share)
           : source == further_runs ? tr("atlas_card.ablation_effect_measured_done",
                                         "The ablation effect is being measured: {} done.", share)
           : source == needles
               ? tr("atlas_card.retrieval_measured_done", "Retrieval is being measured: {} done.", share)
               : tr("atlas_card.ov_copying_measured_done", "OV copying is being measured: {} done.", share);
}

void add_scores(Sheet& sheet, const AtlasScene& scene, std::int64_t l, std::int64_t h) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    // Translators: the heading of a head's ranks among {} heads
    sheet.section(tr("atlas_card.scores_head", "Scores") + (scene.difference() ? ", B − A" : ""),
                  tr("atlas_card.rank", "rank of {}", grouped(scene.atlas.L * scene.atlas.H)));
    const float bar = sheet.left + 128, rank = sheet.right, value = sheet.right - 36;
    const float length = std::max(16.0F, value - 62 - bar);
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        const auto score = scene.score(l, h, info.score);
        if (!score)
            continue;
        const ScoreAxis axis = axis_of(scene, info.score, false);
        std::int64_t before = 0;
        for (const auto& head : scene.atlas.heads)
            before +=
                head && head->has(info.score) && static_cast<double>((*head)[info.score]) > *score ? 1 : 0;
        const bool strong = info.score == scene.resolved.colour;
        sheet.put(sheet.left, tr(info.name), 124, strong ? Font::ui_semibold : Font::ui, 12,
                  strong ? theme.ink : theme.text);
        const float middle = sheet.y + Sheet::row_height / 2;
        const float zero = bar + length * static_cast<float>(axis.place(0)),
                    end = bar + length * static_cast<float>(axis.place(*score));
        sheet.picture.scene.add(figure::RectItem{.area = {bar, middle - 4, length, 8}, .fill = theme.line});
        sheet.picture.scene.add(
            figure::RectItem{.area = {std::min(zero, end), middle - 4, std::abs(end - zero), 8},
                             .fill = strong ? theme.ink : theme.muted});
        std::string words = scene.score_label(l, h, info.score);
        sheet.put(value, words.substr(0, words.find(' ')), 60, strong ? Font::mono_semibold : Font::mono, 12,
                  theme.ink, Align::right);
        sheet.put(rank, grouped(before + 1), 34, Font::mono, 12, theme.muted, Align::right);
        sheet.picture.tips.push_back(
            {{sheet.left, sheet.y, sheet.width(), 22},
             tr(info.name) + " " + words + scene.spread_after(l, h, info.score) + "\n" + tr(info.formula)});
        sheet.y += 22;
    }
    for (const auto& [source, work] : scene.atlas.works)
        if (work.fraction)
            sheet.paragraph(being_measured(source, percent_text(static_cast<double>(*work.fraction))),
                            theme.muted);
    if (scene.atlas.needle)
        sheet.paragraph(tr_n("atlas_card.retrieval_needles_different",
                             "Retrieval: of the distinct tokens of the hidden sentence (the needle), the "
                             "model wrote {} (mean over {} text); no head can copy more.",
                             "Retrieval: of the distinct tokens of the hidden sentence (the needle), the "
                             "model wrote {} (mean over {} texts); no head can copy more.",
                             scene.atlas.needle->texts, percent_text(scene.atlas.needle->written),
                             grouped(scene.atlas.needle->texts)),
                        theme.muted);
    sheet.y += 4;
}

/// The words around a weight, with the key on an amber background and the query on an ink one. `keys` and
/// `queries` are the tokens of the whole text.
void draw_words(Sheet& sheet, const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                const analysis::PlacedWeight& weight, float left, float right, float y) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    float x = left;
    const auto word = [&](const std::string& text, figure::Color back, figure::Color ink) {
        const float pad = figure::is_visible(back) ? 5.0F : 0.0F,
                    width = context.measure(text, Font::ui, 12.5F) + 2 * pad;
        if (x + width > right)
            return;
        if (figure::is_visible(back))
            sheet.picture.scene.add(figure::RectItem{.area = {x, y, width, 20}, .fill = back, .radius = 3});
        draw_text(sheet.picture, context, x + pad, figure::baseline_for(y + 10, 12.5F), text, Font::ui, 12.5F,
                  ink);
        x += width + 5;
    };
    const auto token = [&](std::int64_t at) { return shortened(keys[static_cast<std::size_t>(at)], 10); };
    const figure::Color amber = ramp_color(theme.head_background, 1);
    const auto [i, j, value] = weight;
    const bool crossed = &queries != &keys || j > i;
    if (j > 0)
        word(token(j - 1), 0, theme.text);
    if (i == j && !crossed)
        return word(token(j), theme.ink, theme.canvas);
    word(token(j), amber, text_on(amber));
    if (!crossed) {
        if (i - j > 3) {
            word(token(j + 1), 0, theme.text);
            word("…", 0, theme.muted);
        }
        for (std::int64_t at = std::max(j + 1, i - (i - j > 3 ? 1 : 2)); at < i; ++at)
            word(token(at), 0, theme.text);
    } else {
        word("…", 0, theme.muted);
    }
    word(shortened(queries[static_cast<std::size_t>(i)], 10), theme.ink, theme.canvas);
}

/// A framed example: the words, the tokens of the weight, and the number.
void draw_example(Sheet& sheet, const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                  const analysis::PlacedWeight& weight, const std::string& says, const std::string& value,
                  const std::string& spot, const Action& action, const std::string& tip) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const figure::Rect box{sheet.left, sheet.y, sheet.width(), 52};
    sheet.picture.scene.add(figure::RectItem{.area = box, .stroke = theme.line2, .radius = 5});
    draw_words(sheet, queries, keys, weight, box.x + 9, box.right() - 9, box.y + 6);
    draw_text(sheet.picture, context, box.right() - 9, box.y + 43, value, Font::mono_semibold, 12, theme.ink,
              Align::right);
    sheet.y = box.y + 27;
    sheet.put(box.x + 9, says, box.w - 100, Font::ui, 12, theme.muted);
    if (context.controls)
        sheet.picture.add_hotspot(box, spot, action, tip);
    sheet.y = box.bottom() + 8;
}

/// The message of a button that is disabled while the weights are shown transformed.
Action read_otherwise() {
    return Explain{tr("atlas_card.weights_filtered_merged_show",
                      "The weights are filtered or merged; switch that off in Heads.")};
}

void add_acts(Sheet& sheet, const AtlasScene& scene, const ActingCells& acts) {
    const DrawContext& context = sheet.context;
    sheet.section(tr("atlas_card.acts_most", "Where it acts most"), tr("common.weight", "weight"));
    if (acts.cells.empty())
        sheet.paragraph(tr("atlas_card.reads_nothing_first_token", "It reads only the first token."),
                        context.theme.muted);
    const bool why = has_screen(*context.shown.document, Screen::why) &&
                     context.view.attention.stack == checkpoint::Stack::own;
    const bool as_they_are = scene.info().reading.empty();
    const bool same_tokens = !scene.info().cross && scene.info().Tq == scene.info().Tk;
    for (const analysis::PlacedWeight& weight : acts.cells) {
        const auto opens = [&](Screen screen) { return ShowWeight{weight.i, weight.j, screen}; };
        const std::string cell = std::to_string(weight.i) + " " + std::to_string(weight.j);
        const float wide = context.measure(tr("atlas_card.why", "why?"), Font::ui_medium, 12) + 8;
        const figure::Rect link{sheet.right - 46 - wide, sheet.y + 27, wide, 20};
        if (why && context.controls) // placed over the example, so it must be added first
            sheet.picture.add_hotspot(
                link, "why " + cell, as_they_are ? Action(opens(Screen::why)) : read_otherwise(),
                tr("atlas_card.shows_score_weight_made", "Shows the components of this weight's score"));
        draw_example(sheet, same_tokens ? acts.keys : acts.queries, acts.keys, weight,
                     tr("atlas_card.reads", "{} reads {}",
                        shortened(acts.queries[static_cast<std::size_t>(weight.i)], 10),
                        shortened(acts.keys[static_cast<std::size_t>(weight.j)], 10)),
                     number(static_cast<double>(weight.value), 2), "example " + cell, opens(Screen::stages),
                     tr("atlas_card.shows_weight_heads_map", "Shows this weight in the head’s map"));
        if (!why || !context.controls)
            continue;
        draw_text(sheet.picture, context, link.x + 4, link.y + 16, tr("atlas_card.why", "why?"),
                  Font::ui_medium, 12, context.theme.ink);
        sheet.picture.scene.add(figure::LineItem{
            {link.x + 4, link.bottom() - 1}, {link.right() - 4, link.bottom() - 1}, context.theme.ink, 1});
    }
}

/// The text score that corresponds to a probe score.
HeadScore of_a_text(HeadScore score) {
    return score == HeadScore::probe_previous    ? HeadScore::previous
           : score == HeadScore::probe_duplicate ? HeadScore::duplicate_text
           : score == HeadScore::probe_induction ? HeadScore::induction_text
                                                 : score;
}

/// Lists the corpus pieces with the largest values of the score that colors the grid.
void add_pieces(Sheet& sheet, const AtlasScene& scene) {
    const SurveyedHead& head = *scene.atlas.surveyed;
    const auto label =
        scene.resolved.labels[static_cast<std::size_t>(head.layer * scene.atlas.H + head.head)];
    const auto of = [&](HeadScore wanted) {
        return std::ranges::find(head.scores, of_a_text(wanted), &SurveyedHead::Score::score);
    };
    auto score = of(scene.resolved.colour);
    if (score == head.scores.end())
        score = of(label.value_or(HeadScore::previous));
    if (score == head.scores.end())
        return;
    // Translators: texts with the largest values of a score; the score's name follows
    sheet.section(tr("atlas_card.texts_most", "Highest scores"), name_of(score->score));
    sheet.paragraph(tr("atlas_card.mean_spread_over_all",
                       "mean {}, standard deviation {} over all pieces of text",
                       score_text(score->score, static_cast<float>(score->mean)), number(score->spread, 2)),
                    sheet.context.theme.muted);
    for (const SurveyedHead::Example& one : score->largest) {
        const auto T = std::ssize(one.tokens);
        if (one.query < T && one.key < T)
            draw_example(sheet, one.tokens, one.tokens, {one.query, one.key, one.weight},
                         tr("atlas_card.line_weight", "line {}, weight {}", grouped(one.line),
                            number(static_cast<double>(one.weight), 2)),
                         score_text(score->score, one.score), "text of line " + std::to_string(one.line),
                         TypePrompt{one.text, true},
                         one.text + "\n" +
                             tr("atlas_card.click_makes_prompt", "A click makes it the prompt."));
    }
}

void add_buttons(Sheet& sheet, const AtlasScene& scene, std::int64_t l, std::int64_t h) {
    const DrawContext& context = sheet.context;
    if (!context.controls)
        return;
    const std::string name = scene.name(l, h);
    const float half = (sheet.width() - 10) / 2;
    const auto button = [&](bool right, const std::string& label, const Action& action,
                            const std::string& tip) {
        draw_button(sheet.picture, context, {sheet.left + (right ? half + 10 : 0.0F), sheet.y, half, 32},
                    label, action, false, tip);
    };
    const GridHead place{l, h};
    const bool pinned = std::ranges::find(scene.view().pinned, place) != scene.view().pinned.end();
    button(false, tr("common.open_head", "Open head"), ShowScreen{Screen::stages},
           tr("common.weights_stages", "Its weights and stages"));
    button(true, pinned ? tr("common.unpin", "Unpin") : tr("atlas_card.pin", "Pin"), PinHead{place},
           tr("atlas_card.pinned_heads_stand_side", "Compare shows pinned heads side by side"));
    sheet.y += 40;
    if (!context.shown.document->is_checkpoint())
        return;
    const bool read_so = context.shown.document->shows_weights();
    const bool off = !read_so && context.shown.problem().gain(h) == 0.0F;
    button(false, off ? tr("common.switch_on", "Restore") : tr("common.switch", "Ablate"),
           read_so ? read_otherwise() : Command(SetGain{h, off ? 1.0F : 0.0F}),
           tr("common.sets_gain_everything_after", "Sets the head gain of {} to {}; all later numbers follow",
              name, off ? 1 : 0));
    if (has_screen(*context.shown.document, Screen::effects))
        button(true, tr("common.effects", "Effects"), ShowScreen{Screen::effects},
               tr("atlas_card.prediction", "Its effect on the prediction"));
    sheet.y += 40;
}

} // namespace

Picture draw_atlas_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.y = 18;
    const Atlas* const atlas = context.shown.atlas.get();
    const std::int64_t l = context.view.attention.layer, h = context.view.head;
    if (atlas != nullptr && !atlas->has(l, h)) {
        sheet.paragraph(tr("atlas_card.mean_heads_no_scores",
                           "A mean of heads has no scores of its own. Select a head in the grid."),
                        context.theme.muted);
        return sheet.finish();
    }
    if (context.head_grid != nullptr && !context.head_grid->info().has_weights(l)) {
        sheet.paragraph(tr("atlas_card.delta_layer",
                           "Layer {} has a delta layer in place of attention, so it has no heads.", l),
                        context.theme.muted);
        return sheet.finish();
    }
    if (atlas == nullptr || context.head_grid == nullptr ||
        context.head_grid->info().own_layers() != atlas->L || !atlas->at(l, h)) {
        sheet.paragraph(tr("atlas_card.head_measured", "The head is being measured."), context.theme.muted);
        return sheet.finish();
    }
    const AtlasScene scene(context, *atlas);
    std::string label = scene.label(l, h);
    if (!label.empty() && analysis::is_beside_first(*atlas->labelled(l, h), scene.view().thresholds))
        label = tr("common.beside_first_token", "{}, apart from the first token", label);
    sheet.headline("head" + (scene.info().axis == SetAxis::one ? "" : "[" + std::to_string(l) + "]") + "[" +
                       std::to_string(h) + "]",
                   scene.name(l, h), label.empty() ? tr("common.no_label", "no label") : label, 13);
    add_buttons(sheet, scene, l, h);
    sheet.section(label.empty() ? tr("atlas_card.why_no_label", "Why it has no label")
                                : tr("atlas_card.why_called", "Why it has this label"));
    sheet.paragraph(evidence(scene, l, h), context.theme.text);
    const bool of_b = atlas->mean == nullptr && atlas->side != Compare::baseline; // so is the grid
    if (const std::string other = of_b ? other_name(scene, l, h) : ""; !other.empty())
        sheet.paragraph(other, context.theme.text);
    if (atlas->survey != nullptr) {
        if (atlas->surveyed != nullptr && atlas->surveyed->layer == l && atlas->surveyed->head == h)
            add_pieces(sheet, scene);
    } else if (atlas->acts != nullptr && atlas->acts->layer == l && atlas->acts->head == h) {
        add_acts(sheet, scene, *atlas->acts);
    }
    add_scores(sheet, scene, l, h);
    return sheet.finish();
}

} // namespace headscope::app
