#include "app/draw/pages/score_products.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/map_layout.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace headscope::app {

namespace {

constexpr float between_heads = 44, factor_gap_of_scores = 16, name_line = 24, title_height = 34;
constexpr float narrowest_score = 40, widest_score = 60, narrowest_factor = 32, widest_factor = 44;
constexpr float lowest_score = 24, highest_score = 50, factor_row = 26, lowest_factor_row = 19;
constexpr float term_row = 30, terms_title = 52;

/// Positions of the product of one head; the others have the same ones further right.
struct ProductPlaces {
    float label_width = 0; ///< of the queries' words
    float factor_w = 0, score_w = 0, key_h = 0, score_h = 0;
    float block = 0;        ///< width of one head's product
    float column_words = 0; ///< height of the keys' words
    float height = 0;       ///< from the title to the end of the legend

    float map_x(std::int64_t dk) const {
        return label_width + factor_w * static_cast<float>(dk) + factor_gap_of_scores;
    }
    float map_y(std::int64_t dk) const {
        return title_height + name_line + key_h * static_cast<float>(dk) + column_words;
    }
};

/// Nothing if the numbers of all heads do not fit.
std::optional<ProductPlaces> places_of(const DrawContext& context, float top) {
    const Dims& d = context.dims();
    const auto H = static_cast<float>(d.H), dk = static_cast<float>(d.dk), Tk = static_cast<float>(d.Tk),
               Tq = static_cast<float>(d.Tq);
    ProductPlaces places{.label_width = row_label_width(context, false) + 8};
    const float room = (context.width - 2 * canvas_pad - (H - 1) * between_heads) / H;
    const float cells = room - places.label_width - factor_gap_of_scores;
    places.factor_w = std::clamp(cells / (dk + 1.5F * Tk), narrowest_factor, widest_factor);
    places.score_w = std::min((cells - dk * places.factor_w) / Tk, widest_score);
    places.column_words = column_label_height(context, places.score_w, true) + 10;
    places.key_h = factor_row;
    const auto height_left = [&] { return context.height - top - places.map_y(d.dk) - legend_height; };
    places.score_h = std::min(height_left() / Tq, highest_score);
    if (places.score_h < lowest_score) {
        places.key_h = lowest_factor_row;
        places.score_h = std::min(height_left() / Tq, highest_score);
    }
    if (places.score_w < narrowest_score || places.score_h < lowest_score)
        return std::nullopt;
    places.block = places.map_x(d.dk) + places.score_w * Tk;
    places.height = places.map_y(d.dk) + places.score_h * Tq + legend_height;
    return places;
}

MatrixSpec factor_of(const DrawContext& context, TensorId id, std::int64_t head, std::int64_t owner) {
    const Dims& d = context.dims();
    const bool keys = id == TensorId::k_heads;
    MatrixSpec spec{.tensor = id,
                    .origin = {context.view.batch, head, 0, 0},
                    .row_axis = keys ? 3 : 2,
                    .col_axis = keys ? 2 : 3,
                    .rows = keys ? d.dk : d.Tq,
                    .cols = keys ? d.Tk : d.dk,
                    .high = largest_magnitude(context, id, context.view.batch),
                    .owner = [owner](std::int64_t, std::int64_t) { return owner; }};
    return spec;
}

void name_dimension(Picture& picture, const DrawContext& context, float x, float y, std::int64_t d,
                    figure::Align align) {
    draw_text(picture, context, x, y, "d " + std::to_string(d), figure::Font::mono, 12, context.theme.muted,
              align);
}

void draw_factor_name(Picture& picture, const DrawContext& context, float x, float y, const char* name,
                      const std::string& words, float room) {
    const float wide =
        draw_text(picture, context, x, y, name, figure::Font::mono_semibold, 15, context.theme.ink);
    if (wide + 8 + context.measure(words, figure::Font::ui, 12.5F) <= room)
        draw_text(picture, context, x + wide + 8, y, words, figure::Font::ui, 12.5F, context.theme.muted);
}

void draw_product_of_head(Picture& picture, const DrawContext& context, const ScoreMaps& maps,
                          const ProductPlaces& places, std::int64_t h, float x, float y) {
    const Dims& d = context.dims();
    const float map_x = x + places.map_x(d.dk), map_y = y + places.map_y(d.dk), q_x = x + places.label_width;
    const float width = places.block - places.label_width;
    draw_figure_title(picture, context, maps.title(h), q_x, y, width);
    if (context.controls && d.H > 1)
        picture.add_hotspot({q_x, y, width, 20}, "head " + std::to_string(h) + " by its title", PickHead{h},
                            tr("common.show_head", "Show head {}", h));

    MatrixSpec keys = factor_of(context, TensorId::k_heads, d.kv_head(h), h);
    keys.x = map_x;
    keys.y = y + title_height + name_line;
    keys.cell_w = places.score_w;
    keys.cell_h = places.key_h;
    const MatrixGrid key_grid = draw_matrix(picture, context, keys);
    MatrixSpec queries = factor_of(context, TensorId::q_heads, h, h);
    queries.x = q_x;
    queries.y = map_y;
    queries.cell_w = places.factor_w;
    queries.cell_h = places.score_h;
    const MatrixGrid query_grid = draw_matrix(picture, context, queries);
    draw_row_labels(picture, context, query_grid, false);
    MatrixSpec map = maps.map(h, places.score_w, places.score_h);
    map.x = map_x;
    map.y = map_y;
    const MatrixGrid grid = draw_matrix(picture, context, map);
    draw_column_labels(picture, context, grid, true);

    for (std::int64_t c = 0; c < d.dk; ++c) {
        const auto at = static_cast<float>(c);
        name_dimension(picture, context, map_x - 10,
                       figure::baseline_for(key_grid.area.y + (at + 0.5F) * places.key_h, 12), c,
                       figure::Align::right);
        name_dimension(picture, context, q_x + (at + 0.5F) * places.factor_w, map_y - 9, c,
                       figure::Align::center);
    }
    draw_factor_name(picture, context, map_x, key_grid.area.y - 8, "Kᵀ",
                     tr("score_products.keys_transposed", "keys, transposed"),
                     places.block - places.map_x(d.dk));
    draw_factor_name(picture, context, q_x, map_y - 28, "Q", tr("score_products.queries", "queries"),
                     places.factor_w * static_cast<float>(d.dk));
    // The words of the legend may begin left of the map.
    constexpr float bar = 130, around_words = 26;
    const float block_end = x + places.block + between_heads - 12,
                wanted = bar + around_words + context.measure(maps.unit, figure::Font::ui, 12.5F),
                legend_x = std::max(std::min(map_x, block_end - wanted), q_x);
    draw_legend(picture, context, legend_x, grid.area.bottom() + 18, bar, *map.ramp, grid.low, grid.high,
                maps.unit, false, false, block_end - legend_x);
}

/// The scores of one row as bars with a piece for each product of two numbers.
void draw_terms_of_head(Picture& picture, const DrawContext& context, const ProductPlaces& places,
                        std::int64_t h, std::int64_t i, float x, float y) {
    const Dims& d = context.dims();
    const std::int64_t b = context.view.batch, g = d.kv_head(h);
    const Theme& theme = context.theme;
    const figure::Color color = theme.head(h, d.H).colour;
    const float left = x + places.label_width, room = places.block - places.label_width - 52;
    // Negative pieces go to the left of the line at 0.
    double lowest = 0, highest = 0;
    std::vector<std::vector<double>> pieces(static_cast<std::size_t>(d.Tk));
    for (std::int64_t j = 0; j < d.Tk; ++j) {
        double low = 0, high = 0;
        for (std::int64_t c = 0; c < d.dk; ++c) {
            const double piece = static_cast<double>(context.shown.value({TensorId::q_heads, {b, h, i, c}})) *
                                 static_cast<double>(context.shown.value({TensorId::k_heads, {b, g, j, c}}));
            pieces[static_cast<std::size_t>(j)].push_back(piece);
            (piece < 0 ? low : high) += piece;
        }
        lowest = std::min(lowest, low);
        highest = std::max(highest, high);
    }
    const auto scale = static_cast<float>(static_cast<double>(room) / std::max(highest - lowest, 1e-6));
    const float zero = left + static_cast<float>(-lowest) * scale;
    for (std::int64_t j = 0; j < d.Tk; ++j) {
        const float top = y + static_cast<float>(j) * term_row,
                    baseline = figure::baseline_for(top + 11, 12.5F);
        draw_text(picture, context, left - 12, baseline, shortened(key_word(context.shown.problem(), j), 10),
                  figure::Font::ui, 13, theme.text, figure::Align::right);
        float low = zero, high = zero;
        double sum = 0;
        for (std::size_t c = 0; c < pieces[static_cast<std::size_t>(j)].size(); ++c) {
            const double piece = pieces[static_cast<std::size_t>(j)][c];
            const float wide = std::abs(static_cast<float>(piece)) * scale;
            float& end = piece < 0 ? low : high;
            const float from = piece < 0 ? end - wide : end;
            const float shade = 0.95F - 0.6F * static_cast<float>(c) /
                                            static_cast<float>(std::max<std::int64_t>(d.dk - 1, 1));
            picture.scene.add(figure::RectItem{
                .area = {from, top, std::max(wide - 1, 0.0F), 20},
                .fill = figure::with_alpha(color, static_cast<std::uint32_t>(255.0F * shade))});
            if (wide >= context.measure("-0.00", figure::Font::mono, 12) + 8)
                draw_text(picture, context, from + wide / 2, figure::baseline_for(top + 10, 12),
                          number(piece, 2), figure::Font::mono, 12, shade > 0.6F ? theme.canvas : theme.ink,
                          figure::Align::center);
            end += piece < 0 ? -wide : wide;
            sum += piece;
        }
        picture.scene.add(figure::LineItem{{zero, top - 3}, {zero, top + 23}, theme.ink, 1});
        draw_text(picture, context, high + 8, baseline, number(sum, 2), figure::Font::mono, 12.5F,
                  theme.text);
    }
}

/// The query of the current score, else the row that is stepped to.
std::int64_t row_in_focus(const DrawContext& context) {
    const auto cell = current_cell(context.shown, context.view);
    const std::int64_t i = cell && cell->tensor == TensorId::scores
                               ? cell->at[2]
                               : current_row(context.view, context.shown.position);
    return std::clamp<std::int64_t>(i, 0, context.dims().Tq - 1);
}

} // namespace

bool draw_score_products(Picture& picture, const DrawContext& context, const ScoreMaps& maps, float top) {
    const std::optional<ProductPlaces> places = places_of(context, top);
    if (!places)
        return false;
    const Dims& d = context.dims();
    const auto x_of = [&](std::int64_t h) {
        return canvas_pad + static_cast<float>(h) * (places->block + between_heads);
    };
    for (std::int64_t h = 0; h < d.H; ++h)
        draw_product_of_head(picture, context, maps, *places, h, x_of(h), top);
    float end = top + places->height;
    const float wanted = terms_title + term_row * static_cast<float>(d.Tk);
    if (context.height - end >= wanted) {
        const std::int64_t i = row_in_focus(context);
        draw_hairline(picture, context, canvas_pad, end + 6, context.width - 2 * canvas_pad);
        draw_text(picture, context, canvas_pad, end + 34,
                  tr("score_products.terms_of_row", "The scores of “{}”, term by term",
                     shortened(query_word(context.shown.problem(), i), 12)),
                  figure::Font::ui_semibold, 15, context.theme.ink);
        draw_text(picture, context, context.width - canvas_pad, end + 34,
                  tr("score_products.length_is_product", "length = q × k, one piece per d"), figure::Font::ui,
                  12.5F, context.theme.muted, figure::Align::right);
        for (std::int64_t h = 0; h < d.H; ++h)
            draw_terms_of_head(picture, context, *places, h, i, x_of(h), end + terms_title);
        end += wanted;
    }
    picture.scene.width = std::max(picture.scene.width, x_of(d.H - 1) + places->block + canvas_pad);
    picture.scene.height = std::max(picture.scene.height, end);
    return true;
}

} // namespace headscope::app
