#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/lesson/directives.h"
#include "core/lesson/fields.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

namespace headscope::lesson {

analysis::HeadPlace head_place(const std::string& text) {
    const auto point = text.find('.');
    const TargetIndex layer = parse_index(text.substr(0, point)),
                      head = parse_index(point == std::string::npos ? "" : text.substr(point + 1));
    if (layer.kind != TargetIndex::Kind::number || head.kind != TargetIndex::Kind::number)
        fail_input(tr("panel_directive.no_head_write_2",
                      "\"{}\" is not a head; write 2.7 for head 7 of layer 2", text));
    return {layer.first, head.first};
}

namespace {

using Sizes = std::initializer_list<std::pair<const char*, std::int64_t*>>;

/// Reads sizes; a size without an entry is unchanged.
void take(Fields& fields, const Sizes& sizes) {
    for (const auto& [key, size] : sizes) {
        *size = fields.integer(key).value_or(*size);
        const bool may_be_0 = std::string_view(key) == "Hkv" || std::string_view(key) == "latent";
        if (*size < 1 && !(may_be_0 && *size == 0))
            fields.fault(key, tr("panel_directive.panel_starts_1",
                                 "\"{}\" of the panel is {}; it should be at least 1", key, *size));
    }
}

CostPanel cost_panel(Fields& fields) {
    CostPanel panel;
    take(fields, {{"T", &panel.T}, {"D", &panel.D}, {"H", &panel.H}, {"Hkv", &panel.Hkv}});
    return panel;
}

CachePanel cache_panel(Fields& fields) {
    CachePanel panel;
    take(fields, {{"T", &panel.T},
                  {"layers", &panel.layers},
                  {"H", &panel.H},
                  {"Hkv", &panel.Hkv},
                  {"dk", &panel.dk},
                  {"latent", &panel.latent},
                  {"bytes", &panel.bytes}});
    for (Fields& entry : fields.maps("models")) {
        ModelSizes model;
        model.name = entry.required_text("name");
        take(entry, {{"layers", &model.layers},
                     {"H", &model.H},
                     {"Hkv", &model.Hkv},
                     {"dk", &model.dk},
                     {"latent", &model.latent}});
        entry.report_unknown_entries();
        panel.models.push_back(std::move(model));
    }
    return panel;
}

MergePanel blur_panel(Fields& fields) {
    MergePanel panel;
    bool named = false;
    fields.use("row", [&](const std::string& text) {
        panel.row = parse_index(text);
        named = panel.row.kind == TargetIndex::Kind::word || panel.row.kind == TargetIndex::Kind::number;
    });
    if (!named)
        fields.fault("row", tr("panel_directive.panel_no_row_whose",
                               "the panel has no row whose weights it shows; add row: cat"));
    if (const std::vector<std::int64_t> heads = fields.integers("heads"); !heads.empty())
        panel.heads = heads;
    panel.H = fields.integer("H").value_or(0);
    return panel;
}

SamplingPanel sampling_panel(Fields& fields) {
    SamplingPanel panel;
    panel.temperature = fields.number("temperature").value_or(panel.temperature);
    panel.top_p = fields.number("top_p").value_or(panel.top_p);
    take(fields, {{"top_k", &panel.top_k}, {"rows", &panel.rows}});
    return panel;
}

HeadsPanel heads_panel(Fields& fields) {
    HeadsPanel panel;
    panel.columns = fields.texts("columns");
    if (panel.columns.empty())
        fields.fault("columns", tr("panel_directive.panel_heads_no_columns",
                                   "the panel of heads has no columns; add columns: [reads, attribution]"));
    panel.word = fields.text("word").value_or("");
    panel.against = fields.text("against").value_or("");
    take(fields, {{"rows", &panel.rows}});
    return panel;
}

PathPanel path_panel(Fields& fields) {
    PathPanel panel;
    fields.use("from", [&](const std::string& text) { panel.from = head_place(text); });
    fields.use_all("to", [&](const std::string& text) { panel.to.push_back(head_place(text)); });
    fields.use("row", [&](const std::string& text) { panel.row = parse_index(text); });
    fields.use("key", [&](const std::string& text) { panel.key = parse_index(text); });
    if (panel.to.empty())
        fields.fault("to", tr("panel_directive.panel_path_names_no",
                              "the panel of a path names no head that reads; add to: [2.4]"));
    return panel;
}

PositionsPanel positions_panel(Fields& fields) {
    PositionsPanel panel;
    take(fields, {{"dk", &panel.dk}, {"H", &panel.H}});
    panel.base = fields.number("base").value_or(panel.base);
    panel.query = fields.integer("query").value_or(panel.query);
    panel.key = fields.integer("key").value_or(panel.key);
    panel.pair = fields.integer("pair").value_or(panel.pair);
    if (panel.dk < 2 || panel.dk % 2 != 0 || panel.base <= 1)
        fields.fault("dk", tr("panel_directive.panel_positions_needs",
                              "the panel of positions needs an even dk and a base above 1"));
    return panel;
}

using ReadPanel = void (*)(Fields& fields, LessonPanel& panel);
const std::map<std::string, ReadPanel> kinds{
    {"cost", [](Fields& fields, LessonPanel& panel) { panel.kind = cost_panel(fields); }},
    {"cache", [](Fields& fields, LessonPanel& panel) { panel.kind = cache_panel(fields); }},
    {"blur", [](Fields& fields, LessonPanel& panel) { panel.kind = blur_panel(fields); }},
    {"loop", [](Fields&, LessonPanel& panel) { panel.kind = LoopPanel{}; }},
    {"sampling", [](Fields& fields, LessonPanel& panel) { panel.kind = sampling_panel(fields); }},
    {"heads", [](Fields& fields, LessonPanel& panel) { panel.kind = heads_panel(fields); }},
    {"path", [](Fields& fields, LessonPanel& panel) { panel.kind = path_panel(fields); }},
    {"positions", [](Fields& fields, LessonPanel& panel) { panel.kind = positions_panel(fields); }}};

} // namespace

std::optional<LessonPanel> read_panel(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields = Fields::parse(fence.text, tr("panel_directive.panel", "the panel"), fence.line, faults);
    LessonPanel panel;
    panel.line = fence.line;
    const auto kind = kinds.find(fields.text("kind").value_or(""));
    if (kind == kinds.end()) {
        const std::string names = joined(kinds, [](const auto& one) { return one.first; });
        const std::optional<std::string> given = fields.text("kind");
        fields.fault("kind",
                     given ? tr("panel_directive.kind_panel_should_one",
                                "\"kind\" of the panel is \"{}\"; it should be one of {}", *given, names)
                           : tr("panel_directive.panel_no_kind_should",
                                "the panel has no \"kind\"; it should be one of {}", names));
        return {};
    }
    kind->second(fields, panel);
    panel.knobs = fields.texts("knobs");
    fields.report_unknown_entries();
    const std::vector<Knob> all = knobs_of(panel, {});
    for (const std::string& name : panel.knobs)
        if (std::ranges::find(all, name, &Knob::name) == all.end())
            fields.fault("knobs", tr("common.panel_no_knob", "the panel has no knob \"{}\"", name));
    return panel;
}

} // namespace headscope::lesson
