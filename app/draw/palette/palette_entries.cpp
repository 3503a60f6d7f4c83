#include "app/draw/block/block_strip.h"
#include "app/draw/palette/find.h"
#include "app/draw/palette/palette.h"

#include "core/analysis/attention_set.h"
#include "core/base/message.h"
#include "core/manual/manual.h"
#include "core/text/plain_text.h"
#include "core/text/preset.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>

namespace headscope::app {

namespace {

using Entries = std::vector<PaletteEntry>;

/// Actions that select a head of the open layer by number. They are commands in the table, but entries of
/// kind head here.
std::string head_action(std::int64_t head) {
    return "head " + std::to_string(head);
}
bool is_head_action(const ActionInfo& info) {
    return info.id.starts_with("head ") && info.id.back() >= '0' && info.id.back() <= '9';
}

/// The label of one action of a group.
struct GroupWord {
    std::string_view group;
    Message one;
};
constexpr GroupWord group_words[] = {
    {"Stages", translatable("palette_entries.stage", "stage")},
    {"Screens", translatable("palette_entries.screen", "screen")},
    {"View", translatable("palette_entries.view", "view")},
    {"Weights", translatable("common.weight", "weight")},
    {"Map", translatable("palette_entries.map", "map")},
    {"Numbers", translatable("palette_entries.number", "number")},
    {"Writing", translatable("palette_entries.writing", "writing")},
    {"Selection", translatable("palette_entries.selection", "selection")},
    {"Window", translatable("palette_entries.window", "window")},
    {"Presentation", translatable("palette_entries.presentation", "presentation")},
    {"Files", translatable("palette_entries.file", "file")}};

/// Synonyms of an action, by its id.
struct OtherWords {
    std::string_view id;
    Message words;
};
constexpr OtherWords other_words[] = {
    {"larger", translatable("palette_entries.zoom_font_size_scale", "zoom in font size scale")},
    {"smaller", translatable("palette_entries.zoom_out_font_size", "zoom out font size scale")},
    {"settings", translatable("palette_entries.preferences_options",
                              "preferences options language theme font size motion colors memory")},
    {"theme", translatable("palette_entries.dark_light_night_mode", "dark light night mode")},
    {"picture",
     translatable("palette_entries.export_image_screenshot", "export image screenshot png svg pdf")},
    {"save numbers",
     translatable("palette_entries.export_data_npy_csv", "export data npy csv tsv safetensors")},
    {"save script", translatable("palette_entries.export_python_code", "export python code")},
    {"copy script", translatable("palette_entries.export_python_code", "export python code")},
    {"record", translatable("palette_entries.export_film_video_gif", "export film video gif mp4 animation")},
    {"colour map", translatable("palette_entries.palette_ramp", "palette ramp")}};

/// Synonyms of the stages, by their labels in the strip.
constexpr OtherWords stage_words[] = {
    {"scaled", translatable("palette_entries.temperature_divide_root", "temperature divide by root")},
    {"weights", translatable("palette_entries.softmax_attention", "softmax attention pattern")},
    {"scores", translatable("palette_entries.dot_product_logits", "dot product logits")},
    {"embedding", translatable("palette_entries.word_vectors", "word vectors")},
    {"resid_in", translatable("palette_entries.residual_stream_add", "residual stream add")},
    {"norm1", translatable("palette_entries.layer_norm_rmsnorm", "layer norm RMSNorm")},
    {"resid_mid", translatable("palette_entries.residual_stream_add", "residual stream add")},
    {"norm2", translatable("palette_entries.layer_norm_rmsnorm", "layer norm RMSNorm")},
    {"mlp_pre", translatable("palette_entries.feed_forward_ffn", "feed forward FFN")},
    {"mlp_act", translatable("palette_entries.feed_forward_ffn_neurons", "feed forward FFN neurons")},
    {"mlp_out", translatable("palette_entries.feed_forward_ffn", "feed forward FFN")},
    {"resid_out", translatable("palette_entries.residual_stream_add", "residual stream add")},
    {"final_norm", translatable("palette_entries.layer_norm_rmsnorm", "layer norm RMSNorm")},
    {"logits",
     translatable("palette_entries.unembedding_scores_next", "unembedding scores of the next token")},
    {"probabilities",
     translatable("palette_entries.softmax_prediction_next", "softmax prediction next token")}};

std::string words_for(std::span<const OtherWords> table, std::string_view id) {
    const auto found = std::ranges::find(table, id, &OtherWords::id);
    return found == table.end() ? "" : tr(found->words);
}

std::vector<std::string> chords_after_first(const ActionInfo& info) {
    std::vector<std::string> texts;
    for (std::size_t i = 1; i < info.keys.size(); ++i)
        texts.push_back(chord_text(info.keys[i]));
    return texts;
}

std::string group_label(const ActionInfo& info) {
    if (info.id.ends_with(" screen"))
        return tr("palette_entries.screen", "screen");
    const auto* const word = std::ranges::find(group_words, info.group.english, &GroupWord::group);
    return tr(word == std::end(group_words) ? info.group : word->one);
}

void add_commands(Entries& entries, const ActionContext& now) {
    for (const ActionInfo& info : actions()) {
        if (!info.make_actions || !info.applies(now) || info.id == "palette" || is_head_action(info))
            continue;
        entries.push_back({.id = "command " + info.id,
                           .kind = EntryKind::command,
                           .label = group_label(info),
                           .title = info.title,
                           .tip = info.tip,
                           .synonyms = info.id + " " + words_for(other_words, info.id),
                           .search_words = info.tip,
                           .keys = info.keys.empty() ? "" : chord_text(info.keys.front()),
                           .more_keys = chords_after_first(info),
                           .disabled_reason = why_not(info, now),
                           .make_actions = info.make_actions});
    }
}

void add_setting(Entries& entries, const std::string& id, const std::string& title, const std::string& tip,
                 const std::string& words, const ViewChange& change) {
    entries.push_back({.id = "setting " + id,
                       .kind = EntryKind::command,
                       .label = tr("palette_entries.setting", "setting"),
                       .title = title,
                       .tip = tip,
                       .synonyms = words,
                       .make_actions = [change](const ActionContext&) { return Actions{change}; }});
}

/// Settings that users know by the names of their choices, and settings of the Edit tab.
void add_settings(Entries& entries, const PaletteSources& sources) {
    constexpr std::pair<Message, ColourMap> maps[] = {
        {translatable("common.head_5", "by head"), ColourMap::head},
        {translatable("common.neutral", "neutral"), ColourMap::neutral},
        {untranslated("viridis"), ColourMap::viridis},
        {untranslated("cividis"), ColourMap::cividis},
        {untranslated("magma"), ColourMap::magma}};
    for (const auto& [name, map] : maps)
        add_setting(entries, "colours " + std::string(name.english),
                    tr("palette_entries.colours_cells", "Colors of cells: {}", tr(name)),
                    tr("common.changes_colours_cells", "Changes the colors of the cells"),
                    tr("palette_entries.palette_ramp", "palette ramp"), SetColourMap{map});
    constexpr OtherWords language_words[] = {{"en", translatable("palette_entries.english", "English")},
                                             {"de", translatable("palette_entries.german", "German")}};
    for (const Language& language : languages())
        add_setting(entries, "language " + language.code,
                    tr("palette_entries.language", "Language: {}", language.name),
                    tr("common.window_lessons", "of the window and of lessons") + ", " +
                        tr("common.next_start_program", "from the next start of the program on"),
                    words_for(language_words, language.code) + " " + language.code,
                    SetLanguage{language.code});
    if (sources.document.is_experiment())
        add_setting(entries, "temperature", tr("common.temperature_2", "Temperature"),
                    tr("palette_entries.opens_edit_tab_scores",
                       "Opens the Edit tab, where the scores are divided by it"),
                    tr("palette_entries.sharpen_flatten", "sharpen flatten"), ShowTab{LeftTab::edit});
}

/// Shows the stage that uses a matrix and selects the matrix's first number.
Actions edit_matrix(TensorId id) {
    Actions send{GoTo{tensor_info(id).group}};
    const bool keys = id == TensorId::W_K || id == TensorId::b_K,
               values = id == TensorId::W_V || id == TensorId::b_V;
    if (tensor_info(id).group == StageGroup::qkv)
        send.push_back(ShowProjection{keys ? Projection::k : values ? Projection::v : Projection::q});
    send.push_back(Select{CellAddress{.tensor = id}});
    return send;
}

/// Matrices that can be edited in the view of a stage.
void add_matrices(Entries& entries, const PaletteSources& sources) {
    const Problem& problem = sources.document.problem;
    if (sources.now.weights_alone || sources.shown.trace == nullptr)
        return;
    const auto add = [&](const TensorInfo& info) {
        entries.push_back({.id = "edit " + std::string(info.name),
                           .kind = EntryKind::stage,
                           .label = tr("palette_entries.matrix", "matrix"),
                           .title = tr("palette_entries.edit", "Edit {}", info.name),
                           .tip = tr("palette_entries.selects_first_number",
                                     "Selects its first number at the stage that reads it"),
                           .synonyms = tr(info.title),
                           .make_actions = [id = info.id](const ActionContext&) { return edit_matrix(id); }});
    };
    for (const TensorInfo& info : input_table())
        if (is_editable(info.id) && problem.input(info.id) != nullptr)
            add(info);
    for (const TensorInfo& info : block_weight_table())
        if (sources.shown.tensor(info.id) != nullptr)
            add(info);
}

void add_stages(Entries& entries, const ActionContext& now) {
    if (now.weights_alone)
        return;
    const StepStrip& strip = now.view.step_strip;
    for (const auto* part : {&strip.before, &strip.layer, &strip.after})
        for (const StageGroup step : *part) {
            const GroupInfo& info = group_info(step);
            entries.push_back({.id = "stage " + std::string(info.label),
                               .kind = EntryKind::stage,
                               .label = tr("palette_entries.stage", "stage"),
                               .title = std::string(info.label),
                               .detail = tr(info.title),
                               .tip = tr("palette_entries.goes_stop_strip", "Goes to this step of the strip"),
                               .synonyms = words_for(stage_words, info.label),
                               .search_words = tr("palette_entries.stage", "stage") + " " + tr(info.title),
                               .make_actions = [step](const ActionContext&) { return Actions{GoTo{step}}; }});
        }
}

/// Every stage of every layer of a checkpoint, and the groups of stages in the strip.
void add_layer_stages(Entries& entries, const ActionContext& now) {
    const StepStrip& strip = now.view.step_strip;
    if (now.weights_alone || !strip.whole_block())
        return;
    for (std::int64_t l = 0; l < strip.layers; ++l) {
        const auto add = [&](const Message& name, const Message& title, std::string_view also,
                             StageGroup step) {
            const std::string layer = "L" + std::to_string(l) + " ";
            entries.push_back({.id = "stage " + layer + std::string(name.english),
                               .kind = EntryKind::layer_stage,
                               .label = tr("palette_entries.stage", "stage"),
                               .title = layer + tr(name),
                               .detail = tr(title),
                               .tip = tr("palette_entries.goes_stop_strip", "Goes to this step of the strip"),
                               .synonyms = tr("common.layer_2", "layer {}", l) + " " +
                                           std::string(name.english) + " " + words_for(stage_words, also),
                               .search_words = tr("palette_entries.stage", "stage") + " " + tr(title),
                               .make_actions = [step, l](const ActionContext&) {
                                   return Actions{GoTo{step, -1, l}};
                               }});
        };
        const std::vector<StopRun> runs = runs_of(strip.layer);
        for (const StopRun& run : runs)
            if (!run.name.empty())
                add(run.name, run.title, group_info(run.stops.front()).label, run.stops.front());
        for (const StageGroup step : strip.layer)
            add(untranslated(group_info(step).label), group_info(step).title, group_info(step).label, step);
    }
}

PaletteEntry head_entry(const std::string& id, const std::string& title) {
    return {.id = "head " + id,
            .kind = EntryKind::head,
            .label = tr("common.head_2", "head"),
            .title = title,
            .tip = tr("palette_entries.puts_head_focus", "Puts this head in focus"),
            .search_words = tr("common.head_2", "head")};
}

void add_heads(Entries& entries, const PaletteSources& sources) {
    const ActionContext& now = sources.now;
    const auto keys = [&](std::int64_t h) { return h <= 9 ? key_hint(head_action(h)) : ""; };
    if (sources.head_grid == nullptr) {
        const Experiment* const experiment = sources.document.experiment();
        for (std::int64_t h = 0; h < sources.document.problem.dims.H; ++h) {
            PaletteEntry entry = head_entry(std::to_string(h), "H" + std::to_string(h));
            if (experiment != nullptr && !experiment->head_roles.empty())
                entry.detail = experiment->head_roles[static_cast<std::size_t>(h)];
            if (sources.document.problem.gain(h) == 0.0F)
                entry.detail = tr("palette_entries.switched", "ablated");
            entry.keys = keys(h);
            entry.make_actions = [h](const ActionContext&) { return Actions{PickHead{h}}; };
            entries.push_back(std::move(entry));
        }
        return;
    }
    const AttentionInfo& info = sources.head_grid->info();
    for (std::int64_t l = 0; l < info.own_layers(); ++l)
        for (std::int64_t h = 0; h < info.own_heads(); ++h) {
            PaletteEntry entry =
                head_entry(std::to_string(l) + "." + std::to_string(h), analysis::head_name(info, l, h));
            if (l == now.view.attention.layer) {
                entry.keys = keys(h);
                if (now.problem.gain(h) == 0.0F)
                    entry.detail = tr("palette_entries.switched", "ablated");
            }
            entry.make_actions = [l, h](const ActionContext& then) {
                Actions send{OpenHead{l, h}};
                if (is_around(then.view.group)) // stages that show no head
                    send.push_back(GoTo{StageGroup::weights});
                return send;
            };
            entries.push_back(std::move(entry));
        }
}

void add_tokens(Entries& entries, const PaletteSources& sources) {
    if (sources.shown.trace == nullptr)
        return;
    const std::vector<std::string>& tokens = sources.shown.problem().tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i)
        entries.push_back({.id = "token " + std::to_string(i),
                           .kind = EntryKind::token,
                           .label = tr("common.token", "token"),
                           .title = text::plain_text(tokens[i]),
                           .detail = tr("common.token_2", "token {}", i),
                           .tip = tr("palette_entries.selects_number_tokens",
                                     "Selects the inspected number in the row of this token"),
                           .search_words = std::to_string(i),
                           .make_actions = [i, &shown = sources.shown](const ActionContext& now) {
                               return select_token(shown, now.view, static_cast<std::int64_t>(i));
                           }});
}

void add_presets(Entries& entries, const Document& document) {
    if (document.experiment() == nullptr)
        return;
    for (const text::PresetInfo& info : text::presets())
        entries.push_back({.id = "preset " + std::string(info.id),
                           .kind = EntryKind::command,
                           .label = tr("common.preset", "preset"),
                           .title = tr(info.title),
                           .tip = tr(info.description),
                           .search_words = tr("common.preset", "preset") + " " + std::string(info.id),
                           .replaces = true,
                           .make_actions = [id = std::string(info.id)](const ActionContext&) {
                               return Actions{SetPreset{id}};
                           }});
}

void add_lessons(Entries& entries, const CourseState& course) {
    for (const auto& lesson : course.lessons)
        entries.push_back(
            {.id = "lesson " + lesson->id,
             .kind = EntryKind::lesson,
             .label = tr("common.lesson", "lesson"),
             .title = (lesson->number >= 0 ? std::to_string(lesson->number) + "  " : "") + lesson->title,
             .detail = tr("common.min", "{} min", lesson->minutes),
             .tip = lesson->summary,
             .search_words = tr("common.lesson", "lesson") + " " + lesson->summary,
             .make_actions = [id = lesson->id](const ActionContext&) { return Actions{OpenLesson{id}}; }});
}

void add_files(Entries& entries, const ActionContext& now) {
    const auto add = [&](const std::string& path, const std::string& title, const std::string& detail) {
        entries.push_back(
            {.id = "file " + path,
             .kind = EntryKind::file,
             .label = tr("palette_entries.file", "file"),
             .title = title,
             .detail = detail,
             .tip = tr("palette_entries.opens", "Opens {}", path),
             .search_words = tr("palette_entries.open_recent_file", "open recent file") + " " + detail,
             .disabled_reason = why_not(action("open"), now),
             .make_actions = [path](const ActionContext&) { return Actions{OpenPath{path}}; }});
    };
    for (const std::string& path : now.files.recent) {
        const std::filesystem::path whole(path);
        add(path, text::plain_text(whole.filename().string()),
            text::plain_text(whole.parent_path().string()));
    }
    for (const std::string& name : now.files.packaged)
        add(name, name, tr("palette_entries.model_comes_program", "model that comes with the program"));
}

void add_pages(Entries& entries) {
    for (const manual::Page& page : manual::pages())
        for (const manual::Section& section : page.sections) {
            const manual::Place place{page.name, section.block == 0 ? "" : section.anchor};
            entries.push_back(
                {.id = "page " + manual::link_to(place),
                 .kind = EntryKind::manual_heading,
                 .label = tr("palette_entries.page", "page"),
                 .title = section.title,
                 .detail = section.block == 0 ? "" : page.title,
                 .tip = tr("palette_entries.opens_manual", "Opens the manual there"),
                 .search_words = tr("palette_entries.manual", "manual") + " " + page.title,
                 .make_actions = [place](const ActionContext&) { return Actions{OpenManual{place}}; }});
        }
}

} // namespace

PaletteEntry search_entry(std::string_view typed) {
    const std::string words(typed.substr(std::min(typed.find_first_not_of(" @#?"), typed.size())));
    return {.id = "search the manual",
            .kind = EntryKind::manual_heading,
            .label = tr("palette_entries.page", "page"),
            .title = tr("palette_entries.search_manual", "Search the manual for “{}”", words),
            .tip = tr("palette_entries.lists_places_manual_hold",
                      "Lists the places of the manual that hold these words"),
            .make_actions = [words](const ActionContext&) { return Actions{SearchManual{words}}; }};
}

std::vector<PaletteEntry> palette_entries(const PaletteSources& sources) {
    Entries entries;
    add_commands(entries, sources.now);
    add_settings(entries, sources);
    add_presets(entries, sources.document);
    add_stages(entries, sources.now);
    add_layer_stages(entries, sources.now);
    add_matrices(entries, sources);
    add_heads(entries, sources);
    add_tokens(entries, sources);
    add_lessons(entries, sources.course);
    add_files(entries, sources.now);
    add_pages(entries);
    return entries;
}

} // namespace headscope::app
