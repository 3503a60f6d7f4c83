#include "app/draw/panels/cache_panel.h"

#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/matrix/matrix_image.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr std::int64_t most_shown = 24;
constexpr float cache_row = 13, labels = 72, between_tables = 10;

/// Draws the rows of one key/value head from row `first` on, with their color scale below.
void draw_rows(Sheet& sheet, TensorId stage, std::int64_t kv_head, std::int64_t first,
               const figure::Rect& area) {
    const DrawContext& context = sheet.context;
    const TensorInfo& info = tensor_info(stage);
    const Shape& shape = context.shown.tensor(stage)->shape();
    MatrixSpec spec;
    spec.tensor = stage;
    spec.origin = {context.view.batch, kv_head, first, 0};
    spec.row_axis = 2;
    spec.col_axis = 3;
    spec.rows = shape[2] - first;
    spec.cols = shape[3];
    spec.fill = CellFill::diverging;
    spec.high = largest_magnitude(context, stage, context.view.batch);
    draw_text(sheet.picture, context, area.x, area.y - 6,
              // Translators: the letter of a matrix, and how many numbers a row of it has: k, 64 numbers
              tr("cache_panel.numbers", "{}, {} numbers", info.name.substr(0, 1), spec.cols),
              figure::Font::ui, 12, context.theme.muted);
    draw_matrix_image(sheet.picture, context, spec, area);
    draw_legend(sheet.picture, context, area.x, area.bottom() + 12, area.w, context.theme.diverging,
                -spec.high, spec.high, "", false, false, area.w);
}

/// Writes "24 rows × 12 KiB = 288 KiB in all 6 layers", and the memory saved by sharing key/value heads.
void write_bytes(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Dims& dims = context.dims();
    const checkpoint::ModelConfig& model = context.shown.document->part()->model->model->config();
    const std::int64_t row = model.layers * model.Hkv * 2 * model.dk * std::int64_t{sizeof(float)};
    sheet.row(tr("cache_panel.rows", "{} rows × {}", grouped(dims.Tk), bytes_text(row)),
              bytes_text(dims.Tk * row), true);
    std::string text =
        tr_n("cache_panel.k_v_head_each", "K and V of {}, {} head each, as float32; room for {} rows.",
             "K and V of {}, {} heads each, as float32; room for {} rows.", model.Hkv,
             tr_n("common.layer", "{} layer", "{} layers", model.layers, grouped(model.layers)),
             grouped(model.Hkv), grouped(model.longest_text));
    if (model.Hkv < model.H)
        text += " " + tr("cache_panel.one_each_query_heads",
                         "A separate cache for each of the {} query heads would take {}.", model.H,
                         bytes_text(dims.Tk * row / model.Hkv * model.H));
    sheet.paragraph(text, context.theme.muted);
}

} // namespace

void write_kv_cache(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    if (context.shown.tensor(TensorId::k_heads) == nullptr ||
        context.shown.tensor(TensorId::v_heads) == nullptr)
        return;
    const Dims& dims = context.dims();
    const std::int64_t head = dims.kv_head(std::min(context.view.head, dims.H - 1));
    const std::int64_t layer = context.shown.document->layer();
    sheet.section(tr("cache_panel.key_value_cache", "Key/value cache"),
                  dims.Hkv < dims.H ? tr("cache_panel.layer_key_head", "layer {}, key head {}", layer, head)
                                    : tr("cache_panel.layer_head", "layer {}, head {}", layer, head));
    const std::int64_t first = std::max<std::int64_t>(0, dims.Tk - most_shown), shown = dims.Tk - first;
    const float width = (sheet.width() - labels - between_tables) / 2,
                height = cache_row * static_cast<float>(shown);
    const figure::Rect k_area{sheet.left + labels, sheet.y + 20, width, height},
        v_area{k_area.right() + between_tables, k_area.y, width, height};
    draw_rows(sheet, TensorId::k_heads, head, first, k_area);
    draw_rows(sheet, TensorId::v_heads, head, first, v_area);
    for (std::int64_t i = 0; i < shown; ++i) {
        const bool newest = i + 1 == shown;
        const float top = k_area.y + cache_row * static_cast<float>(i);
        sheet.y = top + (cache_row - Sheet::row_height) / 2;
        sheet.put(k_area.x - 8, context.shown.problem().key_label(first + i), labels - 12,
                  newest ? figure::Font::ui_semibold : figure::Font::ui, 11.5F,
                  newest ? theme.ink : theme.text, figure::Align::right);
    }
    const figure::Rect row{k_area.x - 1, k_area.bottom() - cache_row - 1, v_area.right() - k_area.x + 2,
                           cache_row + 2};
    sheet.picture.scene.add(figure::RectItem{.area = row, .stroke = theme.ink, .stroke_width = 1.5F});
    sheet.picture.tips.push_back(
        {{k_area.x, k_area.y, v_area.right() - k_area.x, height},
         tr("cache_panel.later_tokens_read_layer",
            "The rows that later tokens read from this layer and head. A token’s row never changes after it "
            "is written: the next token adds one row and recomputes none")});
    sheet.y = k_area.bottom() + 46;
    if (first > 0)
        sheet.paragraph(
            tr("cache_panel.newest_rows", "The newest {} of {} rows.", grouped(shown), grouped(dims.Tk)),
            theme.muted);
    write_bytes(sheet);
}

} // namespace headscope::app
