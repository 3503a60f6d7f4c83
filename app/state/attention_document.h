#pragma once

#include "app/state/document.h"

namespace headscope::app {

struct ViewState;

/// Returns a document that shows given attention weights instead of computing them. Its problem has only B,
/// Tq, Tk, H, Hkv and the tokens. Its recipe is that of the previous document, so that the user can return to
/// it.
DocumentPtr attention_document(const AttentionSetPtr& set, std::int64_t layer, const LoadedHeads& read,
                               const Document& before);

/// Returns the same document of given weights with another layer or other heads of it. Not a history entry.
DocumentPtr with_layer(const Document& document, std::int64_t layer, const LoadedHeads& read);

/// "Cross-attention" for the id of an AttentionPart.
std::string attention_part_name(const std::string& id);
/// "Text 2 of 4", for text 1.
std::string text_number_text(std::int64_t text, std::int64_t texts);
/// The text and the attention of a file with several: "text 2 of 4, cross-attention"; empty for other files.
std::string chosen_attention_text(const AttentionInfo& info);

/// Returns the heads that a view needs from a layer. For a small layer: all heads.
LoadedHeads heads_to_read(const AttentionInfo& info, const ViewState& view);
/// Returns true if `read` includes all heads in `wanted`.
bool are_loaded(const LoadedHeads& wanted, const LoadedHeads& read);
/// Restricts a view to the heads that were read, while the others are pending.
void clamp_to_loaded(ViewState& view, const LoadedHeads& read);

} // namespace headscope::app
