#pragma once

#include "app/state/document.h"

namespace headscope::app {

/// A document that shows attention weights instead of computing them: its problem has B, Tq, Tk, H and Hkv
/// and the tokens alone, its recipe is kept from the document before, to return to.
DocumentPtr attention_document(const AttentionSetPtr& set, std::int64_t layer, const Document& before);

/// The same document of given weights with another layer; not a step of the history.
DocumentPtr with_layer(const Document& document, std::int64_t layer);

} // namespace headscope::app
