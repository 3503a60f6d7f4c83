#pragma once

#include "core/trace/attention_choice.h"

#include <cstdint>
#include <string>

namespace headscope::app {

/// The choice of a text, and of the attention of an encoder-decoder, from a file of attention weights.
struct AttentionQuestion {
    std::string path;
    AttentionOptionsPtr options;
    std::string part;      ///< the selected one of options->parts
    std::int64_t text = 0; ///< the selected text of that part

    const AttentionPart& selected() const { return *options->find(part); }
    AttentionChoice choice() const {
        return {part, selected().texts > 1 ? std::optional(text) : std::nullopt};
    }
};

} // namespace headscope::app
