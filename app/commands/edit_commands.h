#pragma once

#include "app/commands/block_operations.h"
#include "app/state/document.h"
#include "app/state/word_place.h"
#include "core/format/tsv.h"

#include <string>

namespace headscope::app {

/// Applies one operation to a block of x, x_kv, a weight or a bias.
struct EditBlock {
    Block block;
    BlockOperation operation;
};
/// Writes a table of numbers to the right of and below a cell.
struct PasteBlock {
    CellAddress cell;
    format::Table table;
};
/// Copies everything that belongs to a head: its columns of W_Q and b_Q, its rows of W_O, its head gain, and
/// the columns of W_K, b_K, W_V and b_V that it uses. If both heads share their keys and values, those stay.
struct CopyHead {
    std::int64_t from, to;
};
struct SwapHeads {
    std::int64_t a, b;
};
/// Restores the head's weights and head gain from the preset or the file.
struct ResetHead {
    std::int64_t head;
};
/// Sets whether query i may attend to key j, in one head or (-1) in all. The first stroke converts the
/// current mask to a painted mask.
struct PaintMask {
    std::int64_t batch, head, i, j;
    bool allowed;
};
/// Restores the mask that was chosen.
struct ResetMask {};

/// Removes the user's number of mlp_act: the layer computes it again.
struct ResetActivation {
    CellAddress cell;
};

/// The name of a command in the history: the action, and the old and new values.
struct CommandName {
    std::string label, detail;
    /// For a checkpoint: it changes the open layer. False: the embedding, the final norm or the unembedding
    /// table.
    bool of_layer = true;
};
CommandName name_of(const Document& before, const EditBlock& command);
CommandName name_of(const Document& before, const PasteBlock& command);
CommandName name_of(const Document& before, const CopyHead& command);
CommandName name_of(const Document& before, const SwapHeads& command);
CommandName name_of(const Document& before, const ResetHead& command);
CommandName name_of(const Document& before, const PaintMask& command);
CommandName name_of(const Document& before, const ResetMask& command);
CommandName name_of(const Document& before, const ResetActivation& command);

// Each applies the command to a copy of the document's recipe and returns true if only edits, head gains,
// temperature and the painted mask changed. All throw Error(input) with a message for the user.
bool change(project::Recipe& recipe, const Document& document, const EditBlock& command);
bool change(project::Recipe& recipe, const Document& document, const PasteBlock& command);
bool change(project::Recipe& recipe, const Document& document, const CopyHead& command);
bool change(project::Recipe& recipe, const Document& document, const SwapHeads& command);
bool change(project::Recipe& recipe, const Document& document, const ResetHead& command);
bool change(project::Recipe& recipe, const Document& document, const PaintMask& command);
bool change(project::Recipe& recipe, const Document& document, const ResetMask& command);

/// Returns the tensor that an edit starts from. Throws Error(input) if the user cannot change it or the
/// document does not have it.
TensorPtr editable(const Document& document, TensorId tensor);
/// Stores an edited tensor in the recipe. A tensor that equals the unedited one is not an edit. Returns false
/// if the edit also turned off "W_O = identity".
bool put_edit(project::Recipe& recipe, const Document& document, TensorId tensor, TensorPtr edited);
/// Throws Error(input) if the problem does not have that head.
void check_head(const Dims& dims, std::int64_t head);

/// Parses a typed number: minus sign or hyphen, surrounding whitespace allowed. Throws Error(input) if it is
/// not a number or not finite.
float parse_number(const std::string& text);
/// Parses a typed seed: 0 to 2^64 - 1. Throws Error(input).
std::uint64_t parse_seed(const std::string& text);

/// Returns the command for the text of a clipboard. Throws Error(input) if it is not a table of numbers.
PasteBlock parse_paste(const CellAddress& cell, const std::string& text);

/// Text typed into the number field of a cell.
struct TypedNumber {
    CellAddress cell;
    std::string text;
};

/// Text typed into the field of a word: a word of a sentence, or a token of a checkpoint's prompt.
struct TypedWord {
    WordPlace place; ///< in the text on screen, which can be older than the document
    std::string text;
};

} // namespace headscope::app
