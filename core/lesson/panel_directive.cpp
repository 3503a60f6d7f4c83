#include "core/lesson/directives.h"
#include "core/lesson/fields.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace headscope::lesson {

namespace {

using Sizes = std::initializer_list<std::pair<const char*, std::int64_t*>>;

/// Reads sizes; a size without an entry keeps its value.
void take(Fields& fields, const Sizes& sizes) {
    for (const auto& [key, size] : sizes) {
        *size = fields.whole(key).value_or(*size);
        if (*size < 1 && !(std::string_view(key) == "Hkv" && *size == 0))
            fields.fault(key, std::string("\"") + key + "\" of the panel is " + std::to_string(*size) +
                                  "; it starts at 1");
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
                  {"bytes", &panel.bytes}});
    for (Fields& entry : fields.maps("models")) {
        ModelSizes model;
        model.name = entry.needed_text("name");
        take(entry, {{"layers", &model.layers}, {"H", &model.H}, {"Hkv", &model.Hkv}, {"dk", &model.dk}});
        entry.refuse_others();
        panel.models.push_back(std::move(model));
    }
    return panel;
}

BlurPanel blur_panel(Fields& fields) {
    BlurPanel panel;
    bool named = false;
    fields.use("row", [&](const std::string& text) {
        panel.row = parse_index(text);
        named = panel.row.kind == TargetIndex::Kind::word || panel.row.kind == TargetIndex::Kind::number;
    });
    if (!named)
        fields.fault("row", "the panel has no row whose weights it shows; add row: cat");
    if (const std::vector<std::int64_t> heads = fields.wholes("heads"); !heads.empty())
        panel.heads = heads;
    panel.H = fields.whole("H").value_or(0);
    return panel;
}

} // namespace

std::optional<LessonPanel> read_panel(const Fence& fence, std::vector<LessonFault>& faults) {
    Fields fields = Fields::parse(fence.text, "the panel", fence.line, faults);
    LessonPanel panel;
    panel.line = fence.line;
    const auto kind = fields.word("kind", {"cost", "cache", "blur", "loop"});
    if (!kind) {
        fields.fault("kind", "the panel has no \"kind\" that is known; add kind: cost, cache, blur or loop");
        return {};
    }
    if (*kind == "cost")
        panel.kind = cost_panel(fields);
    else if (*kind == "cache")
        panel.kind = cache_panel(fields);
    else if (*kind == "blur")
        panel.kind = blur_panel(fields);
    else
        panel.kind = LoopPanel{};
    panel.knobs = fields.texts("knobs");
    fields.refuse_others();
    const std::vector<Knob> all = knobs_of(panel, {});
    for (const std::string& name : panel.knobs)
        if (std::ranges::find(all, name, &Knob::name) == all.end())
            fields.fault("knobs", "the panel has no knob \"" + name + "\"");
    return panel;
}

} // namespace headscope::lesson
