#include "app/commands/edit_commands.h"

#include "core/attention/same_bits.h"
#include "core/base/error.h"
#include "core/base/message.h"

namespace headscope::app {

TensorPtr editable(const Document& document, TensorId id) {
    TensorPtr now = owned_tensor(document, id);
    if (now == nullptr)
        fail_input(tr("common.cannot_edited_computed_problem",
                      "{} cannot be edited: it is computed, or this problem has none", tensor_info(id).name));
    return now;
}

bool put_edit(project::Recipe& recipe, const Document& document, TensorId tensor, TensorPtr edited) {
    const bool was_identity = tensor == TensorId::W_O && recipe.identity_W_O;
    if (same_bits(edited, unedited_tensor(document, tensor))) {
        if (!was_identity) // otherwise keep the stored edit of W_O, which the identity hides
            recipe.edits.erase(tensor);
        return true;
    }
    recipe.edits[tensor] = std::move(edited);
    // An edit while W_O is the identity is an edit of the shown W_O.
    if (was_identity)
        recipe.identity_W_O = false;
    return !was_identity;
}

void check_head(const Dims& dims, std::int64_t head) {
    if (head < 0 || head >= dims.H)
        fail_input(tr("common.no_head_heads_numbered", "there is no head {}; heads are numbered 0 to {}",
                      head, dims.H - 1));
}

CommandName name_of(const Document& before, const EditBlock& c) {
    return {operation_name(c.operation, block_text(c.block, before.problem.dims)),
            {},
            is_of_layer(c.block.tensor)};
}

CommandName name_of(const Document& before, const PasteBlock& c) {
    const Block block{c.cell.tensor, c.cell.at, c.table.rows, c.table.cols};
    return {tr("edit_commands.paste", "paste {}", block_text(block, before.problem.dims)),
            std::to_string(c.table.rows) + " × " + std::to_string(c.table.cols), is_of_layer(c.cell.tensor)};
}

CommandName name_of(const Document& before, const ResetActivation& c) {
    return {tr("edit_commands.take_back", "take back {}",
               block_text({c.cell.tensor, c.cell.at}, before.problem.dims)),
            {}};
}

bool change(project::Recipe& recipe, const Document& document, const EditBlock& c) {
    const TensorPtr now = editable(document, c.block.tensor);
    return put_edit(recipe, document, c.block.tensor, with_operation(*now, c.block, c.operation));
}

bool change(project::Recipe& recipe, const Document& document, const PasteBlock& c) {
    const TensorPtr now = editable(document, c.cell.tensor);
    const Block block{c.cell.tensor, c.cell.at, c.table.rows, c.table.cols};
    return put_edit(recipe, document, c.cell.tensor, with_values(*now, block, c.table.values));
}

} // namespace headscope::app
