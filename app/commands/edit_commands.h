#pragma once

#include "app/commands/block_operations.h"
#include "app/state/document.h"
#include "core/format/tsv.h"

#include <string>

namespace headscope::app {

/// One operation on a block of x, x_kv, a weight or a bias.
struct EditBlock {
    Block block;
    BlockOperation operation;
};
/// A table of numbers written from a cell on, to the right and down.
struct PasteBlock {
    CellAddress cell;
    format::Table table;
};
/// Everything that belongs to a head: its columns of W_Q and b_Q, its rows of W_O, its gain, and the columns
/// of W_K, b_K, W_V and b_V that it reads. Where two heads read the same keys and values those stay.
struct CopyHead {
    std::int64_t from, to;
};
struct SwapHeads {
    std::int64_t a, b;
};
/// The head's weights and gain as the preset or the file gave them.
struct ResetHead {
    std::int64_t head;
};
/// Whether query i may read key j, in one head or (-1) in all. The first stroke makes a painted mask out of
/// the mask as it stands.
struct PaintMask {
    std::int64_t batch, head, i, j;
    bool allowed;
};
/// Back to the mask that was chosen.
struct ResetMask {};

/// Takes back a number of mlp_act that the user set: it is again what the layer computes.
struct ReleaseNumber {
    CellAddress cell;
};

/// How history names a command: what it does, and from which value to which.
struct CommandName {
    std::string label, detail;
    /// Of a checkpoint: it changes the open layer. False: the embedding, the final norm or the output table.
    bool of_layer = true;
};
CommandName name_of(const Document& before, const EditBlock& command);
CommandName name_of(const Document& before, const PasteBlock& command);
CommandName name_of(const Document& before, const CopyHead& command);
CommandName name_of(const Document& before, const SwapHeads& command);
CommandName name_of(const Document& before, const ResetHead& command);
CommandName name_of(const Document& before, const PaintMask& command);
CommandName name_of(const Document& before, const ResetMask& command);
CommandName name_of(const Document& before, const ReleaseNumber& command);

// Each writes what the command asks for into a copy of the document's recipe and says whether nothing but
// edits, gains, temperature and painted mask changed. All throw Error(input) with the sentence to show.
bool change(project::Recipe& recipe, const Document& document, const EditBlock& command);
bool change(project::Recipe& recipe, const Document& document, const PasteBlock& command);
bool change(project::Recipe& recipe, const Document& document, const CopyHead& command);
bool change(project::Recipe& recipe, const Document& document, const SwapHeads& command);
bool change(project::Recipe& recipe, const Document& document, const ResetHead& command);
bool change(project::Recipe& recipe, const Document& document, const PaintMask& command);
bool change(project::Recipe& recipe, const Document& document, const ResetMask& command);

/// The tensor that an edit of it starts from. Throws Error(input) when the user does not own it or the
/// document has none.
TensorPtr editable(const Document& document, TensorId tensor);
/// Puts an edited tensor of the document into the recipe; one with the numbers of the unedited tensor is no
/// edit. Returns false where the edit also switched off "W_O = identity".
bool put_edit(project::Recipe& recipe, const Document& document, TensorId tensor, TensorPtr edited);
/// Throws Error(input) when the problem has no such head.
void check_head(const Dims& dims, std::int64_t head);

/// A typed number: a true minus sign or a hyphen, blanks around it. Throws Error(input) saying what is no
/// number or not finite.
float parse_number(const std::string& text);
/// A typed seed: 0 to 2^64 - 1. Throws Error(input).
std::uint64_t parse_seed(const std::string& text);

/// The text of a clipboard as a command. Throws Error(input) saying what is no table of numbers.
PasteBlock parse_paste(const CellAddress& cell, const std::string& text);

} // namespace headscope::app
