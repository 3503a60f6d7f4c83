#include "app/commands/model_commands.h"

#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

void check_tensor(const Document& document, TensorId tensor) {
    if (tensor == TensorId::x_kv && !document.part()->two_texts())
        fail_input(tr("model_commands.x_kv_of_one_stack",
                      "x_kv is computed from vectors of the same tokens: edit W or b, here or in an earlier "
                      "layer"));
    if (tensor == TensorId::v_norm)
        fail_input(tr("model_commands.value_norms_no_weights",
                      "the norms of values have no weights in this model: edit W_V"));
    if (tensor == TensorId::x_kv)
        fail_input(tr("model_commands.x_kv_encoder_gives",
                      "x_kv is the output of the encoder for the source: type another source, or edit W or "
                      "b, here or in the encoder"));
    const checkpoint::AttentionPlace place = document.checkpoint()->place;
    if ((tensor == TensorId::q_norm || tensor == TensorId::k_norm) &&
        document.problem.input(tensor) != nullptr &&
        !document.part()->model->model->stages().has_parameter(place, tensor))
        fail_input(tr("model_commands.norms_without_weights",
                      "the norms of queries and keys have no weights in this model: edit W_Q or W_K"));
    if (tensor != TensorId::x)
        return;
    const std::string words = attention_words(document.part()->config(), place);
    if (place.layer > 0 || place.stack == checkpoint::Stack::cross)
        fail_input(tr("model_commands.x_computed_layers_before",
                      "x of {} is computed by the layers before it: edit W or b, here or in an earlier layer",
                      words));
    fail_input(!document.part()->two_texts()
                   ? tr("model_commands.x_embeddings_give_prompt",
                        "x of {} is the embedding of the prompt: type another prompt, or edit W or b", words)
               : place.stack == checkpoint::Stack::encoder
                   ? tr("model_commands.x_embeddings_give_source",
                        "x of {} is the embedding of the source: type another source, or edit W or b", words)
                   : tr("model_commands.x_embeddings_give_target",
                        "x of {} is the embedding of the target: type another target, or edit W or b",
                        words));
}

void check_head_gain(const Document& document, const SetHeadGain& c) {
    if (!has_head(document, c))
        fail_input(tr("model_commands.no_head_layer", "{} has no head {} in layer {}; choose another one",
                      document.title, c.head, c.place.layer));
    if (!std::isfinite(c.gain))
        fail_input(tr("command.gain_must_finite_type", "a head gain must be finite; type one such as 0.5"));
}

} // namespace

bool has_head(const Document& document, const SetHeadGain& command) {
    const checkpoint::ModelConfig& config = document.part()->config();
    const auto stacks = checkpoint::stacks_of(config);
    if (std::ranges::find(stacks, command.place.stack) == stacks.end())
        return false;
    const checkpoint::ModelConfig& stack = in_stack(config, command.place.stack);
    return command.place.layer >= 0 && command.place.layer < stack.layers && command.head >= 0 &&
           command.head < stack.H;
}

void check_model_command(const Document& document, const Command& command) {
    std::visit(
        Overloaded{
            [&](const EditCell& c) { check_tensor(document, c.cell.tensor); },
            [&](const EditBlock& c) { check_tensor(document, c.block.tensor); },
            [&](const PasteBlock& c) { check_tensor(document, c.cell.tensor); }, [](const CopyHead&) {},
            [](const SwapHeads&) {}, [](const ResetHead&) {}, [](const SetGain&) {}, [](const ResetEdits&) {},
            [&](const SetHeadGain& c) { check_head_gain(document, c); }, [](const ResetActivation&) {},
            [](const SetPreset&) {}, [](const SetRecipe&) {}, // replace the whole input
            [&](const auto&) {
                fail_input(
                    tr("model_commands.mask_scale_number_heads",
                       "{} fixes the mask, the scale and the number of heads; the weights and biases of "
                       "attention, norms and MLP, the rows of the tables and the head gains can be changed",
                       document.title));
            }},
        command);
}

} // namespace headscope::app
