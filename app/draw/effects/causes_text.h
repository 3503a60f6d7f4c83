#pragma once

#include "app/state/screens/causes.h"

#include <string>

namespace headscope::app {

// The answer to "Why?" in words. All numbers come from runs.

/// "L2 H7", with the stack where the model has several.
std::string head_name(const ModelHead& head);
/// "Why “Mary”?", or "Without L2 H7 the model says “John”".
std::string causes_title(const CausesView& view);
/// One to three sentences: the largest cause, the token that it attends to, and the prediction without it.
std::string causes_sentence(const CausesView& view);
/// Below the name of a cause: "attends to “Mary”, 98 %"; empty for components other than heads.
std::string cause_detail(const CausesView& view, const analysis::PredictionCause& cause);
/// The two compared tokens: "“Mary” over “John”".
std::string causes_pair(const CausesView& view);
/// The head that the answer offers to switch, and its gain afterwards.
struct HeadSwitch {
    ModelHead head;
    float gain = 0;
};
/// None if no head adds to the prediction.
std::optional<HeadSwitch> head_switch(const CausesView& view);

} // namespace headscope::app
