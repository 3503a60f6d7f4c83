#include "app/commands/model_commands.h"

#include "core/base/error.h"
#include "core/base/overloaded.h"

namespace headscope::app {

namespace {

void check_tensor(const Document& document, TensorId tensor) {
    if (tensor == TensorId::x)
        fail_input(
            document.layer() == 0
                ? "x of layer 0 is what the embeddings give for the prompt: type another prompt, or "
                  "edit W or b"
                : "x of layer " + std::to_string(document.layer()) +
                      " is computed by the layers before it: edit W or b, here or in an earlier layer");
}

} // namespace

void check_model_command(const Document& document, const Command& command) {
    std::visit(Overloaded{[&](const EditCell& c) { check_tensor(document, c.cell.tensor); },
                          [&](const EditBlock& c) { check_tensor(document, c.block.tensor); },
                          [&](const PasteBlock& c) { check_tensor(document, c.cell.tensor); },
                          [](const CopyHead&) {}, [](const SwapHeads&) {}, [](const ResetHead&) {},
                          [](const SetGain&) {}, [](const ResetEdits&) {}, [](const SetPreset&) {},
                          [](const SetRecipe&) {}, // another problem as a whole
                          [&](const auto&) {
                              fail_input("the mask, the scale and the number of heads belong to " +
                                         document.title +
                                         " and stay; W, b and the gains of heads can be changed");
                          }},
               command);
}

} // namespace headscope::app
