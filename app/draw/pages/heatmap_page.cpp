#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/matrix/row_maxima.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/figure_weights.h"
#include "app/draw/pages/map_layout.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/score_products.h"
#include "app/draw/pages/weight_parts.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

namespace headscope::app {

namespace {

constexpr float narrowest_with_maps = 460.0F;
constexpr float small_maps_below =
    22.0F; ///< with smaller cells, the heads become a grid next to one open head

/// The content of the view's maps.
struct Subject {
    TensorId tensor;
    const TensorInfo& info;
    bool weights;
    float low = 0, high = 1; ///< range over all heads
};

struct ValueRange {
    float low = 0, high = 1;
};

ValueRange range_of(const DrawContext& context, TensorId id, std::int64_t first_head, std::int64_t heads) {
    const Dims& dims = context.dims();
    const Tensor& tensor = *context.shown.tensor(id);
    const auto compute = [&] {
        const auto per_head = static_cast<std::size_t>(dims.Tq * dims.Tk);
        const auto begin = static_cast<std::size_t>(context.view.batch * dims.H + first_head) * per_head;
        ValueRange range{INFINITY, -INFINITY};
        for (const float value : tensor.values().subspan(begin, per_head * static_cast<std::size_t>(heads)))
            if (std::isfinite(value)) {
                range.low = std::min(range.low, value);
                range.high = std::max(range.high, value);
            }
        // Weights are fractions, so their range starts at zero; for scores, zero has no special meaning for
        // the softmax.
        if (tensor_info(id).scale == Scale::shares)
            range.low = 0;
        if (range.low >= range.high)
            range = {std::min(range.low, 0.0F), std::max({range.high, 0.0F, range.low + 1e-6F})};
        return range;
    };
    if (context.pixels == nullptr)
        return compute();
    // Cached, because long texts would otherwise be searched in every frame.
    constexpr std::uint64_t kind = 2;
    const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    return *context.pixels->cached_result<ValueRange>(
        context.shown.trace,
        key_of({kind, reinterpret_cast<std::uintptr_t>(&tensor), number(context.view.batch),
                number(first_head), number(heads)}),
        compute);
}

Subject subject_of(const DrawContext& context) {
    const TensorId id = group_info(context.view.group).main;
    Subject subject{.tensor = id, .info = tensor_info(id), .weights = tensor_info(id).scale == Scale::shares};
    if (!subject.weights) {
        const ValueRange range = range_of(context, id, 0, context.dims().H);
        subject.low = range.low;
        subject.high = range.high;
    }
    return subject;
}

LayoutSpace plan_room(const DrawContext& context, const Subject& subject, float width, float height,
                      float label_width, bool sums) {
    const bool plus = context.difference() || context.view.heads_view == HeadsView::difference;
    return {width, height, label_width, sums, two_decimals_cell(subject.low, subject.high, plus)};
}

/// Hatches forbidden cells, which cannot be identified by their weight: a weight near 0 may be allowed.
void hatch_forbidden(MatrixSpec& spec, const DrawContext& context, const Subject& subject, HeadsView kind,
                     std::int64_t h) {
    // Scores are not masked yet, but a painted mask must be visible.
    const bool given = context.shown.document->shows_weights();
    const bool rules = given || !context.shown.problem().mask.empty();
    if ((subject.weights || context.view.brush.on) && rules)
        spec.forbidden = [reading = FigureWeights(context, kind, h)](std::int64_t i, std::int64_t j) {
            return reading.masked(i, j);
        };
}

bool by_row(const DrawContext& context, const Subject& subject) {
    return !subject.weights && context.view.attention.score_scale == ScoreScale::row;
}

MatrixSpec map_spec(const DrawContext& context, const Subject& subject, std::int64_t h, float cell_w,
                    float cell_h) {
    const Dims& dims = context.dims();
    MatrixSpec spec{.tensor = subject.tensor,
                    .origin = {context.view.batch, h, 0, 0},
                    .row_axis = 2,
                    .col_axis = 3,
                    .rows = dims.Tq,
                    .cols = dims.Tk,
                    .cell_w = cell_w,
                    .cell_h = cell_h,
                    .fill = CellFill::heat,
                    .ramp = &context.head_ramp(h),
                    .log = subject.weights && context.log_colours(),
                    .low = subject.low,
                    .high = subject.high};
    hatch_forbidden(spec, context, subject, HeadsView::each, h);
    if (context.view.row >= 0)
        spec.rows_stepped = context.view.row + 1;
    if (subject.weights ? !context.view.same_scale : context.view.attention.score_scale == ScoreScale::head) {
        const ValueRange range = range_of(context, subject.tensor, h, 1);
        spec.low = range.low;
        spec.high = range.high;
    } else if (by_row(context, subject)) {
        spec.row_maxima = row_maxima(context, subject.tensor, h);
        spec.low = -score_row_depth;
        spec.high = 0;
    }
    return spec;
}

struct MapText {
    std::string title, role, unit;
};

/// Returns true if a cell of the map is drawn as masked.
bool any_hatched(const DrawContext& context, const MatrixSpec& spec) {
    for (std::int64_t i = 0; i < spec.rows; ++i)
        for (std::int64_t j = 0; j < spec.cols; ++j) {
            if (spec.forbidden && spec.forbidden(i, j))
                return true;
            Index at = spec.origin;
            at[static_cast<std::size_t>(spec.row_axis)] += i;
            at[static_cast<std::size_t>(spec.col_axis)] += j;
            if (!std::isfinite(spec.value ? spec.value(i, j) : context.shown.value({spec.tensor, at})))
                return true;
        }
    return false;
}

/// Makes the picture large enough for the map drawn last, with its sums and legend.
void make_room(Picture& picture, bool sums) {
    const figure::Rect area = picture.grids.back().area;
    picture.scene.width =
        std::max(picture.scene.width, area.right() + (sums ? sum_width : 0.0F) + canvas_pad);
    picture.scene.height = std::max(picture.scene.height, area.bottom() + legend_height);
}

/// Draws one map with its title, labels, sums and legend. (x, y) is their common top left corner.
void draw_map(Picture& picture, const DrawContext& context, const MatrixSpec& given, const MapText& text,
              float x, float y, const MapLayout& plan, float label_width, std::int64_t head, bool sums) {
    const Theme& theme = context.theme;
    MatrixSpec spec = difference_spec(context, given);
    spec.x = x + label_width;
    spec.y = y + plan.head_height;
    const float width = spec.cell_w * static_cast<float>(spec.cols);
    draw_figure_title(picture, context, {text.title, text.role, head}, spec.x, y, width,
                      sums ? sum_width : 0.0F);
    if (head >= 0 && context.controls)
        picture.add_hotspot({spec.x, y, width, 20}, "head " + std::to_string(head) + " by its title",
                            PickHead{head}, tr("common.show_head", "Show head {}", head));
    if (plan.captions) {
        draw_text(picture, context, spec.x + width / 2, y + 46, tr("common.key_token_j", "key token j"),
                  figure::Font::ui, 12, theme.muted, figure::Align::center);
        draw_text(picture, context, spec.x - 12, y + 46, tr("common.query_i", "query i"), figure::Font::ui,
                  12, theme.muted, figure::Align::right);
    }
    if (sums && spec.tensor == TensorId::weights && context.shown.problem().parts().sink)
        draw_sink(picture, context, spec);
    const MatrixGrid grid = draw_matrix(picture, context, spec);
    draw_row_labels(picture, context, grid, false);
    draw_column_labels(picture, context, grid, true);
    if (sums) {
        if (grid.pitch_y >= 14.0F)
            draw_text(picture, context, grid.area.right() + sum_gap, grid.area.y - 10,
                      tr("common.sum", "sum"), figure::Font::ui, 12, theme.muted);
        draw_row_sums(picture, context, grid, spec);
    }
    const bool from_file = context.shown.document->shows_weights();
    // Without a mask there is nothing to search for.
    const bool masked = (from_file || !context.shown.problem().mask.empty()) &&
                        spec.tensor != TensorId::scores && spec.tensor != TensorId::scaled &&
                        !is_relative_term(spec.tensor) && any_hatched(context, spec);
    const Ramp& ramp = spec.fill == CellFill::diverging ? theme.diverging : *spec.ramp;
    const bool log = spec.fill == CellFill::heat && spec.log;
    // The legend may extend to the next map's legend, or to the edge.
    const float beside = label_width + width + (sums ? sum_width : 0.0F) + plan.gap,
                edge = std::min(context.width - canvas_pad - spec.x, plan.legend_room),
                apart = plan.per_row > 1 ? beside - 12 : edge;
    // A narrow legend needs a part of the margin for its text.
    constexpr float least_legend = 120;
    const float room = std::min(apart, std::max(edge, std::min(edge + canvas_pad - 12, least_legend)));
    draw_legend(picture, context, spec.x, grid.area.bottom() + 18,
                log ? 180.0F : std::min(160.0F, std::max(width * 0.55F, 90.0F)), ramp, grid.low, grid.high,
                text.unit, masked, log, room);
}

MapText head_text(const DrawContext& context, const Subject& subject, std::int64_t h) {
    const auto& roles = context.shown.document->head_roles();
    MapText text{head_title(context, h), roles.empty() ? "" : roles[static_cast<std::size_t>(h)], ""};
    const float gain = context.shown.problem().gain(h);
    if (gain != 1.0F)
        text.title += " × " + number(gain, 2);
    text.unit = map_unit(context, subject.tensor);
    return text;
}

/// Draws the maps of all heads side by side, all readable.
void draw_each(Picture& picture, const DrawContext& context, const Subject& subject, MapLayout plan, float y,
               float label_width) {
    const Dims& dims = context.dims();
    const bool sums = subject.weights && !context.difference();
    const float map_width =
        label_width + plan.cell_w * static_cast<float>(dims.Tk) + (sums ? sum_width : 0.0F);
    const float map_height = plan.head_height + plan.cell * static_cast<float>(dims.Tq) + legend_height;
    // All legends get the space of the last legend in a line, so that they look the same.
    plan.legend_room = context.width - 2 * canvas_pad - label_width -
                       static_cast<float>(plan.per_row - 1) * (map_width + plan.gap);
    for (std::int64_t h = 0; h < dims.H; ++h) {
        const auto col = static_cast<float>(h % plan.per_row), line = static_cast<float>(h / plan.per_row);
        const float x = canvas_pad + col * (map_width + plan.gap), map_y = y + line * map_height;
        draw_map(picture, context, map_spec(context, subject, h, plan.cell_w, plan.cell),
                 head_text(context, subject, h), x, map_y, plan, label_width, h, sums);
        picture.scene.width = std::max(picture.scene.width, x + map_width + canvas_pad);
        picture.scene.height = std::max(picture.scene.height, map_y + map_height);
    }
}

constexpr float least_maps_width = 150.0F, most_maps_width = 300.0F, maps_gap = 24.0F;

/// The width of the small maps next to the large one. They shrink first if that gives the numbers of the
/// large map another decimal.
float small_maps_width(const DrawContext& context, const Subject& subject, float height, float label_width,
                       bool sums) {
    const float both = context.width - 2 * canvas_pad - maps_gap;
    const float wanted =
        std::clamp((context.width - 2 * canvas_pad) * 0.3F, least_maps_width, most_maps_width);
    const auto decimals_beside = [&](float maps_width) {
        const MapLayout plan = lay_out_maps(
            context, 1, plan_room(context, subject, both - maps_width, height, label_width, sums));
        return plan.fits_two_decimals ? 2 : plan.fits_one_decimal ? 1 : 0;
    };
    const int most = decimals_beside(least_maps_width);
    float maps_width = wanted;
    while (maps_width > least_maps_width && decimals_beside(maps_width) < most)
        maps_width -= 1;
    return std::max(maps_width, least_maps_width);
}

/// Draws all heads as small maps, with the focused head as a large map next to them.
void draw_small_maps(Picture& picture, const DrawContext& context, const Subject& subject, float y,
                     float height, float label_width) {
    const Dims& dims = context.dims();
    const Theme& theme = context.theme;
    const bool sums = subject.weights && !context.difference();
    const float maps_width = small_maps_width(context, subject, height, label_width, sums);
    const auto columns_count = std::max<std::int64_t>(
        2, static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(dims.H) / 2.0))));
    const float pitch = maps_width / static_cast<float>(columns_count);
    const auto longest = static_cast<float>(std::max(dims.Tq, dims.Tk));
    // Fits all maps on the screen, unless they become too small to distinguish.
    constexpr float above = 30, between = 26, smallest_map = 44;
    const float lines = std::ceil(static_cast<float>(dims.H) / static_cast<float>(columns_count));
    const auto known_marks = edits_by_head(context);
    const std::vector<HeadEdits>& marks = *known_marks;
    const float legend = std::ranges::any_of(marks, &HeadEdits::any) ? 48.0F : 0.0F;
    const float map_height = std::max((height - above - legend) / lines - between, smallest_map);
    const float cell = std::clamp(std::min(pitch - 12, map_height) / longest, longest > 400 ? 0.25F : 1.0F,
                                  texture_below - 0.5F);
    draw_text(picture, context, canvas_pad, y + 14, tr("common.all_heads", "All heads"),
              figure::Font::ui_semibold, 15, theme.ink);
    const float line_height = cell * static_cast<float>(dims.Tq) + between;
    std::vector<const HeadEdits*> edited;
    for (std::int64_t h = 0; h < dims.H; ++h) {
        const float x = canvas_pad + pitch * static_cast<float>(h % columns_count);
        const float map_y = y + above + line_height * static_cast<float>(h / columns_count);
        MatrixSpec spec = map_spec(context, subject, h, cell, cell);
        spec.x = x;
        spec.y = map_y + 18;
        const bool open = h == context.view.head;
        const MatrixGrid grid = draw_matrix(picture, context, spec);
        const figure::Color colour = open ? theme.ink : theme.muted;
        const float taken = draw_text(picture, context, x, map_y + 12, "H" + std::to_string(h),
                                      open ? figure::Font::mono_semibold : figure::Font::mono, 12, colour);
        if (marks[static_cast<std::size_t>(h)].ablated())
            strike_out(picture, x, map_y + 12, taken, 12, colour);
        const figure::Rect frame{grid.area.x - 2, grid.area.y - 2, grid.area.w + 4, grid.area.h + 4};
        picture.scene.add(figure::RectItem{
            .area = frame, .stroke = open ? theme.ink : theme.line, .stroke_width = open ? 3.0F : 1.0F});
        const HeadEdits& edits = marks[static_cast<std::size_t>(h)];
        if (edits.any())
            edited.push_back(&edits);
        draw_edit_marks(picture, context, grid.area, edits);
        picture.add_hotspot(frame, "head " + std::to_string(h), PickHead{h},
                            tr("heatmap_page.open_head", "Open head {}", h) +
                                (edits.any() ? "\n" + edits_text(edits) : ""));
        // A click on a small map opens its head; only the large map shows numbers on hover.
        picture.grids.back().outlined = false;
        picture.scene.height = std::max(picture.scene.height, grid.area.bottom() + 24);
    }
    draw_marks_legend(picture, context, canvas_pad, y + above + line_height * lines + 4, maps_width, edited);
    const float left = canvas_pad + maps_width + maps_gap;
    const MapLayout plan = lay_out_maps(
        context, 1,
        plan_room(context, subject, context.width - left - canvas_pad, height, label_width, sums));
    const std::int64_t h = context.view.head;
    draw_map(picture, context, map_spec(context, subject, h, plan.cell_w, plan.cell),
             head_text(context, subject, h), left, y, plan, label_width, h, sums);
    make_room(picture, sums);
}

/// Draws only the focused head, as large as possible.
void draw_open(Picture& picture, const DrawContext& context, const Subject& subject, float y, float height,
               float label_width) {
    const std::int64_t h = context.view.head;
    const bool sums = subject.weights && !context.difference(); // sums of differences have no meaning
    const MapLayout plan = lay_out_maps(
        context, 1, plan_room(context, subject, context.width - 2 * canvas_pad, height, label_width, sums));
    draw_map(picture, context, map_spec(context, subject, h, plan.cell_w, plan.cell),
             head_text(context, subject, h), canvas_pad, y, plan, label_width, h, sums);
    make_room(picture, sums);
}

float symmetric_limit(const DrawContext& context, const MatrixSpec& spec) {
    float largest = 0.05F;
    for (std::int64_t i = 0; i < context.dims().Tq; ++i)
        for (std::int64_t j = 0; j < context.dims().Tk; ++j)
            if (const float value = spec.value(i, j); std::isfinite(value))
                largest = std::max(largest, std::abs(value));
    return std::ceil(largest * 10.0F) / 10.0F;
}

/// Draws one map of several heads: their difference or their mean.
void draw_combined(Picture& picture, const DrawContext& context, const Subject& subject, float y,
                   float height, float label_width) {
    const Dims& dims = context.dims();
    const std::int64_t b = context.view.batch, a = context.view.head, other = context.view.compared_head;
    const Shown& shown = context.shown;
    const TensorId id = subject.tensor;
    const bool difference = context.view.heads_view == HeadsView::difference;
    const bool sums = subject.weights && !difference && !context.difference();
    const MapLayout plan = lay_out_maps(
        context, 1, plan_room(context, subject, context.width - 2 * canvas_pad, height, label_width, sums));
    MatrixSpec spec = map_spec(context, subject, a, plan.cell_w, plan.cell);
    hatch_forbidden(spec, context, subject, context.view.heads_view, a);
    MapText text;
    if (difference) {
        spec.value = [&shown, id, b, a, other](std::int64_t i, std::int64_t j) {
            const float left = shown.value({id, {b, a, i, j}}), right = shown.value({id, {b, other, i, j}});
            return std::isinf(left) || std::isinf(right) ? -INFINITY : left - right;
        };
        spec.fill = CellFill::diverging;
        spec.plus_sign = true;
        spec.row_maxima.reset();
        spec.high = symmetric_limit(context, spec);
        text = {pair_word(context, a, other),
                tr("heatmap_page.one_reads_more_other", "where one reads more than the other"),
                tr("common.difference", "difference")};
    } else {
        if (subject.weights) {
            spec.tensor = TensorId::weights_mean;
            spec.origin = {b, 0, 0, 0};
            spec.row_axis = 1;
            spec.col_axis = 2;
        } else {
            spec.value = [&shown, id, b, H = dims.H](std::int64_t i, std::int64_t j) {
                double sum = 0;
                for (std::int64_t h = 0; h < H; ++h)
                    sum += shown.value({id, {b, h, i, j}});
                return static_cast<float>(sum / static_cast<double>(H));
            };
            if (spec.row_maxima)
                spec.row_maxima = row_maxima(spec);
        }
        spec.ramp = &context.theme.neutral;
        text = {mean_word(context), tr("heatmap_page.one_averaged_map_keeps", "the map averaged over heads"),
                spec.log          ? tr("heatmap_page.mean_log_scale", "mean, log scale")
                : spec.row_maxima ? tr("heatmap_page.row_mean_rows_largest", "by row, mean − row’s largest")
                                  : tr("common.mean_2", "mean")};
    }
    draw_map(picture, context, spec, text, canvas_pad, y, plan, label_width, -1, sums);
    make_room(picture, sums);
}

} // namespace

Picture draw_heatmap_page(const DrawContext& context) {
    Picture picture = empty_view(context);
    const Dims& dims = context.dims();
    const Subject subject = subject_of(context);
    const bool one_head =
        context.shown.document->has_head_grid() && !context.all_heads; // the grid of heads shows all heads
    const bool named = one_head && subject.weights;
    const float top = draw_weights_head(
        picture, context, named ? head_page_title(context) : map_title(context, subject.info),
        named ? head_page_line(context) : context.shown.attention().formula(subject.tensor));

    const float label_width = row_label_width(context, false);
    const float width = context.width - 2 * canvas_pad;
    if (context.view.heads_view != HeadsView::each) {
        draw_combined(picture, context, subject, top, context.height - top, label_width);
        return picture;
    }
    if (one_head) {
        draw_open(picture, context, subject, top, context.height - top, label_width);
        return picture;
    }
    const bool is_product =
        subject.tensor == TensorId::scores && !context.shown.problem().relative; // nothing else is added
    if (is_product && !context.difference() &&
        draw_score_products(picture, context,
                            {.map = [&](std::int64_t h, float w,
                                        float cell_h) { return map_spec(context, subject, h, w, cell_h); },
                             .title =
                                 [&](std::int64_t h) {
                                     const MapText text = head_text(context, subject, h);
                                     return FigureTitle{text.title, text.role, h};
                                 },
                             .unit = map_unit(context, subject.tensor)},
                            top))
        return picture;
    const float reads_height = 64.0F + 50.0F * static_cast<float>(std::min<std::int64_t>(dims.H, 3));
    const auto plan_each = [&](float height) {
        return lay_out_maps(context, dims.H,
                            plan_room(context, subject, width, height, label_width, subject.weights));
    };
    MapLayout plan = plan_each(context.height - top - reads_height);
    const bool secondary = subject.weights && !context.all_heads && plan.cell >= 40.0F &&
                           !context.difference() && context.height - top - reads_height >= least_maps_height;
    if (!secondary)
        plan = plan_each(context.height - top);
    if (context.all_heads) // maps of one size, on a page about as high as A4
        plan = plan_each(1.4F * width);
    // Too narrow for a grid and a map: the maps are placed below each other, and the view scrolls.
    if (context.width < narrowest_with_maps && dims.H > 1)
        plan = plan_each(std::numeric_limits<float>::max());
    else if (!context.all_heads && plan.cell < small_maps_below && !plan.fits_two_decimals && dims.H > 1) {
        draw_small_maps(picture, context, subject, top, context.height - top, label_width);
        return picture;
    } else if (constexpr std::int64_t few_heads = 4, few_tokens = 12;
               !plan.fits_two_decimals && dims.H <= few_heads && std::max(dims.Tq, dims.Tk) <= few_tokens) {
        // A low canvas scrolls instead of omitting the numbers of a few small heads.
        constexpr float beside_rows = 190, row = 30; // height of title, column labels and legend
        const MapLayout scrolled =
            plan_each(static_cast<float>(dims.H) * (beside_rows + row * static_cast<float>(dims.Tq)));
        if (scrolled.fits_two_decimals)
            plan = scrolled;
    }
    draw_each(picture, context, subject, plan, top, label_width);
    if (secondary) {
        const float lines = std::ceil(static_cast<float>(dims.H) / static_cast<float>(plan.per_row));
        const float maps_end =
            top + lines * (plan.head_height + plan.cell * static_cast<float>(dims.Tq) + legend_height);
        const float y = std::min(maps_end + 12, context.height - reads_height);
        draw_what_row_reads(picture, context, std::max(y, maps_end),
                            context.height - std::max(y, maps_end) - 8);
    }
    return picture;
}

} // namespace headscope::app
