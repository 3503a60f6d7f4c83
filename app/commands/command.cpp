#include "app/commands/command.h"

#include "core/base/error.h"
#include "core/base/overloaded.h"
#include "core/text/preset.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace headscope {

namespace {

const PresetInfo* find_preset(std::string_view id) {
    const auto row = std::ranges::find(presets(), id, &PresetInfo::id);
    return row == presets().end() ? nullptr : &*row;
}

void take_preset(Recipe& recipe, const std::string& id) {
    const PresetInfo *old = find_preset(recipe.preset), *chosen = find_preset(id);
    // A sentence of the user's own goes along to the next preset; the old preset's example does not.
    const bool own = old != nullptr && !old->fixed_sentence && old->sentence != recipe.sentence;
    recipe.preset = id;
    recipe.H = recipe.Hkv = 0;
    recipe.gains.clear();
    recipe.edits.clear();
    recipe.temperature = 1.0F;
    recipe.identity_W_O = false;
    recipe.base = nullptr;
    if (chosen != nullptr && (chosen->fixed_sentence || !own))
        recipe.sentence = chosen->sentence;
}

void edit_cell(Recipe& recipe, const Document& document, const EditCell& edit) {
    const Tensor* now = document.problem.input(edit.cell.tensor);
    const std::string name(tensor_info(edit.cell.tensor).name);
    if (now == nullptr)
        fail_input(name + " cannot be edited: it is computed, or this problem has none");
    if (!std::isfinite(edit.value))
        fail_input("a number of " + name + " must be finite; type one such as 0.25");
    Tensor changed(now->shape(), now->values());
    changed.data()[changed.shape().offset(edit.cell.at)] = edit.value;
    recipe.edits[edit.cell.tensor] = std::make_shared<const Tensor>(std::move(changed));
    if (edit.cell.tensor == TensorId::W_O)
        recipe.identity_W_O = false;
}

void set_gain(Recipe& recipe, const Document& document, const SetGain& c) {
    const Dims& dims = document.problem.dims;
    if (c.head < 0 || c.head >= dims.H)
        fail_input("there is no head " + std::to_string(c.head) + "; heads are numbered 0 to " +
                   std::to_string(dims.H - 1));
    recipe.gains = document.problem.gains;
    recipe.gains.resize(static_cast<std::size_t>(dims.H), 1.0F);
    recipe.gains[static_cast<std::size_t>(c.head)] = c.gain;
}

/// Says whether nothing but edits, gains and temperature changed.
bool change(Recipe& recipe, const Document& document, const Command& command) {
    bool edit_only = false;
    std::visit(Overloaded{[&](const SetSentence& c) {
                              recipe.sentence = c.sentence;
                              recipe.edits.erase(TensorId::x);
                          },
                          [&](const SetPreset& c) { take_preset(recipe, c.id); },
                          [&](const SetMask& c) { recipe.mask = c.mask; },
                          [&](const SetHeads& c) {
                              recipe.H = c.H;
                              recipe.Hkv = 0;
                              recipe.gains.clear();
                          },
                          [&](const SetKvHeads& c) { recipe.Hkv = c.Hkv; },
                          [&](const SetIdentityOutput& c) { recipe.identity_W_O = c.identity; },
                          [&](const SetSeed& c) { recipe.seed = c.seed; },
                          [&](const EditCell& c) {
                              const bool identity = recipe.identity_W_O;
                              edit_cell(recipe, document, c);
                              edit_only = identity == recipe.identity_W_O;
                          },
                          [&](const SetGain& c) {
                              set_gain(recipe, document, c);
                              edit_only = true;
                          },
                          [&](const SetTemperature& c) {
                              recipe.temperature = c.temperature;
                              edit_only = true;
                          },
                          [&](const SetRecipe& c) { recipe = c.recipe; },
                          [&](const ResetEdits&) {
                              recipe.edits.clear();
                              recipe.gains.clear();
                              recipe.temperature = 1.0F;
                              edit_only = true;
                          }},
               command);
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

std::string cell_label(const Problem& problem, const CellAddress& cell) {
    const TensorInfo& info = tensor_info(cell.tensor);
    std::string inner;
    for (int axis = 0; axis < info.rank(); ++axis) {
        if (info.axes[static_cast<std::size_t>(axis)] == Axis::B && problem.dims.B == 1)
            continue;
        inner += (inner.empty() ? "" : ", ") + std::to_string(cell.at[static_cast<std::size_t>(axis)]);
    }
    return std::string(info.name) + "[" + inner + "]";
}

} // namespace

EditCell parse_edit(const TypedNumber& typed) {
    constexpr std::string_view minus = "−", blank = " \t";
    std::string text = typed.text;
    for (auto at = text.find(minus); at != std::string::npos; at = text.find(minus))
        text.replace(at, minus.size(), "-");
    text.erase(0, std::min(text.find_first_not_of(blank), text.size()));
    text.erase(text.find_last_not_of(blank) + 1);
    const std::string_view digits = text.starts_with('+') ? std::string_view(text).substr(1) : text;
    float value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault == std::errc::result_out_of_range || (fault == std::errc() && !std::isfinite(value)))
        fail_input("“" + typed.text + "” is beyond float32's range; type a smaller number such as 0.25");
    if (fault != std::errc() || end != digits.data() + digits.size())
        fail_input("“" + typed.text + "” is not a number; type one such as 0.25");
    return {typed.cell, value};
}

CommandName name_of(const Document& before, const Command& command) {
    const Problem& problem = before.problem;
    const Dims& dims = problem.dims;
    const auto count = [](std::int64_t from, std::int64_t to) {
        return std::to_string(from) + " → " + std::to_string(to);
    };
    return std::visit(
        Overloaded{[](const SetSentence&) {
                       return CommandName{"type a sentence", {}};
                   },
                   [](const SetPreset& c) {
                       return CommandName{"preset " + c.id, {}};
                   },
                   [](const SetMask&) {
                       return CommandName{"mask", {}};
                   },
                   [&](const SetHeads& c) {
                       return CommandName{"heads", count(dims.H, c.H)};
                   },
                   [&](const SetKvHeads& c) {
                       return CommandName{"key/value heads", count(dims.Hkv, c.Hkv)};
                   },
                   [](const SetIdentityOutput& c) {
                       return CommandName{c.identity ? "W_O = identity" : "W_O as built", {}};
                   },
                   [&](const SetSeed&) {
                       return CommandName{"seed", {}};
                   },
                   [&](const EditCell& c) {
                       const Tensor* tensor = problem.input(c.cell.tensor);
                       const float old =
                           tensor == nullptr ? 0 : tensor->data()[tensor->shape().offset(c.cell.at)];
                       return CommandName{"edit " + cell_label(problem, c.cell), from_to(old, c.value)};
                   },
                   [&](const SetGain& c) {
                       const bool known = c.head >= 0 && c.head < dims.H;
                       return CommandName{"gain head " + std::to_string(c.head),
                                          from_to(known ? problem.gain(c.head) : 1.0F, c.gain)};
                   },
                   [&](const SetTemperature& c) {
                       return CommandName{"temperature", from_to(problem.temperature, c.temperature)};
                   },
                   [](const SetRecipe& c) {
                       return CommandName{c.label, {}};
                   },
                   [](const ResetEdits&) {
                       return CommandName{"drop all edits", {}};
                   }},
        command);
}

DocumentPtr apply(const DocumentPtr& document, const Command& command) {
    Recipe recipe = document->recipe;
    return change(recipe, *document, command) ? edit_document(*document, recipe)
                                              : make_document(recipe, document->revision + 1);
}

} // namespace headscope
