#pragma once

#include "app/state/model_state.h"

#include <optional>
#include <string>

namespace headscope::app {

/// The question whether to split a prompt at a separator, such as [SEP], into two texts.
class PairQuestion {
public:
    /// Opens the question when a separator was typed, and drops it when the separator is gone or the user has
    /// decided that the prompt stays one text.
    void follow(ModelState& model, const checkpoint::TextModel& of);
    /// Closes the question. Returns the texts if there are to be two.
    std::optional<checkpoint::TextPair> decide(ModelState& model, bool two);

private:
    std::string searched_; ///< the prompt that was searched last
};

} // namespace headscope::app
