#include "app/commands/command.h"

#include "core/base/overloaded.h"
#include "core/text/preset.h"

#include <algorithm>

namespace headscope {

namespace {

void change(Recipe& recipe, const Command& command) {
    std::visit(Overloaded{[&](const SetSentence& c) { recipe.sentence = c.sentence; },
                          [&](const SetPreset& c) {
                              const auto old = std::ranges::find(presets(), std::string_view(recipe.preset),
                                                                 &PresetInfo::id);
                              const auto chosen =
                                  std::ranges::find(presets(), std::string_view(c.id), &PresetInfo::id);
                              const bool own = old != presets().end() && !old->fixed_sentence &&
                                               old->sentence != recipe.sentence;
                              recipe.preset = c.id;
                              recipe.H = recipe.Hkv = 0;
                              recipe.gains.clear();
                              recipe.identity_W_O = false;
                              recipe.base = nullptr;
                              if (chosen != presets().end() && (chosen->fixed_sentence || !own))
                                  recipe.sentence = chosen->sentence;
                          },
                          [&](const SetMask& c) { recipe.mask = c.mask; },
                          [&](const SetHeads& c) {
                              recipe.H = c.H;
                              recipe.Hkv = 0;
                              recipe.gains.clear();
                          },
                          [&](const SetKvHeads& c) { recipe.Hkv = c.Hkv; },
                          [&](const SetIdentityOutput& c) { recipe.identity_W_O = c.identity; },
                          [&](const SetSeed& c) { recipe.seed = c.seed; }},
               command);
}

} // namespace

DocumentPtr apply(const DocumentPtr& document, const Command& command) {
    Recipe recipe = document->recipe;
    change(recipe, command);
    return make_document(recipe, document->revision + 1);
}

} // namespace headscope
