#include "app/shell/motion/step_before.h"

#include "app/session/large_stages.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

constexpr double shown_seconds = 2.5; ///< after the step

/// Identity of a state of the history: a checkpoint's edits and texts, else the document.
const void* identity_of(const DocumentPtr& document) {
    if (document == nullptr)
        return nullptr;
    return document->is_checkpoint() ? static_cast<const void*>(document->part().get()) : document.get();
}

DocumentPtr document_before(const History& history) {
    return history.position() == 0 ? nullptr : history.states()[history.position() - 1].document;
}

/// Returns true if the step ablated a head. The state before it then stays in sight.
bool switched_off(const Document& before, const Document& now) {
    const std::int64_t H = now.problem.dims.H;
    if (before.problem.dims.H != H || now.is_checkpoint()) // a checkpoint's "Why?" shows both runs
        return false;
    for (std::int64_t h = 0; h < H; ++h)
        if (now.problem.gain(h) == 0.0F && before.problem.gain(h) != 0.0F)
            return true;
    return false;
}

} // namespace

void StepBefore::replaced(const Shown& before) {
    Earlier& earlier = state_.earlier;
    const void* const wanted = identity_of(document_before(workspace_.history()));
    if (wanted == nullptr || has_large_stages(state_.shown.dims())) {
        earlier = {};
        return;
    }
    if (identity_of(before.document) == wanted && identity_of(state_.shown.document) != wanted)
        earlier.before = before;
    else if (identity_of(earlier.before.document) != wanted || identity_of(state_.shown.document) == wanted) {
        earlier = {};
        return;
    }
    earlier.strength = 1;
    renewed_ = true;
}

bool StepBefore::advance(double now, double seconds_since_last, bool held) {
    Earlier& earlier = state_.earlier;
    if (earlier.before.document == nullptr || state_.shown.document == nullptr) {
        earlier = {};
        shown_until_ = never;
        return false;
    }
    if (std::exchange(renewed_, false) || (held && earlier.strength == 1))
        shown_until_ = now + shown_seconds;
    if (switched_off(*earlier.before.document, *state_.shown.document))
        shown_until_ = never;
    if (now < shown_until_)
        return false;
    const auto by = static_cast<float>(seconds_since_last / flash_seconds);
    earlier.strength = state_.view.animates() ? std::max(0.0F, earlier.strength - by) : 0.0F;
    if (earlier.strength == 0)
        earlier = {};
    return earlier.strength > 0;
}

} // namespace headscope::app
