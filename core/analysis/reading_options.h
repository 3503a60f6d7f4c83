#pragma once

#include "core/base/message.h"

#include <array>
#include <string>
#include <string_view>

namespace headscope::analysis {

/// How attention weights are read otherwise than they are held. What each does, and in which order:
/// with_reading. Of means, rollout and flow one is on at most.
struct ReadingOptions {
    bool norm_weighted = false; ///< weights times the length of what they bring
    bool hide_first_token = false;
    bool hide_special_tokens = false;
    bool merge_words = false;
    bool means = false;   ///< averages as further heads and one further layer
    bool rollout = false; ///< what all layers so far pass on together, as one further head
    bool flow = false;    ///< likewise, by the largest flow

    /// Whether rows are divided by what is left of their sum.
    bool renormalises() const;
    bool operator==(const ReadingOptions&) const = default;
};

/// One row of the table: all that any part of the program says of an option. A new option is a member, a row
/// and its step in ReadSet.
struct ReadingInfo {
    bool ReadingOptions::*option;
    std::string_view id;       ///< of its action; with hyphens, `--id` on the command line
    Message title;             ///< of its switch
    Message does;              ///< what it does, and what is no longer seen; one sentence without a stop
    Message note;              ///< of weights that were read so: "words merged"; empty: nothing to say
    std::string_view suffix;   ///< of a file's name
    Message lacks;             ///< "no token ...": what weights have for which the option does nothing
    bool renormalises = false; ///< divides rows by what is left of their sum
};

const std::array<ReadingInfo, 7>& readings();
/// The same with one option turned over; of means, rollout and flow the others go off.
ReadingOptions turned(ReadingOptions options, bool ReadingOptions::*option);
/// The options of `options` that are on in `possible`, too.
ReadingOptions both(const ReadingOptions& options, const ReadingOptions& possible);
/// "first token hidden, rows renormalised"; empty where weights are as they are held.
std::string reading_note(const ReadingOptions& options);

} // namespace headscope::analysis
