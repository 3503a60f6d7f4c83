#include "app/shell/files/exports.h"

#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"
#include "app/draw/pages/stage_figure.h"
#include "app/state/model_document.h"
#include "app/state/screens/map_pixels.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/export/circuitsvis.h"
#include "core/export/model_part.h"
#include "core/export/pytorch_script.h"
#include "core/export/tensor_export.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "core/format/tsv.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <functional>
#include <map>
#include <optional>

namespace headscope::app {

namespace {

/// The clipboard content is transferred in one piece.
constexpr std::int64_t most_copied_numbers = 1'000'000;
const std::string circuitsvis_ending(exporting::circuitsvis_suffix);

std::string shape_words(const Shape& shape) {
    return joined(shape, grouped, " × ");
}

void refuse_large(std::int64_t numbers, std::string_view name) {
    if (numbers > most_copied_numbers)
        fail_input(tr("exports.numbers_clipboard_takes_most",
                      "{} has {} numbers, and the clipboard takes at most {}; save them with \"Numbers of "
                      "this stage\" in the File menu.",
                      name, grouped(numbers), grouped(most_copied_numbers)));
}

/// " (first token hidden, ...)" for weights that are transformed or aggregated.
std::string reading_note(const Shown& shown) {
    const AttentionSetPtr& given = shown.document->shown_weights();
    return given == nullptr || given->info().reading.empty() ? "" : " (" + given->info().reading + ")";
}

void refuse_awaited(const ScreenSnapshot& screen) {
    const TensorId id = stage_on_canvas(screen.view);
    if (screen.shown.tensor(id) == nullptr)
        fail_input(tr("exports.still_computed_try_again",
                      "{} is still being computed; try again in a moment.", tensor_info(id).name));
}

/// Returns the layer that a script computes as a whole, for a step around attention.
std::optional<checkpoint::AttentionPlace> whole_layer(const ScreenSnapshot& screen) {
    const checkpoint::RunPartPtr& block = screen.shown.block;
    return is_around(screen.view.group) && block != nullptr && block->place.layer >= 0
               ? std::optional(block->place)
               : std::nullopt;
}

exporting::ScriptPart attention_part(const ScreenSnapshot& screen) {
    return exporting::part_of(screen.shown.problem(), *screen.shown.trace);
}

/// Returns a table as text with `between` as the cell separator.
std::string table_text(const std::vector<std::vector<std::string>>& table, char between) {
    std::string text;
    for (const std::vector<std::string>& row : table) {
        for (std::size_t n = 0; n < row.size(); ++n) {
            const bool quoted = between == ',' && row[n].find_first_of(",\"\n") != std::string::npos;
            std::string cell = row[n];
            if (quoted)
                for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
                    cell.insert(at, 1, '"');
            text += (n == 0 ? "" : std::string(1, between)) + (quoted ? "\"" + cell + "\"" : cell);
        }
        text += '\n';
    }
    return text;
}

/// Writes the visible part of a long map as .npy, .npz or .safetensors.
void write_map(const ScreenSnapshot& screen, const std::string& path) {
    if (screen.shown.map == nullptr)
        fail_input(tr("common.numbers_page_not_known",
                      "The numbers of this view are not known yet; try again in a moment."));
    const LongMap& map = *screen.shown.map;
    MapPixels pixels = visible_pixels(map, screen.view.attention.long_map);
    if (path.ends_with(".npy"))
        return write_file_atomically(path, format::npy_bytes(pixels.values));
    if (!path.ends_with(".safetensors") && !path.ends_with(".npz"))
        fail_input(tr("exports.name_file_npy_csv", "{}: name the file .npy, .npz, .csv, .tsv or .safetensors",
                      path));
    format::SafetensorsWriter writer;
    writer.add("weights", std::make_shared<const Tensor>(std::move(pixels.values)));
    const auto range = [](std::int64_t first, std::int64_t count) {
        return std::to_string(first) + ":" + std::to_string(first + count);
    };
    if (screen.shown.document->has_head_grid())
        writer.set_metadata("layer", open_layer_name(*screen.shown.document));
    writer.set_metadata("head", std::to_string(map.head));
    writer.set_metadata("queries", range(pixels.part.row, pixels.part.rows));
    writer.set_metadata("keys", range(pixels.part.col, pixels.part.cols));
    writer.set_metadata("cells", std::to_string(pixels.cells));
    if (pixels.cells > 1)
        writer.set_metadata("pooling", pixels.pooling == Pooling::max ? "max" : "mean");
    if (const AttentionSetPtr& given = screen.shown.document->shown_weights();
        given != nullptr && !given->info().reading.empty())
        writer.set_metadata("reading", given->info().reading);
    write_file_atomically(path, [&](const ByteSink& sink) { writer.write_as(path, sink); });
}

/// Returns false for a file whose heads of the layer are too large to be read together.
bool has_all_heads(const Document& document) {
    const GivenWeights* const given = document.given();
    return given == nullptr || given->loaded.all();
}

/// The canvas as a figure.
struct DrawnPicture {
    DrawnPicture(const ScreenSnapshot& screen, const PictureChoice& choice) {
        ViewState view = screen.view;
        view.dark = choice.dark;
        view.hover.reset();
        view.drag.reset();
        const figure::Point size = usual_figure_size(screen.shown, view);
        scene = stage_scene(screen.shown, view,
                            {.width = size.x,
                             .height = size.y,
                             .crop = choice.crop,
                             .title = choice.title,
                             .all_heads = choice.all_heads && has_all_heads(*screen.shown.document),
                             .head_grid = screen.head_grid.get()});
        ground = background_color(view, choice.background);
    }
    figure::Scene scene;
    figure::Color ground;
};

std::string bytes_of(const DrawnPicture& drawn, const PictureChoice& choice, figure::FigureFormat format) {
    const figure::Scene& scene = drawn.scene;
    const PictureExtent extent =
        picture_extent(choice, format != figure::FigureFormat::png, scene.width, scene.height);
    return figure::draw_figure(scene, format, extent.scale, drawn.ground, extent.paper_scale);
}

std::string title_of(const Shown& shown) {
    const std::string sentences = project::recipe_title(shown.document->recipe);
    return sentences.empty() ? shown.document->title : sentences;
}

} // namespace

const std::vector<std::string>& picture_suffixes() {
    static const std::vector<std::string> all{".png", ".svg", ".pdf"};
    return all;
}

const std::vector<std::string>& number_suffixes(const Shown& shown, const ViewState& view) {
    static const std::vector<std::string> all{".npy", ".npz", ".csv", ".tsv", ".safetensors"},
        tables{".csv", ".tsv"}, weights{".npy", ".npz", ".csv", ".tsv", ".safetensors", circuitsvis_ending};
    const Screen screen = screen_of(shown, view);
    if (shows_stage_numbers(screen) && stage_on_canvas(view) == TensorId::weights)
        return weights;
    return shows_stage_numbers(screen) || screen == Screen::map ? all : tables;
}

void write_picture(const ScreenSnapshot& screen, const PictureChoice& choice, const std::string& path) {
    const figure::FigureFormat format = figure::figure_format(path);
    write_file_atomically(path, bytes_of(DrawnPicture(screen, choice), choice, format));
}

std::string picture_png(const ScreenSnapshot& screen, const PictureChoice& choice) {
    return bytes_of(DrawnPicture(screen, choice), choice, figure::FigureFormat::png);
}

PicturePreview preview_picture(const ScreenSnapshot& screen, const PictureChoice& choice, int wide,
                               int high) {
    const DrawnPicture drawn(screen, choice);
    const figure::Scene& scene = drawn.scene;
    const float scale =
        std::min(static_cast<float>(wide) / scene.width, static_cast<float>(high) / scene.height);
    PicturePreview preview{scene.width, scene.height,
                           figure::draw_pixels(scene, std::min(scale, 2.0F), drawn.ground)};
    static std::atomic<std::uint64_t> count = 0;
    preview.pixels.key = std::hash<std::string>{}("preview " + std::to_string(++count));
    return preview;
}

void write_numbers(const ScreenSnapshot& screen, const std::string& path) {
    const Screen on = screen_of(screen.shown, screen.view);
    const bool csv = path.ends_with(".csv"), table = csv || path.ends_with(".tsv");
    if (on == Screen::map && !table)
        return write_map(screen, path);
    if (!shows_stage_numbers(on)) {
        if (!table)
            fail_input(tr("exports.table_page_words_name",
                          "{}: the table of this view contains words; name the file .csv or .tsv", path));
        return write_file_atomically(path,
                                     table_text(screen_table(screen.shown, screen.view), csv ? ',' : '\t'));
    }
    const AttentionSetPtr& given = screen.shown.document->shown_weights();
    std::map<std::string, std::string> notes;
    if (given != nullptr) {
        const AttentionInfo& info = given->info();
        notes["layer"] = open_layer_name(*screen.shown.document);
        if (!info.reading.empty())
            notes["reading"] = info.reading;
        if (!info.made_head.empty())
            notes["last_head"] = std::string(info.made_head.english) + " over the others";
    }
    Trace trace = *screen.shown.trace;
    const TensorId id = stage_on_canvas(screen.view);
    if (is_around(screen.view.group)) {
        refuse_awaited(screen);
        trace.slot(id) = screen.shown.block->find(id);
        const checkpoint::AttentionPlace place = screen.shown.block->place;
        if (place.layer >= 0)
            notes["layer"] = std::to_string(place.layer);
        const std::string stack = stack_name(screen.shown.document->part()->config(), place.stack);
        if (!stack.empty())
            notes["stack"] = stack;
    }
    if (const GivenWeights* const file = screen.shown.document->given();
        file != nullptr && !file->loaded.all() && id == TensorId::weights)
        trace.slot(id) = file->set->layer(file->layer); // only some heads of the layer are on screen
    exporting::export_tensor(screen.shown.problem(), trace, {.id = id}, path, notes);
}

std::string part_description(const ScreenSnapshot& screen, bool numbers) {
    if (screen_of(screen.shown, screen.view) != Screen::map || screen.shown.map == nullptr)
        return {};
    const LongMap& map = *screen.shown.map;
    const LongMapView& view = screen.view.attention.long_map;
    return map_place_text(map, view) + (numbers ? "; " + map_number_text(map, view) : "");
}

void write_script(const ScreenSnapshot& screen, const std::string& path, Progress& progress) {
    const std::string title = title_of(screen.shown);
    const std::optional<checkpoint::AttentionPlace> layer = whole_layer(screen);
    if (!layer)
        return exporting::export_pytorch(attention_part(screen), title, path);
    const RunSpec& run = *screen.shown.document->part();
    checkpoint::Pass pass(*run.model->model, *run.inputs, run.edits, 1, nullptr);
    exporting::export_pytorch(exporting::part_of_layer(pass, *layer, progress), title, path);
}

Copied copy_stage(const ScreenSnapshot& screen) {
    if (const Screen on = screen_of(screen.shown, screen.view); !shows_stage_numbers(on)) {
        if (on == Screen::map && screen.shown.map != nullptr)
            refuse_large(visible_pixels(*screen.shown.map, screen.view.attention.long_map).values.count(),
                         tr("exports.part_map_seen", "The visible part of the map"));
        const std::string part = part_description(screen, true);
        return {table_text(screen_table(screen.shown, screen.view), '\t'),
                part.empty() ? tr("exports.copied_table_page", "Copied the table of this view")
                             : tr("exports.copied", "Copied {}", part)};
    }
    const TensorId id = stage_on_canvas(screen.view);
    const std::string name(tensor_info(id).name);
    const Tensor* tensor = screen.shown.tensor(id);
    if (tensor == nullptr)
        fail_input(tr("exports.not_computed_problem_go",
                      "{} was not computed for this problem; go to another stage.", name));
    refuse_large(tensor->count(), name);
    const Shape& shape = tensor->shape();
    const bool several = shape.rank() > 2 && shape.count() > shape.back(0) * shape.back(1);
    return {format::tsv(*tensor),
            (several ? tr("exports.copied_one_matrix_below", "Copied {}, {}, one matrix below the other",
                          name, shape_words(shape))
                     : tr("exports.copied_2", "Copied {}, {}", name, shape_words(shape))) +
                reading_note(screen.shown)};
}

Copied copy_matrix(const ScreenSnapshot& screen) {
    const auto cell = current_cell(screen.shown, screen.view);
    const Tensor* tensor = cell ? screen.shown.tensor(cell->tensor) : nullptr;
    if (tensor == nullptr)
        fail_input(tr("exports.no_matrix_copy_point",
                      "There is no matrix to copy; point at one and press {} again.", key_hint("copy")));
    const Shape& shape = tensor->shape();
    const format::MatrixCells cells = format::matrix_around(*tensor, cell->at);
    std::string name(tensor_info(cell->tensor).name);
    refuse_large(cells.rows * cells.cols, name);
    for (int axis = 0; axis < shape.rank() - 2; ++axis)
        if (shape[axis] > 1)
            name += "[" + std::to_string(cell->at[static_cast<std::size_t>(axis)]) + "]";
    return {format::tsv(*tensor, cells),
            tr("exports.copied_3", "Copied {}, {} × {}", name, grouped(cells.rows), grouped(cells.cols)) +
                reading_note(screen.shown)};
}

Copied copy_far_weights(const ScreenSnapshot& screen) {
    return {table_text(far_weights_table(screen.shown, screen.view), '\t'),
            tr("exports.copied_strongest_weights_far", "Copied the strongest weights far from the diagonal")};
}

Copied copy_script(const ScreenSnapshot& screen) {
    return {exporting::pytorch_clipboard(attention_part(screen), title_of(screen.shown)),
            tr("exports.copied_pytorch_script_computes",
               "Copied a PyTorch script that recomputes these numbers")};
}

std::string reading_suffix(const analysis::ReadingOptions& options) {
    std::string suffix;
    for (const analysis::ReadingInfo& reading : analysis::readings())
        if (options.*reading.option)
            suffix += reading.suffix;
    return suffix;
}

std::string file_stem(const std::string& sentence) {
    constexpr std::size_t most = 40;
    std::string stem;
    for (const char c : sentence) {
        const auto byte = static_cast<unsigned char>(c);
        const bool letter = byte >= 0x80 || std::isalnum(byte) != 0;
        if (letter)
            stem += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
        else if (!stem.empty() && stem.back() != '-')
            stem += '-';
    }
    if (stem.size() > most) { // do not split a UTF-8 character
        std::size_t end = most;
        while (end > 0 && (static_cast<unsigned char>(stem[end]) & 0xC0U) == 0x80U)
            --end;
        stem.resize(end);
    }
    while (stem.ends_with('-'))
        stem.pop_back();
    return stem.empty() ? "untitled" : stem;
}

} // namespace headscope::app
