#include "app/commands/command.h"

#include "app/commands/model_commands.h"
#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/text/preset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace headscope::app {

namespace {

void take_preset(project::Recipe& recipe, const std::string& id) {
    const text::PresetInfo *old = text::find_preset(recipe.preset), *chosen = text::find_preset(id);
    // A sentence that the user typed is kept for the next preset; the old preset's example is not.
    const bool own = old != nullptr && !old->fixed_sentence && old->sentence != recipe.sentence;
    const bool own_kv = own && !recipe.kv_sentence.empty() && old->kv_sentence != recipe.kv_sentence;
    recipe.preset = id;
    recipe.H = recipe.Hkv = 0;
    recipe.gains.clear();
    recipe.edits.clear();
    recipe.painted_mask.clear();
    recipe.temperature = 1.0F;
    recipe.identity_W_O = false;
    recipe.base = nullptr;
    if (chosen != nullptr && (chosen->fixed_sentence || !own))
        recipe.sentence = chosen->sentence;
    // The second example sentence matches only the first one; with another first sentence it has no meaning.
    const bool example = chosen != nullptr && recipe.sentence == chosen->sentence;
    if (chosen != nullptr && (chosen->kv_sentence.empty() || !own_kv))
        recipe.kv_sentence = example ? text::opening_kv_sentence(*chosen) : std::string_view{};
}

void set_kv_sentence(project::Recipe& recipe, const std::optional<std::string>& sentence) {
    if (sentence && sentence->empty())
        fail_input(tr("command.second_sentence_no_word",
                      "the second sentence has no word: type at least one, or go back to self-attention"));
    recipe.kv_sentence = sentence.value_or("");
    recipe.base = nullptr; // a sentence requires a preset
    recipe.edits.erase(TensorId::x_kv);
}

bool edit_cell(project::Recipe& recipe, const Document& document, const EditCell& edit) {
    check_number(edit);
    return change(recipe, document, EditBlock{{edit.cell.tensor, edit.cell.at}, SetTo{edit.value}});
}

void set_gain(project::Recipe& recipe, const Document& document, const SetGain& c) {
    const Dims& dims = document.problem.dims;
    check_head(dims, c.head);
    if (!std::isfinite(c.gain))
        fail_input(tr("command.gain_must_finite_type", "a head gain must be finite; type one such as 0.5"));
    recipe.gains = document.problem.gains;
    recipe.gains.resize(static_cast<std::size_t>(dims.H), 1.0F);
    recipe.gains[static_cast<std::size_t>(c.head)] = c.gain;
}

/// Returns true if only edits, head gains, temperature and the painted mask changed.
bool change_any(project::Recipe& recipe, const Document& document, const Command& command) {
    bool edit_only = false;
    std::visit(
        Overloaded{
            [&](const SetSentence& c) {
                recipe.sentence = c.sentence;
                recipe.base = nullptr; // a sentence requires a preset
                recipe.edits.erase(TensorId::x);
            },
            [&](const SetKvSentence& c) { set_kv_sentence(recipe, c.sentence); },
            [&](const SetPreset& c) { take_preset(recipe, c.id); },
            [&](const SetMask& c) {
                recipe.mask = c.mask;
                recipe.painted_mask.clear();
            },
            [&](const SetHeads& c) {
                recipe.H = c.H;
                recipe.Hkv = 0;
                recipe.gains.clear();
            },
            [&](const SetKvHeads& c) { recipe.Hkv = c.Hkv; },
            [&](const SetIdentityOutput& c) { recipe.identity_W_O = c.identity; },
            [&](const SetSeed& c) { recipe.seed = c.seed; },
            [&](const EditCell& c) { edit_only = edit_cell(recipe, document, c); },
            [&](const SetGain& c) {
                set_gain(recipe, document, c);
                edit_only = true;
            },
            [&](const SetTemperature& c) {
                recipe.temperature = c.temperature;
                edit_only = true;
            },
            [](const SetHeadGain&) {
                fail_input(tr("command.gain_other_layer_checkpoint",
                              "only a checkpoint has heads in other layers; open a checkpoint first"));
            },
            [&](const SetRecipe& c) { recipe = c.recipe; },
            [](const ResetActivation&) {
                fail_input(tr(
                    "command.activations_checkpoint_set_taken",
                    "only activations of a checkpoint can be set and taken back; open a checkpoint first"));
            },
            [&](const ResetEdits&) {
                recipe.edits.clear();
                recipe.gains.clear();
                recipe.temperature = 1.0F;
                recipe.painted_mask.clear();
                edit_only = true;
            },
            [&](const auto& c) { edit_only = change(recipe, document, c); }},
        command);
    if (std::ranges::all_of(recipe.gains, [](float gain) { return gain == 1.0F; }))
        recipe.gains.clear(); // no head gains
    return edit_only;
}

std::string brief(float value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", static_cast<double>(std::abs(value)));
    return (value < 0 ? "−" : "") + std::string(text.data());
}

std::string from_to(float before, float after) {
    return brief(before) + " → " + brief(after);
}

} // namespace

EditCell parse_edit(const TypedNumber& typed) {
    return {typed.cell, parse_number(typed.text)};
}

Action replaced_word(const Document& document, const std::string& prompt, const TypedWord& typed) {
    const bool model = document.is_checkpoint(), second = typed.place.of_second;
    const std::optional<WordPlace> now = typed.place.moved_to(model    ? prompt
                                                              : second ? document.recipe.kv_sentence
                                                                       : document.recipe.sentence);
    if (!now)
        fail_input(tr("command.word_changed_meanwhile",
                      "the text has changed since this word was shown; type the word again"));
    const std::string text = now->with(typed.text);
    if (text.empty())
        fail_input(tr("word_field.needs_word", "a text needs at least one word"));
    if (model)
        return TypePrompt{text};
    if (second)
        return SetKvSentence{text};
    return SetSentence{text};
}

CommandName name_of(const Document& before, const Command& command) {
    const Problem& problem = before.problem;
    const Dims& dims = problem.dims;
    const auto count = [](std::int64_t from, std::int64_t to) {
        return std::to_string(from) + " → " + std::to_string(to);
    };
    return std::visit(
        Overloaded{
            [](const SetSentence&) {
                return CommandName{tr("command.type_sentence", "type a sentence"), {}};
            },
            [](const SetKvSentence& c) {
                return CommandName{c.sentence ? tr("command.type_second_sentence", "type the second sentence")
                                              : tr("command.self_attention", "self-attention"),
                                   {}};
            },
            [](const SetPreset& c) {
                return CommandName{tr("command.preset", "preset {}", c.id), {}};
            },
            [](const SetMask&) {
                return CommandName{tr("common.mask", "mask"), {}};
            },
            [&](const SetHeads& c) {
                return CommandName{tr("common.heads", "heads"), count(dims.H, c.H)};
            },
            [&](const SetKvHeads& c) {
                return CommandName{tr("command.key_value_heads", "key/value heads"), count(dims.Hkv, c.Hkv)};
            },
            [](const SetIdentityOutput& c) {
                return CommandName{c.identity ? tr("command.w_o_identity", "W_O = identity")
                                              : tr("command.w_o_built", "W_O as built"),
                                   {}};
            },
            [&](const SetSeed&) {
                return CommandName{tr("common.seed", "seed"), {}};
            },
            [&](const EditCell& c) {
                const Block block{c.cell.tensor, c.cell.at};
                if (c.cell.tensor == TensorId::mlp_act)
                    // Translators: a step of the history, "set mlp_act[3, 17]", and its detail
                    return CommandName{tr("command.set", "set {}", block_text(block, dims)),
                                       tr("command.to", "to {}", brief(c.value))};
                check_inside(block, *editable(before, c.cell.tensor));
                return CommandName{tr("command.edit", "edit {}", block_text(block, dims)),
                                   from_to(owned_value(before, c.cell.tensor, c.cell.at), c.value),
                                   is_of_layer(c.cell.tensor)};
            },
            [&](const SetGain& c) {
                const bool known = c.head >= 0 && c.head < dims.H;
                return CommandName{tr("command.gain_head", "gain of head {}", c.head),
                                   from_to(known ? problem.gain(c.head) : 1.0F, c.gain)};
            },
            [&](const SetTemperature& c) {
                return CommandName{tr("common.temperature", "temperature"),
                                   from_to(problem.temperature, c.temperature)};
            },
            [&](const SetHeadGain& c) {
                if (!before.is_checkpoint())
                    return CommandName{tr("command.gain_head", "gain of head {}", c.head), {}, false};
                const bool known = has_head(before, c);
                return CommandName{
                    tr("command.gain_named_head", "gain of {}",
                       attention_name(*before.part(), c.place) + " H" + std::to_string(c.head)),
                    from_to(known ? head_gain(*before.part(), c.place, c.head) : 1.0F, c.gain), false};
            },
            [](const SetRecipe& c) {
                return CommandName{c.label, {}};
            },
            [](const ResetEdits&) {
                return CommandName{tr("command.drop_all_edits", "drop all edits"), {}};
            },
            [&](const auto& c) { return name_of(before, c); }},
        command);
}

ChangeId change_of(const Document& before, const Command& command) {
    ChangeId id{command.index() + 1};
    id.of[0] = before.layer();
    const auto cell = [&](TensorId tensor, const Index& at) {
        id.of[1] = static_cast<std::int64_t>(tensor);
        std::ranges::copy(at, id.of.begin() + 2);
    };
    const auto single = [&] { id.kind = 0; };
    std::visit(Overloaded{[](const SetSentence&) {},
                          [](const SetMask&) {},
                          [](const SetHeads&) {},
                          [](const SetKvHeads&) {},
                          [](const SetSeed&) {},
                          [](const SetTemperature&) {},
                          [](const ResetEdits&) {},
                          [](const ResetMask&) {},
                          [&](const SetKvSentence& c) { id.of[1] = c.sentence ? 1 : 0; },
                          [&](const SetIdentityOutput& c) { id.of[1] = c.identity ? 1 : 0; },
                          [&](const EditCell& c) { cell(c.cell.tensor, c.cell.at); },
                          [&](const SetGain& c) { id.of[1] = c.head; },
                          [&](const SetHeadGain& c) {
                              id.of[0] = c.place.layer;
                              id.of[1] = c.head;
                              id.of[2] = static_cast<std::int64_t>(c.place.stack);
                          },
                          [&](const PaintMask& c) { id.of[1] = c.head; },
                          [&](const EditBlock& c) {
                              cell(c.block.tensor, c.block.first);
                              id.of[6] = c.block.rows;
                              id.of[7] = c.block.cols;
                              id.of[8] = static_cast<std::int64_t>(c.operation.index());
                          },
                          [&](const SetPreset&) { single(); },
                          [&](const PasteBlock&) { single(); },
                          [&](const CopyHead&) { single(); },
                          [&](const SwapHeads&) { single(); },
                          [&](const ResetHead&) { single(); },
                          [&](const ResetActivation&) { single(); },
                          [&](const SetRecipe&) { single(); }},
               command);
    return id;
}

DocumentPtr apply(const DocumentPtr& document, const Command& command) {
    project::Recipe recipe = document->recipe;
    const bool other_problem =
        std::holds_alternative<SetPreset>(command) || std::holds_alternative<SetRecipe>(command);
    if (document->shows_weights() && !other_problem)
        fail_input(tr("command.weights_come_nothing_computed",
                      "weights loaded from {} are read-only because their inputs are not available",
                      document->title));
    if (document->is_checkpoint())
        check_model_command(*document, command);
    if (DocumentPtr changed = change_in_model(*document, command))
        return changed;
    const bool edit_only = change_any(recipe, *document, command);
    if (document->is_checkpoint() && edit_only)
        return edit_model_document(*document, std::move(recipe), std::holds_alternative<ResetEdits>(command));
    return edit_only ? edit_document(*document, recipe) : make_document(recipe, document->revision + 1);
}

template class OneOf<Commands>;
template class OneOf<AllActions>;
template class OneOf<FileCommands>;
template class OneOf<LessonActions>;
template class OneOf<ModelActions>;
template class OneOf<WindowActions>;
template class OneOf<ViewChanges>;
template class OneOf<AttentionChanges>;
template class OneOf<AtlasChanges>;
template class OneOf<LongMapChanges>;

} // namespace headscope::app
