#include "core/lesson/scene.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/preset.h"

namespace headscope::lesson {

namespace {

template<class Value>
void take(std::optional<Value>& into, const std::optional<Value>& from) {
    if (from)
        into = from;
}

/// Returns true if other tokens, heads or pages are shown, so that the previous points no longer apply.
bool changes_view(const StepScene& over) {
    return over.preset || over.sentence || over.model || over.kv_sentence || over.H || over.Hkv ||
           over.layer || over.stage || over.view || over.heads || over.projection || over.apart || over.row ||
           over.head || over.other || over.select || over.screen;
}

} // namespace

StepScene combine_scenes(const StepScene& under, const StepScene& over) {
    StepScene out = under;
    take(out.preset, over.preset);
    take(out.sentence, over.sentence);
    take(out.model, over.model);
    if (over.preset || over.model) { // a preset without a sentence has its own
        out.sentence = over.sentence;
        out.kv_sentence.reset();
        (over.preset ? out.model : out.preset).reset();
    }
    if (over.model) { // resets the entries of a preset's problem
        out.mask.reset();
        out.mask_rules.reset();
        out.H = out.Hkv = {};
        out.seed.reset();
        out.identity_W_O.reset();
        out.temperature.reset();
        out.gains.clear();
        out.edits.clear();
    }
    take(out.layer, over.layer);
    take(out.kv_sentence, over.kv_sentence);
    if (over.mask || over.mask_rules) { // a mask and mask rules replace each other: "none" also removes rules
        out.mask = over.mask;
        out.mask_rules = over.mask_rules;
    }
    take(out.H, over.H);
    take(out.Hkv, over.Hkv);
    take(out.seed, over.seed);
    take(out.identity_W_O, over.identity_W_O);
    take(out.temperature, over.temperature);
    out.gains.insert(out.gains.end(), over.gains.begin(), over.gains.end());
    out.edits.insert(out.edits.end(), over.edits.begin(), over.edits.end());
    take(out.stage, over.stage);
    take(out.view, over.view);
    take(out.heads, over.heads);
    take(out.projection, over.projection);
    take(out.apart, over.apart);
    take(out.row, over.row);
    take(out.head, over.head);
    take(out.other, over.other);
    take(out.select, over.select);
    take(out.screen, over.screen);
    take(out.token, over.token);
    take(out.against, over.against);
    take(out.corrupted, over.corrupted);
    take(out.patched, over.patched);
    take(out.patch, over.patch);
    if (!over.point.empty() || changes_view(over))
        out.point = over.point;
    out.line = over.line;
    return out;
}

bool changes_problem(const StepScene& over) {
    return over.preset || over.sentence || over.model || over.kv_sentence || over.mask || over.mask_rules ||
           over.H || over.Hkv || over.seed || over.identity_W_O || over.temperature || !over.gains.empty() ||
           !over.edits.empty();
}

project::Recipe recipe_of(const StepScene& scene) {
    project::Recipe recipe;
    recipe.preset = scene.preset.value_or(recipe.preset);
    const text::PresetInfo* preset = text::find_preset(recipe.preset);
    recipe.sentence = scene.sentence.value_or(preset == nullptr ? "" : std::string(preset->sentence));
    recipe.kv_sentence =
        scene.kv_sentence.value_or(preset == nullptr ? "" : std::string(text::opening_kv_sentence(*preset)));
    recipe.mask = scene.mask.value_or(project::MaskChoice::none);
    recipe.extra_mask = scene.mask_rules.value_or(Mask{});
    recipe.H = scene.H.value_or(0);
    recipe.Hkv = scene.Hkv.value_or(0);
    recipe.seed = scene.seed.value_or(1);
    recipe.identity_W_O = scene.identity_W_O.value_or(false);
    recipe.temperature = scene.temperature.value_or(1.0F);
    if (scene.gains.empty() && scene.edits.empty())
        return recipe;
    const Problem built = project::build_recipe(recipe).problem;
    for (const auto& [layer, head, gain] : scene.gains) {
        if (layer)
            fail_input(
                tr("scene.preset_one_layer_write", "a preset is one layer; write gain: {{{}: 0}}", head));
        if (head < 0 || head >= built.dims.H)
            fail_input(tr("common.no_head_heads_numbered", "there is no head {}; heads are numbered 0 to {}",
                          head, built.dims.H - 1));
        recipe.gains.resize(static_cast<std::size_t>(built.dims.H), 1.0F);
        recipe.gains[static_cast<std::size_t>(head)] = gain;
    }
    for (const auto& [target, value] : scene.edits) {
        const Tensor* now = built.input(target.tensor);
        if (now == nullptr)
            fail_input(tr("common.cannot_edited_computed_problem",
                          "{} cannot be edited: it is computed, or this problem has none",
                          target_text(target)));
        const auto edited = recipe.edits.find(target.tensor);
        Tensor changed(now->shape(), edited == recipe.edits.end() ? now->values() : edited->second->values());
        for (const std::int64_t offset : offsets_of(resolve(target, built), changed.shape()))
            changed.data()[offset] = value;
        recipe.edits[target.tensor] = std::make_shared<const Tensor>(std::move(changed));
    }
    return recipe;
}

} // namespace headscope::lesson
