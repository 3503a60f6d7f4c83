#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/product.h"
#include "app/draw/matrix/product_legends.h"
#include "app/draw/pages/figure_weights.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "app/state/model_document.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float product_top = 100.0F;

std::int64_t rows_done(const DrawContext& context) {
    return context.view.row >= 0 ? context.view.row + 1 : -1;
}

/// The rows and columns of a tensor; batch entry and head are fixed.
MatrixSpec spec_of(const DrawContext& context, TensorId id, std::int64_t head = 0) {
    const TensorInfo& info = tensor_info(id);
    const Shape shape = info.shape(context.dims());
    MatrixSpec spec{.tensor = id, .high = largest_magnitude(context, id, context.view.batch)};
    const int rank = shape.rank();
    spec.row_axis = rank - 2;
    spec.col_axis = rank - 1;
    spec.rows = shape[rank - 2];
    spec.cols = shape[rank - 1];
    if (info.axes[0] == Axis::B)
        spec.origin[0] = context.view.batch;
    if (rank == 4)
        spec.origin[1] = head;
    return spec;
}

std::function<std::int64_t(std::int64_t, std::int64_t)> owned_by(std::int64_t head) {
    return [head](std::int64_t, std::int64_t) { return head; };
}

std::string head_name(const char* tensor, std::int64_t head) {
    return std::string(tensor) + "[" + std::to_string(head) + "]";
}

/// "L5 H1" for a head of a model with several layers, otherwise empty.
std::string name_in_model(const DrawContext& context) {
    const Document& document = *context.shown.document;
    return document.has_head_grid() ? open_head_name(document, context.view.head) : "";
}

/// Draws a switch for the focused head. Returns its width at the right.
float draw_head_switch(Picture& picture, const DrawContext& context) {
    const std::int64_t H = context.dims().H;
    if (H < 2 || context.shown.document->has_head_grid())
        return 0; // the grid of heads selects heads
    std::vector<Segment> segments;
    if (H <= 12) {
        for (std::int64_t h = 0; h < H; ++h)
            segments.push_back({H <= 4 ? tr("common.head", "Head {}", h) : std::to_string(h), PickHead{h},
                                h == context.view.head, tr("common.show_head", "Show head {}", h),
                                context.shown.problem().gain(h) == 0.0F});
    } else {
        const std::int64_t h = context.view.head;
        segments = {{"◀", PickHead{std::max<std::int64_t>(h - 1, 0)}, false,
                     tr("common.head_before", "Previous head")},
                    {tr("product_pages.head", "Head {} of {}", h, H),
                     PickHead{h},
                     true,
                     {},
                     context.shown.problem().gain(h) == 0.0F},
                    {"▶", PickHead{std::min(h + 1, H - 1)}, false, tr("common.next_head", "Next head")}};
    }
    const float width = segmented_width(context, segments);
    draw_segmented(picture, context, context.width - canvas_pad - width, 28, segments);
    if (H <= 4 || H > 12)
        return width;
    constexpr float gap = 10;
    return width + gap +
           draw_text(picture, context, context.width - canvas_pad - width - gap, 46,
                     tr("common.head_2", "head"), figure::Font::ui, 13, context.theme.muted,
                     figure::Align::right);
}

// Limits of the sum of heads below the output for which the view scrolls.
constexpr std::int64_t most_scrolled_rows = 24, most_scrolled_columns = 64;
constexpr float scrolled_row = 24;

/// The height for which B − A scrolls, to show which head changed the output. Otherwise the sum uses the
/// remaining height.
float changes_height(const DrawContext& context) {
    return context.difference()
               ? 130.0F + 24.0F * static_cast<float>(std::min<std::int64_t>(context.dims().Tq, 16))
               : 0.0F;
}

void finish(Picture& picture, const DrawContext& context, const figure::Rect& area, float bottom) {
    picture.scene.width = std::max(context.width, area.right() + canvas_pad);
    picture.scene.height = std::max(context.height, bottom + 8);
}

/// "T" if queries and keys are the same tokens.
std::string rows_axis(const DrawContext& context) {
    return context.shown.problem().cross() ? "Tq" : "T";
}

} // namespace

Picture draw_projection_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const Projection projection = context.view.projection;
    const bool queries = projection == Projection::q;
    const TensorId result = queries ? TensorId::q : projection == Projection::k ? TensorId::k : TensorId::v;
    const TensorId W = queries ? TensorId::W_Q : projection == Projection::k ? TensorId::W_K : TensorId::W_V;
    const TensorId bias = queries                       ? TensorId::b_Q
                          : projection == Projection::k ? TensorId::b_K
                                                        : TensorId::b_V;
    const bool cross = !queries && context.shown.problem().has_source();
    const TensorId source = cross ? TensorId::x_kv : TensorId::x;
    const std::int64_t head_width = projection == Projection::v ? dims.dv : dims.dk;
    const std::int64_t shared = queries ? 1 : dims.H / dims.Hkv;

    const TensorInfo& info = tensor_info(result);
    draw_view_heading(picture, context, tr(info.title), context.shown.attention().formula(result));
    std::vector<Segment> segments{
        {"Q", ShowProjection{Projection::q}, queries,
         tr("product_pages.queries_token_looks", "Queries: what a token looks for")},
        {"K", ShowProjection{Projection::k}, projection == Projection::k,
         tr("product_pages.keys_token_found", "Keys: what a token can be found by")},
        {"V", ShowProjection{Projection::v}, projection == Projection::v,
         tr("product_pages.values_token_hands_over", "Values: what a token hands over")}};
    draw_segmented(picture, context, context.width - canvas_pad - segmented_width(context, segments), 28,
                   segments);

    const DrawContext factors = factor_context(context);
    ProductSpec product{
        .left = spec_of(factors, source), .right = spec_of(factors, W), .result = spec_of(context, result)};
    product.right.owner = product.result.owner = column_owner(head_width, shared);
    product.result.rows_stepped = queries || !context.shown.problem().has_source() ? rows_done(context) : -1;
    product.left_name = cross ? "X_kv" : "X";
    product.right_name = tensor_info(W).name;
    product.result_name = info.symbol;
    product.left_shape = cross ? "Tk × Dkv" : rows_axis(context) + " × " + axis_name(Axis::Dq, dims);
    product.right_shape =
        axis_name(tensor_info(W).axes[0], dims) + " × " + axis_name(tensor_info(W).axes[1], dims);
    product.result_shape = axis_name(info.axes[1], dims) + " × " + axis_name(info.axes[2], dims);
    product.left_keys = cross;
    product.right_head_cols = product.result_head_cols = head_width;
    product.heads_are_kv = !queries;
    product.bias = bias;
    const auto [layout, end] = draw_product_above_legends(
        picture, context, product,
        {canvas_pad, product_top, context.width - 2 * canvas_pad, context.height - product_top},
        context.difference() ? 64.0F : 30.0F);
    finish(picture, context, layout.area, end);
    return picture;
}

Picture draw_head_out_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const std::int64_t h = context.view.head, g = dims.kv_head(h);
    const std::string name = name_in_model(context);
    const float controls = draw_head_switch(picture, context);
    draw_view_heading(picture, context,
                      name.empty() ? tr("common.head_outputs", "Head outputs")
                                   : tr("product_pages.head_outputs", "Head outputs of {}", name),
                      "head_out[h] = weights[h] · v_heads[h]", controls);
    const DrawContext factors = factor_context(context);
    ProductSpec product{.left = spec_of(factors, TensorId::weights, h),
                        .right = spec_of(factors, TensorId::v_heads, g),
                        .result = spec_of(context, TensorId::head_out, h)};
    product.left.fill = CellFill::heat;
    product.left.ramp = &context.theme.heat(h, dims.H, context.view.colour_map);
    product.left.low = 0;
    product.left.high = 1;
    product.right.owner = product.result.owner = owned_by(h);
    product.result.rows_stepped = rows_done(context);
    product.left_name = head_name("weights", h);
    product.right_name = head_name("v_heads", g);
    product.result_name = head_name("head_out", h);
    product.right_shape = "Tk × dv";
    product.result_shape = "Tq × dv";
    product.left_token_columns = true;
    product.right_token_rows = true;
    product.left_head_cols = product.right_head_cols = product.result_head_cols = -1;
    product.bar_head = h;
    // A bar above the weights would cover their token labels, so the name contains the head instead.
    product.left_head_cols = 0;
    const bool masked = any_masked({FigureWeights(context, HeadsView::each, h)});
    struct Drawn {
        Picture picture;
        figure::Rect area;
        float end;
    };
    const auto drawn_above = [&](float below) {
        Drawn drawn;
        const ProductLayout layout = draw_product(
            drawn.picture, context, product,
            {canvas_pad, product_top, context.width - 2 * canvas_pad, context.height - product_top - below});
        std::vector<Legend> legends{{tr("common.weight", "weight"), *product.left.ramp, 0, 1, masked}};
        if (layout.right.heatmap)
            legends.push_back({std::string(tensor_info(TensorId::v_heads).name), context.theme.diverging,
                               -layout.right.high, layout.right.high});
        if (layout.result.heatmap)
            legends.push_back({difference_name(context, std::string(tensor_info(TensorId::head_out).name)),
                               context.theme.diverging, -layout.result.high, layout.result.high});
        drawn.area = layout.area;
        drawn.end =
            draw_legend_lines(drawn.picture, context, legends, layout.left.area.x, layout.area.bottom() + 16);
        return drawn;
    };
    // The legends depend on the size of the cells, which depends on the height left by the legends.
    constexpr float one_line = 60;
    Drawn drawn = drawn_above(one_line);
    if (const float wanted = drawn.end - drawn.area.bottom(); wanted > one_line)
        drawn = drawn_above(wanted);
    picture.append(std::move(drawn.picture), 0, 0);
    finish(picture, context, drawn.area, drawn.end);
    return picture;
}

Picture draw_gate_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const std::int64_t h = context.view.head;
    const std::string gated = head_name("head_out", h);
    const float controls = draw_head_switch(picture, context);
    draw_view_heading(picture, context, tr("product_pages.gate_of", "Gate on {}", gated),
                      context.shown.attention().formula(TensorId::gate) + ",  " +
                          context.shown.attention().formula(TensorId::head_out_gated),
                      controls);
    const DrawContext factors = factor_context(context);
    ProductSpec product{.left = spec_of(factors, TensorId::x),
                        .right = spec_of(factors, TensorId::W_G),
                        .result = spec_of(context, TensorId::gate, h)};
    product.right.origin = {0, h * dims.dv, 0, 0};
    product.right.cols = dims.dv;
    product.right.owner = product.result.owner = owned_by(h);
    product.result.rows_stepped = rows_done(context);
    product.left_name = "X";
    product.right_name = head_name("W_G", h);
    product.result_name = head_name("gate", h);
    product.left_shape = "T × " + axis_name(Axis::Dq, dims);
    product.right_shape = axis_name(Axis::Dq, dims) + " × dv";
    product.result_shape = "T × dv";
    product.right_head_cols = product.result_head_cols = -1;
    product.bar_head = h;
    product.bias = TensorId::b_G;
    const float above = std::max((context.height - product_top) * 0.6F, 240.0F);
    const ProductLayout layout = draw_product(
        picture, context, product, {canvas_pad, product_top, context.width - 2 * canvas_pad, above});
    const float end = draw_small_cell_legends(picture, context, layout) + 58;
    draw_hairline(picture, context, canvas_pad, end - 34, context.width - 2 * canvas_pad);
    // The output of the head before and behind its gate, with cells in the columns of the gate above.
    const float columns = static_cast<float>(dims.dv), rows = static_cast<float>(dims.Tq);
    const float labels = row_label_width(context, false), gap = 34;
    const float row_height =
        std::clamp(std::floor((context.height - end - 50) / rows), least_row_height(rows), 30.0F);
    float x = canvas_pad + labels;
    for (const TensorId heads : {TensorId::head_out, TensorId::head_out_gated}) {
        const bool before = heads == TensorId::head_out;
        MatrixSpec spec = spec_of(before ? factors : context, heads, h);
        spec.owner = owned_by(h);
        spec.rows_stepped = before ? -1 : rows_done(context);
        spec.cell_w = std::clamp(std::floor(((context.width - 2 * canvas_pad - labels - gap) / 2) / columns),
                                 2.0F, product.widest_cell);
        spec.cell_h = row_height;
        spec.x = x;
        spec.y = end;
        const MatrixGrid grid = draw_matrix(picture, context, spec);
        draw_text(picture, context, x, end - 12, head_name(tensor_info(heads).name.data(), h),
                  figure::Font::mono_semibold, 14, context.theme.ink);
        if (before)
            draw_row_labels(picture, context, grid, false);
        x += spec.cell_w * columns + gap;
    }
    finish(picture, context, layout.area, end + row_height * rows + 16);
    picture.scene.width = std::max(picture.scene.width, x - gap + canvas_pad);
    return picture;
}

Picture draw_contributions_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const std::int64_t h = context.view.head;
    const float gain = context.shown.problem().gain(h);
    const std::string name = name_in_model(context);
    const float controls = draw_head_switch(picture, context);
    draw_view_heading(picture, context,
                      name.empty() ? tr("common.contributions_heads", "Contributions of the heads")
                                   : tr("product_pages.contribution", "Contribution of {}", name),
                      context.shown.attention().formula(TensorId::contributions) +
                          (gain == 1.0F ? "" : " × " + number(gain, 2)),
                      controls);
    const DrawContext factors = factor_context(context);
    const TensorId heads = context.shown.attention().first_input(TensorId::contributions);
    ProductSpec product{.left = spec_of(factors, heads, h),
                        .right = spec_of(factors, TensorId::W_O),
                        .result = spec_of(context, TensorId::contributions, h)};
    product.right.origin = {h * dims.dv, 0, 0, 0};
    product.right.rows = dims.dv;
    product.left.owner = product.right.owner = product.result.owner = owned_by(h);
    product.result.rows_stepped = rows_done(context);
    product.left_name = head_name(tensor_info(heads).name.data(), h);
    product.right_name = tr("product_pages.w_o_rows", "W_O[rows of {}]", h);
    product.result_name = head_name("contributions", h);
    product.left_shape = "Tq × dv";
    product.right_shape = "dv × D";
    product.result_shape = "Tq × D";
    product.right_row_heads = dims.dv;
    product.right_first_head = h;
    product.left_head_cols = product.right_head_cols = product.result_head_cols = -1;
    product.bar_head = h;
    const float room = context.height - product_top;
    const float wanted = product_height(context, product, 40);
    // In a narrow canvas next to the grid of heads, the pagers of a wide layer need their own lines.
    const float share = context.width < 620 ? 0.85F : 0.55F;
    const float product_room = std::min(wanted, std::max(room * share, 220.0F));
    const ProductLayout layout = draw_product(
        picture, context, product, {canvas_pad, product_top, context.width - 2 * canvas_pad, product_room});
    float end = draw_small_cell_legends(picture, context, layout);
    end += 24;
    draw_hairline(picture, context, canvas_pad, end, context.width - 2 * canvas_pad);
    end += 14;
    end += draw_sum_of_heads(picture, context,
                             {canvas_pad, end, context.width - 2 * canvas_pad,
                              std::max(context.height - end - 8, changes_height(context))});
    finish(picture, context, layout.area, end);
    return picture;
}

Picture draw_output_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const Theme& theme = context.theme;
    const bool identity = context.shown.document->recipe.identity_W_O;
    const std::vector<Segment> built{
        {tr("common.built", "as built"), SetIdentityOutput{false}, !identity,
         tr("product_pages.w_o_preset_file", "W_O as the preset or the file has it")},
        {tr("product_pages.identity", "identity"), SetIdentityOutput{true}, identity,
         tr("product_pages.w_o_i_no", "W_O = I: no mixing, output = concat")}};
    const bool has_switch = dims.H * dims.dv == dims.D && !context.shown.document->is_checkpoint();
    const float switch_width = has_switch ? segmented_width(context, built) : 0;
    // The product starts next to the title if it fits, because its right factor is far to the right.
    constexpr float narrow = 760;
    const bool beside = context.width >= narrow;
    draw_view_heading(picture, context, tr("common.output_projection", "Output projection"),
                      context.shown.attention().formula(TensorId::output), beside ? 0 : switch_width);

    const DrawContext factors = factor_context(context);
    ProductSpec product{.left = spec_of(factors, TensorId::concat),
                        .right = spec_of(factors, TensorId::W_O),
                        .result = spec_of(context, TensorId::output)};
    product.left.owner = column_owner(dims.dv, 1);
    product.right.owner = [dv = dims.dv](std::int64_t row, std::int64_t) { return row / dv; };
    const Shown& shown = context.shown;
    const std::int64_t b = context.view.batch;
    product.result.head_contribution = [&shown, b](std::int64_t row, std::int64_t col, std::int64_t h) {
        return shown.value({TensorId::contributions, {b, h, row, col}});
    };
    product.result.rows_stepped = rows_done(context);
    product.left_name = "concat";
    product.right_name = "W_O";
    product.result_name = "output";
    product.left_shape = dims.H * dims.dv == dims.D ? rows_axis(context) + " × D" : "Tq × H·dv";
    product.right_shape = dims.H * dims.dv == dims.D ? "D × D" : "H·dv × D";
    product.result_shape = rows_axis(context) + " × D";
    product.left_head_cols = dims.dv;
    product.right_row_heads = dims.dv;
    product.bias = TensorId::b_O;

    const float start = beside ? 34 : product_top;
    const float room = context.height - start;
    const float with_sum = product_height(context, product, 0) +
                           24.0F * static_cast<float>(product.right.rows + product.result.rows) + 62.0F +
                           sum_of_heads_height(context, context.width - 2 * canvas_pad, scrolled_row);
    const bool sum_fits = with_sum <= room;
    const float sum_room =
        sum_fits ? sum_of_heads_height(context, context.width - 2 * canvas_pad, scrolled_row) + 50 : 0.0F;
    auto [layout, end] = draw_product_above_legends(
        picture, context, product,
        {canvas_pad, start, context.width - 2 * canvas_pad, std::max(room - sum_room, 246.0F)}, 46);
    // The explanation is placed to the left of W_O, above the concat, if it fits.
    const float text_room = layout.right.area.x - canvas_pad - 130;
    const float text_end = layout.left.area.y - 50;
    float y = 112;
    if (text_room >= 200 && text_end - y > 60 && !layout.has_overview) {
        y = draw_paragraph(picture, context, canvas_pad, y, std::min(text_room, 330.0F),
                           tr("product_pages.concat_puts_heads_side",
                              "concat puts the heads side by side without mixing them. Every column of W_O "
                              "reads all of them, so this is where they mix."),
                           figure::Font::ui, 13.5F, 21, theme.text);
        y += 4;
    }
    if (has_switch) {
        const float switch_y = y - 12;
        if (!beside) {
            draw_segmented(picture, context, context.width - canvas_pad - switch_width, 28, built);
        } else if (switch_y + 30 < layout.left.area.y - 44 && !layout.has_overview) {
            draw_text(picture, context, canvas_pad, switch_y + 19, "W_O", figure::Font::mono, 13,
                      theme.muted);
            draw_segmented(picture, context, canvas_pad + 42, switch_y, built);
        } else {
            // Between the title and the name of W_O, or above W_O.
            const bool between = canvas_pad + 230 + switch_width + 12 <= layout.right.area.x;
            draw_segmented(picture, context,
                           between ? canvas_pad + 230 : context.width - canvas_pad - switch_width,
                           between ? 34.0F : 2.0F, built);
        }
    }
    if (sum_fits) {
        end = std::max(end + 28, context.height - sum_room - 14);
        draw_hairline(picture, context, canvas_pad, end, context.width - 2 * canvas_pad);
        end += 14;
        end += draw_sum_of_heads(picture, context,
                                 {canvas_pad, end, context.width - 2 * canvas_pad, context.height - end - 4});
    } else if (context.difference() || (dims.Tq <= most_scrolled_rows && dims.D <= most_scrolled_columns)) {
        draw_hairline(picture, context, canvas_pad, end + 12, context.width - 2 * canvas_pad);
        end += 26;
        const float width = context.width - 2 * canvas_pad;
        end += draw_sum_of_heads(picture, context,
                                 {canvas_pad, end, width,
                                  context.difference() ? changes_height(context)
                                                       : sum_of_heads_height(context, width, scrolled_row)});
    }
    finish(picture, context, layout.area, end);
    return picture;
}

} // namespace headscope::app
