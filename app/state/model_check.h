#pragma once

#include "core/base/message.h"
#include "core/checkpoint/checks/reference_check.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// The differences of one kind of number over all layers.
struct CheckedKind {
    Message title;                ///< "Attention weights"
    checkpoint::ReferenceRow row; ///< the row nearest to its limit, or furthest beyond it
    bool agrees() const { return row.agrees(); }
};

/// The result of checkpoint::check_itself for a checkpoint, without the user's edits.
struct ModelCheck {
    std::weak_ptr<const checkpoint::TextModel> of;
    std::int64_t tokens = 0; ///< length of the text
    std::string time;        ///< of the day: "14:02"
    std::vector<checkpoint::ReferenceRow> rows;
    std::string error; ///< one sentence if the check could not be made

    /// Returns true if the check was made and found a difference that is too large.
    bool failed() const;
    /// The kinds that the model has, in a fixed order.
    std::vector<CheckedKind> kinds() const;
    /// One or two sentences about the result.
    std::string sentence() const;
};

} // namespace headscope::app
