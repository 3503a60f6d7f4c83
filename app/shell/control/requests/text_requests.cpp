#include "app/shell/control/named_actions.h"
#include "app/shell/control/requests/requests.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/model/text_pair.h"
#include "core/text/preset.h"

#include <array>
#include <limits>

namespace headscope::app {

namespace {

constexpr std::array<std::string_view, 4> mask_names{"none", "causal", "causal window", "symmetric window"};

void perform_text_actions(Program& program, const Actions& actions) {
    for (const Action& one : actions)
        program.act(one);
}

std::string needs_pair(const AppState& state) {
    return state.document->is_checkpoint()
               ? ""
               : tr("named_actions.text_pair_belongs_prompt",
                    "\"text-pair\" belongs to the prompt of a checkpoint; open one first");
}

std::string needs_decoder(const AppState& state) {
    return state.document->is_checkpoint() && state.document->part()->two_texts()
               ? ""
               : tr("text_requests.needs_decoder",
                    "This belongs to a checkpoint with an encoder and a decoder; open one first");
}

void set_preset(Program& program, const RequestValue& value) {
    const std::string id = value.text();
    if (text::find_preset(id) == nullptr)
        fail_input(tr("text_requests.no_preset", "there is no preset \"{}\"; the presets are {}", id,
                      joined(text::presets(), &text::PresetInfo::id)));
    program.act(SetPreset{id});
}

void set_second_sentence(Program& program, const RequestValue& value) {
    const std::string text = value.text();
    program.act(SetKvSentence{text.empty() ? std::nullopt : std::optional(text)});
}

} // namespace

std::vector<Request> text_requests() {
    constexpr std::int64_t any_whole_number = std::numeric_limits<std::int64_t>::max();
    return {
        // clang-format off
        {"sentence", "TEXT", "another sentence, or another prompt of a checkpoint",
         [](Program& program, const RequestValue& value) { perform_text_actions(program, type_sentence(program.state(), value.text())); },
         nullptr, RepeatedRequest::prompt},
        {"text-pair", "TEXT", "the second of [two texts](checkpoints.md#two-texts) of a checkpoint; empty: none",
         [](Program& program, const RequestValue& value) { perform_text_actions(program, type_pair(program.state(), value.text())); },
         needs_pair, RepeatedRequest::prompt},
        {"second sentence", "TEXT", "the sentence that keys and values come from; empty: the same one, as in self-attention",
         set_second_sentence, needs_sentence_input},
        {"decoder text", "TEXT", "the decoder’s text of a checkpoint with an encoder and a decoder; empty: the model writes it",
         [](Program& program, const RequestValue& value) {
             const std::string text = value.text();
             program.act(text.empty() ? ModelAction(GenerateTarget{}) : ModelAction(TypeTarget{text}));
         }, needs_decoder, RepeatedRequest::prompt},
        {"preset", "NAME", "embeddings and weights of the sentence, by the names of `--preset`", set_preset, needs_sentence_input},
        {"seed", "a whole number", "resamples the random numbers of the preset",
         [](Program& program, const RequestValue& value) { program.act(SetSeed{value.seed()}); }, needs_sentence_input},
        {"mask", "`none`, `causal`, `causal window` or `symmetric window`", "the mask, which also replaces a painted one",
         [](Program& program, const RequestValue& value) {
             program.act(SetMask{static_cast<project::MaskChoice>(value.choice(mask_names))});
         }, needs_sentence_input},
        {"heads", "a whole number", "splits the same weights among H heads",
         [](Program& program, const RequestValue& value) { program.act(SetHeads{value.whole(1, any_whole_number)}); }, needs_sentence_input},
        {"key heads", "a whole number", "averages the heads of keys and values to Hkv",
         [](Program& program, const RequestValue& value) { program.act(SetKvHeads{value.whole(1, any_whole_number)}); }, needs_sentence_input},
        {"identity output", "`on` or `off`", "replaces W_O by the identity, or restores it",
         [](Program& program, const RequestValue& value) { program.act(SetIdentityOutput{value.on()}); }, needs_sentence_input},
        // clang-format on
    };
}

} // namespace headscope::app
