#pragma once

#include "app/commands/change_id.h"
#include "app/state/model_document.h"
#include "core/attention/problem.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::app {

/// An attention of a checkpoint, as long as a document holds it.
struct KnownAttention {
    std::shared_ptr<const checkpoint::ModelInputs> inputs;
    std::weak_ptr<const Problem> base;
};

/// A pending text that will replace the document's.
struct NextText {
    RunSpecPtr part;   ///< without edits
    std::string label; ///< in the history
    ChangeId change;
    std::uint64_t gesture = 0;
    RunSpecPtr asked{}; ///< the same with the document's edits, as sent to the runner; null: not sent yet
};

} // namespace headscope::app
