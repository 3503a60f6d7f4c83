#include "app/commands/notice.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/pages.h"
#include "app/state/model_document.h"
#include "core/attention/cost.h"
#include "core/base/message.h"
#include "core/text/lexicon.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

struct Source {
    TensorId tensor;
    std::string name, what;
    bool keys;
};

/// "sat: token 2, x = (0.00, 1.00, ...)", with at most 8 numbers. A long text has many tooltips, so they omit
/// the numbers.
std::string token_tip(const DrawContext& context, const Source& source, std::int64_t row, std::int64_t cols) {
    constexpr std::int64_t most = 8, longest_text = 64;
    const Problem& problem = context.shown.problem();
    const std::string word = source.keys ? problem.key_label(row) : problem.query_label(row);
    if (context.dims().Tq > longest_text)
        return tr("x_page.token", "{}: token {}", word, row);
    std::string numbers;
    for (std::int64_t c = 0; c < std::min(cols, most); ++c)
        numbers += (c > 0 ? ", " : "") +
                   number(context.shown.value({source.tensor, {context.view.batch, row, c, 0}}), 2);
    return tr("x_page.token_vector", "{}: token {}, vector ({})", word, row,
              numbers + (cols > most ? ", …" : ""));
}

/// Marks tokens that are in no word list, and offers word classes for the selected one or the first. Returns
/// the height used.
float draw_unlisted(Picture& picture, const DrawContext& context, const Source& source,
                    const MatrixGrid& grid, float y) {
    const Document& document = *context.shown.document;
    const project::Recipe& recipe = document.recipe;
    const std::vector<std::string> words =
        document.is_experiment() ? unknown_words(recipe, source.keys ? recipe.kv_sentence : recipe.sentence)
                                 : std::vector<std::string>{};
    if (words.empty())
        return 0;
    const Problem& problem = context.shown.problem();
    std::int64_t chosen = -1;
    for (std::int64_t row = grid.rows; row-- > 0;) {
        const std::string word = source.keys ? problem.key_label(row) : problem.query_label(row);
        const auto given = [&](std::int64_t col) { // set by the user
            return is_edited(document, source.tensor,
                             problem.input(source.tensor)->shape().offset(grid.index(row, col)));
        };
        if (std::ranges::find(words, word) == words.end() || given(0) || given(1) || given(2) || given(3))
            continue;
        const figure::Rect cell = grid.cell(row, 0);
        draw_text(picture, context, canvas_pad - 16, figure::baseline_for(cell.y + cell.h / 2, 13), "?",
                  figure::Font::ui_semibold, 13, context.theme.bad);
        const auto& selected = context.view.selected;
        if (chosen < 0 || !selected || selected->tensor != source.tensor || selected->at[1] != chosen)
            chosen = row;
    }
    if (chosen < 0)
        return 0;
    const std::string word = source.keys ? problem.key_label(chosen) : problem.query_label(chosen);
    const bool classes = recipe.preset == "first-lesson";
    float x = canvas_pad;
    x += draw_text(picture, context, x, figure::baseline_for(y + 12, 13),
                   // Translators: buttons follow: "noun", "verb", "modifier", "adverb"
                   classes ? tr("x_page.no_list_words_taken",
                                "? “{}” is not in a word list: taken as noun-like 0.80. Take it as", word)
                           : tr("x_page.no_list_words_taken_2",
                                "? “{}” is not in a word list: taken as an unknown word", word),
                   figure::Font::ui, 13, context.theme.text) +
         10;
    constexpr std::array<Message, 4> names{
        translatable("common.noun", "noun"), translatable("common.verb", "verb"),
        translatable("common.modifier", "modifier"), translatable("common.adverb", "adverb")};
    if (classes && x > context.width - canvas_pad - 260) {
        x = canvas_pad;
        y += 28;
    }
    const float rows = x == canvas_pad ? 68.0F : 40.0F;
    for (std::size_t c = 0; classes && c < names.size(); ++c) {
        format::Table table{.rows = 1, .cols = 4, .values = std::vector<float>(4, 0.0F)};
        table.values[c] = 1;
        x += draw_text_button(picture, context, x, y, tr(names[c]), false,
                              PasteBlock{{source.tensor, {context.view.batch, chosen, 0, 0}}, table},
                              tr("x_page.writes_class_columns_0",
                                 "Writes the class of a {} into columns 0 to 3 of this row", tr(names[c]))) +
             6;
    }
    return classes ? rows : 40.0F;
}

/// The list that gave the words of the sentence their classes; empty if there are no classes.
std::string word_list_text(const Document& document, bool keys) {
    const project::Recipe& recipe = document.recipe;
    const std::string& sentence = keys ? recipe.kv_sentence : recipe.sentence;
    if (!document.is_experiment() || !has_word_classes(recipe) || sentence.empty())
        return {};
    return text::word_list_of(text::split_words(sentence)) == text::WordList::german
               ? tr("x_page.word_classes_german_list", "word classes from the German list")
               : tr("x_page.word_classes_english_list", "word classes from the English list");
}

/// Draws X (or X_kv) with its tokens at the left and the names of its columns above. Returns the lower edge.
float draw_source(Picture& picture, const DrawContext& context, const Source& source, float y, float height) {
    const Theme& theme = context.theme;
    const Shape shape = context.shown.tensor(source.tensor)->shape();
    const std::int64_t rows = shape[1], cols = shape[2];
    const auto& features = context.shown.document->feature_names();
    const bool named = static_cast<std::int64_t>(features.size()) == cols;
    const float labels = row_label_width(context, source.keys);
    const float room = context.width - 2 * canvas_pad - labels;
    const float cell_w =
        std::clamp(std::floor(room / static_cast<float>(cols)), cols > 256 ? 1.0F : 3.0F, 120.0F);
    const bool show_names = named && cell_w >= 14;
    const float header = show_names ? 120.0F : 40.0F;
    const float cell_h = std::clamp(std::floor((height - header - 50) / static_cast<float>(rows)),
                                    least_row_height(static_cast<float>(rows)), 72.0F);
    MatrixSpec spec{.tensor = source.tensor,
                    .origin = {context.view.batch, 0, 0, 0},
                    .row_axis = 1,
                    .col_axis = 2,
                    .rows = rows,
                    .cols = cols,
                    .x = canvas_pad + labels,
                    .y = y + header,
                    .cell_w = cell_w,
                    .cell_h = cell_h,
                    .high = largest_magnitude(context, source.tensor, context.view.batch)};
    const MatrixGrid grid = draw_matrix(picture, context, spec);
    const float name = draw_text(picture, context, grid.area.x, y + 16, source.name,
                                 figure::Font::mono_semibold, 15, theme.ink);
    const std::string list = word_list_text(*context.shown.document, source.keys);
    draw_text(picture, context, grid.area.x + name + 12, y + 16,
              source.what + (list.empty() ? "" : " · " + list), figure::Font::ui, 12.5F, theme.muted);
    if (show_names) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const figure::Rect cell = grid.cell(0, c);
            add_text(picture.scene, {cell.x + cell.w / 2 + 4, grid.area.y - 20},
                     features[static_cast<std::size_t>(c)], figure::Font::ui, 12, theme.muted,
                     figure::Align::left, -50);
        }
    }
    if (cell_w >= 18)
        for (std::int64_t c = 0; c < cols; ++c) {
            const figure::Rect cell = grid.cell(0, c);
            draw_text(picture, context, cell.x + cell.w / 2, grid.area.y - 6, std::to_string(c),
                      figure::Font::mono, 12, theme.muted, figure::Align::center);
        }
    draw_row_labels(picture, context, grid, source.keys);
    for (std::int64_t row = 0; row < rows; ++row) {
        const figure::Rect cell = grid.cell(row, 0);
        picture.tips.push_back({{canvas_pad, cell.y, labels, cell_h}, token_tip(context, source, row, cols)});
    }
    float end = grid.area.bottom() + 20;
    end += draw_unlisted(picture, context, source, grid, end);
    if (grid.heatmap) {
        draw_legend(picture, context, grid.area.x, end, 160, theme.diverging, grid.low, grid.high,
                    context.difference() ? "B − A" : tr("common.value", "value"), false);
        end += 40;
    } else if (std::min(cell_w, cell_h) >= smallest_with_bar) {
        end = draw_paragraph(
            picture, context, grid.area.x, end + 6, std::max(grid.area.w, 320.0F),
            tr("common.bar_under_number_shows",
               "The bar under a number shows its size and, left or right of the tick, its sign."),
            figure::Font::ui, 12.5F, 18, theme.muted);
    }
    picture.scene.width = std::max(picture.scene.width, grid.area.right() + canvas_pad);
    return end;
}

constexpr float cache_height = 220; ///< of draw_cache_variants

/// Draws what a layer with latent vectors caches of a token, beside other ways. Returns the lower edge.
float draw_cache_variants(Picture& picture, const DrawContext& context, float x, float y) {
    constexpr float line = 22, name_end = 150, bar = 120, numbers_end = 370, bytes_end = 450;
    const Theme& theme = context.theme;
    const std::vector<CacheVariant> variants = cache_variants_of_latent(context.dims());
    const auto most = static_cast<float>(std::ranges::max(variants, {}, &CacheVariant::numbers).numbers);
    draw_text(picture, context, x, y + 16, tr("x_page.cached_of_token", "Cached of each token"),
              figure::Font::ui_semibold, 13, theme.ink);
    y += 26;
    for (const CacheVariant& variant : variants) {
        const bool own = variant.Hkv == 0;
        const float baseline = figure::baseline_for(y + line / 2, 12.5F);
        const figure::Color ink = own ? theme.ink : theme.text;
        const figure::Font font = own ? figure::Font::ui_semibold : figure::Font::ui;
        draw_text(picture, context, x, baseline, variant.text(), font, 12.5F, ink);
        const float length = std::max(1.0F, bar * static_cast<float>(variant.numbers) / most);
        picture.scene.add(figure::RectItem{.area = {x + name_end, y + line / 2 - 4, length, 8},
                                           .fill = own ? theme.ink : theme.muted});
        draw_text(
            picture, context, x + numbers_end, baseline,
            tr_n("x_page.numbers", "{} number", "{} numbers", variant.numbers, grouped(variant.numbers)),
            font, 12.5F, ink, figure::Align::right);
        draw_text(picture, context, x + bytes_end, baseline,
                  bytes_text(static_cast<std::int64_t>(sizeof(float)) * variant.numbers), font, 12.5F, ink,
                  figure::Align::right);
        y += line;
    }
    picture.scene.width = std::max(picture.scene.width, x + bytes_end + canvas_pad);
    return draw_paragraph(
        picture, context, x, y + 18, bytes_end,
        tr("x_page.cached_explained",
           "In bold: this layer, whose keys and values are computed from X_kv. The others would cache keys "
           "of width {} and values of width {} for Hkv heads. A number takes 4 bytes. Headscope itself "
           "caches K "
           "and V of every head.",
           context.dims().dk, context.dims().dv),
        figure::Font::ui, 12.5F, 18, theme.muted);
}

} // namespace

Picture draw_x_page(const DrawContext& context) {
    Picture picture;
    picture.scene.width = context.width;
    const bool cross = context.shown.problem().has_source(), latent = context.shown.problem().latent;
    const Document& document = *context.shown.document;
    const bool shared = latent && document.is_checkpoint() &&
                        document.part()->config().key_layer(document.layer()) != document.layer();
    draw_view_heading(picture, context, tr("common.token_vectors", "Token vectors"),
                      tr("x_page.x_one_row_per", "X: one row per token, D numbers each"));
    const float top = 104;
    const bool caches_latent = latent && !shared;
    const float room = context.height - top - (caches_latent ? cache_height : 0.0F);
    const Source x{TensorId::x, "X",
                   !cross   ? "T × D"
                   : latent ? tr("x_page.t_dq_queries_side", "T × {}, the queries' side",
                                 axis_name(Axis::Dq, context.dims()))
                            : tr("x_page.tq_d_queries_side", "Tq × D, the queries' side"),
                   false};
    float end = draw_source(picture, context, x, top, cross ? room / 2 : std::min(room, 560.0F));
    if (cross) {
        end = draw_source(
            picture, context,
            {TensorId::x_kv, "X_kv",
             shared   ? tr("x_page.shared_keys_values",
                           "T × Dkv: what layer {} reads, whose keys and values this layer shares",
                           document.part()->config().key_layer(document.layer()))
             : latent ? tr("x_page.latent_keys_values", "T × Dkv: latent vectors, then what rotates")
                      : tr("x_page.tk_dkv_keys_values", "Tk × Dkv, the keys' and values' side"),
             true},
            end + 8, room / 2);
        if (caches_latent)
            end = draw_cache_variants(picture, context, canvas_pad + row_label_width(context, true), end + 8);
    }
    picture.scene.height = std::max(context.height, end);
    return picture;
}

} // namespace headscope::app
