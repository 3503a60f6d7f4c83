#include "core/lesson/directives.h"

#include "core/analysis/effects/patching.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/lesson/fields.h"
#include "core/project/mask_json.h"
#include "core/trace/find_stop.h"

#include <algorithm>
#include <array>
#include <map>

namespace headscope::lesson {

namespace {

std::vector<std::string> levels() {
    return {"beginner", "intermediate", "advanced"};
}

StageGroup find_group(const std::string& name) {
    if (const auto stop = find_stop(name); stop && !is_around(*stop))
        return *stop;
    for (const auto& stage : {find_stage(name), find_block_stage(name)})
        if (stage)
            return tensor_info(*stage).group;
    fail_input(tr("directives.no_stage", "there is no stage \"{}\"", name));
}

TargetIndex row_index(const std::string& text) {
    return text == "all" ? TargetIndex{} : parse_index(text);
}

void read_mask(Fields& fields, StepScene& scene) {
    static const std::map<std::string, project::MaskChoice> choices{
        {"none", project::MaskChoice::none},
        {"causal", project::MaskChoice::causal},
        {"causal window", project::MaskChoice::causal_window},
        {"symmetric window", project::MaskChoice::symmetric_window}};
    fields.use("mask", [&](const std::string& text) {
        if (const auto known = choices.find(text); known != choices.end())
            scene.mask = known->second;
        else
            scene.mask_rules = project::parse_mask(text);
    });
}

/// "3" is head 3 of the scene's problem, "2.7" head 7 of layer 2.
std::optional<HeadGain> head_gain(std::string_view name, float gain) {
    const auto point = name.find('.');
    const bool layered = point != std::string_view::npos;
    const auto head = number_of<std::int64_t>(layered ? name.substr(point + 1) : name),
               layer = layered ? number_of<std::int64_t>(name.substr(0, point)) : std::nullopt;
    if (!head || (layered && !layer))
        return {};
    return HeadGain{layer, *head, gain};
}

/// Rejects entries that a checkpoint determines itself, such as mask and scale.
void reject_entries_of_model(Fields& fields, const StepScene& scene) {
    const std::array<std::pair<const char*, bool>, 8> given{{{"preset", scene.preset.has_value()},
                                                             {"kv_sentence", scene.kv_sentence.has_value()},
                                                             {"mask", scene.mask || scene.mask_rules},
                                                             {"H", scene.H.has_value()},
                                                             {"Hkv", scene.Hkv.has_value()},
                                                             {"W_O", scene.identity_W_O.has_value()},
                                                             {"temperature", scene.temperature.has_value()},
                                                             {"edit", !scene.edits.empty()}}};
    for (const auto& [key, stands] : given)
        if (stands)
            fields.fault(key, tr("directives.cannot_stand_beside_model",
                                 "\"{}\" cannot be combined with \"model\", which brings its own; give only "
                                 "sentence, layer or gain",
                                 key));
}

/// Reads the settings of a checkpoint's screens.
void read_screen(Fields& fields, StepScene& scene) {
    scene.screen = fields.word(
        "screen", {"stages", "atlas", "effects", "ablated", "averaged", "patching", "circuits", "why"});
    scene.token = fields.text("token");
    scene.against = fields.text("against");
    scene.corrupted = fields.text("corrupted");
    std::vector<std::string> kinds{"paths"};
    for (const analysis::PatchKindInfo& info : analysis::patch_kinds())
        kinds.emplace_back(info.id);
    scene.patched = fields.word("patched", kinds);
    fields.use("patch", [&](const std::string& text) {
        const auto point = text.find('.');
        const auto row = number_of<std::int64_t>(std::string_view(text).substr(0, point)),
                   column = number_of<std::int64_t>(point == std::string::npos
                                                        ? std::string_view()
                                                        : std::string_view(text).substr(point + 1));
        if (!row || !column)
            fail_input(tr("directives.no_cell_write_2",
                          "\"{}\" is not a cell; write \"2.14\" for row 2 and column 14 of the map", text));
        scene.patch = {*row, *column};
    });
}

StepScene scene_of(Fields& fields) {
    StepScene scene;
    scene.line = fields.line();
    scene.preset = fields.text("preset");
    scene.model = fields.text("model");
    scene.layer = fields.integer("layer");
    scene.sentence = fields.text("sentence");
    scene.kv_sentence = fields.text("kv_sentence");
    read_mask(fields, scene);
    scene.H = fields.integer("H");
    scene.Hkv = fields.integer("Hkv");
    if (const auto seed = fields.integer("seed"))
        scene.seed = static_cast<std::uint64_t>(*seed);
    if (const auto W_O = fields.word("W_O", {"identity", "as built"}))
        scene.identity_W_O = *W_O == "identity";
    if (const auto temperature = fields.number("temperature"))
        scene.temperature = static_cast<float>(*temperature);
    for (const auto& [head, gain] : fields.numbers_by_name("gain"))
        if (std::optional<HeadGain> read = head_gain(head, static_cast<float>(gain)))
            scene.gains.push_back(*read);
        else
            fields.fault("gain", tr("directives.no_head_write_gain",
                                    "\"{}\" is not a head; write gain: {{0: 0.5}}, or {{\"2.7\": 0}} for "
                                    "head 7 of a model's layer 2",
                                    head));
    for (const auto& [target, value] : fields.numbers_by_name("edit"))
        try {
            scene.edits.emplace_back(parse_target(target), static_cast<float>(value));
        } catch (const Error& error) {
            fields.fault("edit", error.what());
        }
    if (scene.model)
        reject_entries_of_model(fields, scene);
    fields.use("stage", [&](const std::string& text) { scene.stage = find_group(text); });
    scene.view = fields.word("view", {"heatmap", "arcs", "text", "graph"});
    scene.heads = fields.word("heads", {"each", "difference", "mean"});
    scene.projection = fields.word("projection", {"q", "k", "v"});
    scene.apart = fields.flag("apart");
    fields.use("row", [&](const std::string& text) { scene.row = row_index(text); });
    scene.head = fields.integer("head");
    scene.other = fields.integer("other");
    fields.use("select", [&](const std::string& text) { scene.select = parse_target(text); });
    read_screen(fields, scene);
    fields.use_all("point", [&](const std::string& text) { scene.point.push_back(parse_target(text)); });
    return scene;
}

void read_reading(Fields& fields, Lesson& lesson, std::vector<LessonError>& faults) {
    for (Fields& entry : fields.maps("reading")) {
        Reference reference;
        reference.title = entry.required_text("title");
        reference.by = entry.text("by").value_or("");
        reference.year = static_cast<int>(entry.integer("year").value_or(0));
        reference.where = entry.text("where").value_or("");
        reference.url = entry.text("url").value_or("");
        if (!reference.url.empty() && !reference.url.starts_with("https://") &&
            !reference.url.starts_with("http://"))
            entry.fault("url", tr("directives.reference_url",
                                  "\"{}\" is not a web address; begin it with https://", reference.url));
        reference.level = entry.word("level", levels()).value_or("");
        reference.why = read_spans(entry.required_text("why"), entry.line("why"), faults);
        entry.report_unknown_entries();
        lesson.reading.push_back(std::move(reference));
    }
}

} // namespace

StepScene read_inner_scene(Fields& fields, const std::string& key) {
    std::optional<Fields> inner = fields.map(key);
    if (!inner)
        return {};
    StepScene scene = scene_of(*inner);
    inner->report_unknown_entries();
    return scene;
}

void read_front_matter(std::string_view text, int first_line, Lesson& lesson,
                       std::vector<LessonError>& faults) {
    Fields fields =
        Fields::parse(text, tr("directives.front_matter", "the front matter"), first_line, faults);
    lesson.id = fields.required_text("id");
    lesson.title = fields.required_text("title");
    lesson.summary = fields.text("summary").value_or("");
    lesson.language = fields.text("language").value_or("en");
    lesson.number = static_cast<int>(fields.integer("number").value_or(-1));
    lesson.minutes = static_cast<int>(fields.integer("minutes").value_or(0));
    if (lesson.minutes < 1)
        fields.fault("minutes", tr("directives.front_matter_no_minutes",
                                   "the front matter has no \"minutes\"; add minutes: 10"));
    lesson.difficulty = fields.word("difficulty", levels()).value_or("");
    if (lesson.difficulty.empty())
        fields.fault("difficulty", tr("directives.front_matter_no_difficulty",
                                      "the front matter has no \"difficulty\"; add difficulty: beginner"));
    lesson.prerequisites = fields.texts("prerequisites");
    lesson.objectives = fields.texts("objectives");
    lesson.concepts = fields.texts("concepts");
    read_reading(fields, lesson, faults);
    lesson.scene = scene_of(fields);
    fields.report_unknown_entries();
}

StepScene read_scene(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields =
        Fields::parse(fence.text, tr("directives.step_block", "the step block"), fence.line, faults);
    StepScene scene = scene_of(fields);
    fields.report_unknown_entries();
    return scene;
}

std::optional<Gate> read_gate(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields = Fields::parse(fence.text, tr("directives.gate", "the gate"), fence.line, faults);
    Gate gate;
    gate.line = fence.line;
    gate.task = fields.required_text("task");
    bool read = false;
    fields.use("when", [&](const std::string& text) {
        gate.condition = Expression::parse(text);
        read = true;
    });
    if (!read)
        fields.fault("when", tr("directives.gate_no_condition_read",
                                "the gate has no condition that can be read; add when: entropy(0) > 1"));
    gate.solution = read_inner_scene(fields, "solution");
    if (const auto after = fields.text("after"))
        gate.after = read_spans(*after, fields.line("after"), faults);
    fields.report_unknown_entries();
    return read ? std::optional(gate) : std::nullopt;
}

std::optional<FillTable> read_fill(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields =
        Fields::parse(fence.text, tr("directives.table_fill", "the table to fill"), fence.line, faults);
    FillTable table;
    table.line = fence.line;
    table.id = fields.required_text("id");
    table.task = fields.required_text("task");
    table.decimals = static_cast<int>(fields.integer("decimals").value_or(2));
    bool read = false;
    fields.use("cells", [&](const std::string& text) {
        table.cells = parse_target(text);
        read = true;
    });
    if (!read)
        fields.fault("cells", tr("directives.table_fill_no_cells",
                                 "the table to fill has no cells; add cells: weights[0]"));
    fields.report_unknown_entries();
    return read ? std::optional(table) : std::nullopt;
}

std::optional<ShowMe> read_show(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields =
        Fields::parse(fence.text, tr("directives.show_block", "the show block"), fence.line, faults);
    ShowMe show;
    show.line = fence.line;
    show.label = fields.required_text("label");
    show.scene = scene_of(fields);
    fields.report_unknown_entries();
    return show;
}

std::optional<Question> read_question(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields = Fields::parse(fence.text, tr("directives.question", "the question"), fence.line, faults);
    Question question;
    question.line = fence.line;
    question.text = read_spans(fields.required_text("question"), fields.line("question"), faults);
    question.choices = read_choices(fields, faults);
    question.scene = read_inner_scene(fields, "show");
    fields.report_unknown_entries();
    return question;
}

} // namespace headscope::lesson
