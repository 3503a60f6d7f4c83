#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope {

class AttentionSet;

/// The text, and the attention of an encoder-decoder, that are chosen from a file.
struct AttentionChoice {
    std::string part = {};                           ///< id of AttentionPart; empty: not chosen
    std::optional<std::int64_t> text = std::nullopt; ///< along the batch axis, from 0; none: not chosen
    bool operator==(const AttentionChoice&) const = default;
};

/// One of the attentions in a file.
struct AttentionPart {
    std::string id;         ///< "encoder", "decoder" (its self-attention) or "cross"; empty: unnamed
    std::int64_t texts = 1; ///< extent of the batch axis
    std::vector<std::string> text_names; ///< the tokens of each text in one line; empty: not known
    std::string shape;                   ///< of its arrays, as messages show it
};

/// The attention weights in a file from which one text and one attention are shown at a time.
struct AttentionOptions {
    std::vector<AttentionPart> parts; ///< at least one
    /// Opens one of them. Throws Error(input) with the options of the command line if the choice is not
    /// complete or names something that the file does not have. Any thread.
    std::function<std::shared_ptr<const AttentionSet>(const AttentionChoice&)> open;

    /// Returns true if there is more than one text or attention.
    bool has_choice() const { return parts.size() > 1 || parts.front().texts > 1; }
    /// Null if the file has no such part. An empty id finds the only part.
    const AttentionPart* find(const std::string& id) const {
        if (id.empty())
            return parts.size() == 1 ? &parts.front() : nullptr;
        for (const AttentionPart& part : parts)
            if (part.id == id)
                return &part;
        return nullptr;
    }
};
using AttentionOptionsPtr = std::shared_ptr<const AttentionOptions>;

} // namespace headscope
