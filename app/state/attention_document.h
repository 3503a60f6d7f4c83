#pragma once

#include "app/state/document.h"

namespace headscope::app {

struct ViewState;

/// A document that shows attention weights instead of computing them: its problem has B, Tq, Tk, H and Hkv
/// and the tokens alone, its recipe is kept from the document before, to return to.
DocumentPtr attention_document(const AttentionSetPtr& set, std::int64_t layer, const ReadHeads& read,
                               const Document& before);

/// The same document of given weights with another layer, or other heads of it; not a step of the history.
DocumentPtr with_layer(const Document& document, std::int64_t layer, const ReadHeads& read);

/// What a view looks at of a layer: of a small one all heads.
ReadHeads heads_to_read(const AttentionInfo& info, const ViewState& view);
/// Whether those were read already, among others perhaps.
bool are_read(const ReadHeads& wanted, const ReadHeads& read);
/// Keeps a view to what was read, while the rest is still to come.
void keep_to_read(ViewState& view, const ReadHeads& read);

} // namespace headscope::app
