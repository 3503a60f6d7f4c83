#include "app/state/screens/questions.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

using nlohmann::json;

json of(const std::optional<std::int64_t>& number) {
    return number ? json(*number) : json();
}

[[noreturn]] void fail_damaged() {
    fail_input(tr("questions.questions_patch_damaged_save",
                  "the questions of this patch are damaged; save the patch again"));
}

json parsed(const std::string& text) {
    try {
        return parse_json_with_bytes(text, "the questions of this patch");
    } catch (const Error&) {
        fail_damaged();
    }
}

/// Reads a number in [0, end), or null.
std::optional<std::int64_t> read(const json& from, const char* name, std::int64_t end) {
    const json& value = from.at(name);
    if (value.is_null())
        return std::nullopt;
    const auto number = value.get<std::int64_t>();
    if (number < 0 || number >= end)
        // Translators: an entry of a file, "token", and its number
        fail_input(tr("questions.questions_patch_name",
                      "the questions of this patch name {} {}, which this checkpoint does not have", name,
                      number));
    return number;
}

} // namespace

std::string questions_text(const ModelState& model, const RunSpec& part) {
    if (!model.position && model.effects == EffectsQuestion{} && model.patching == PatchingQuestion{} &&
        model.circuits == CircuitsQuestion{} && !model.one_text)
        return {};
    const PatchedRun* const patch = patched_run(part);
    const RunSpec& own = patch != nullptr ? *patch->clean : part;
    json asked{{"prompt", own.prompt},
               {"target", own.target},
               {"position", of(model.position)},
               {"effects",
                {{"token", of(model.effects.token)},
                 {"against", of(model.effects.against)},
                 {"from_mean", model.effects.from_mean}}},
               {"patching",
                {{"corrupted", model.patching.corrupted},
                 {"what", analysis::info_of(model.patching.kind).id},
                 {"paths", model.patching.paths}}},
               {"circuits",
                {{"token", of(model.circuits.token)},
                 {"through_mlp", model.circuits.through_mlp},
                 {"threshold", model.circuits.threshold ? json(*model.circuits.threshold) : json()}}}};
    if (!own.pair.empty())
        asked["pair"] = own.pair;
    if (model.one_text)
        asked["one_text"] = true;
    return dump_json(asked);
}

std::optional<Questions> read_questions(const std::string& text, std::int64_t vocab) {
    if (text.empty())
        return std::nullopt;
    try {
        const json all = parsed(text);
        constexpr std::int64_t most_positions = std::int64_t{1} << 40U;
        const json &effects = all.at("effects"), &patching = all.at("patching"),
                   &circuits = all.at("circuits");
        const auto what = patching.at("what").get<std::string>();
        const auto kind = std::ranges::find(analysis::patch_kinds(), what, &analysis::PatchKindInfo::id);
        if (kind == analysis::patch_kinds().end())
            fail_input(tr("questions.questions_patch_ask_nothing",
                          "the questions of this patch ask for \"{}\", which cannot be patched", what));
        Questions asked{.prompt = all.value("prompt", ""),
                        .pair = all.value("pair", ""),
                        .target = all.value("target", ""),
                        // Clamped to the text when it is used.
                        .position = read(all, "position", most_positions),
                        .effects = {.token = read(effects, "token", vocab),
                                    .against = read(effects, "against", vocab),
                                    .from_mean = effects.at("from_mean").get<bool>()},
                        .patching = {.corrupted = patching.at("corrupted").get<std::string>(),
                                     .kind = kind->kind,
                                     .paths = patching.at("paths").get<bool>()},
                        .circuits = {.token = read(circuits, "token", vocab),
                                     .through_mlp = circuits.at("through_mlp").get<bool>()},
                        .one_text = all.value("one_text", false)};
        if (const json& threshold = circuits.at("threshold"); !threshold.is_null())
            asked.circuits.threshold = std::clamp(threshold.get<float>(), 0.0F, 1.0F);
        return asked;
    } catch (const json::exception&) {
        fail_damaged();
    }
}

void restore_questions(ModelState& model, const Questions& asked) {
    model.position = asked.position;
    model.effects = asked.effects;
    model.patching = asked.patching;
    model.circuits = asked.circuits;
    model.one_text = asked.one_text;
}

} // namespace headscope::app
