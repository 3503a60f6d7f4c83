#include "app/session/pair_question.h"

#include "core/base/error.h"

#include <utility>

namespace headscope::app {

void PairQuestion::follow(ModelState& model, const checkpoint::TextModel& of) {
    if (!model.pair.empty()) {
        model.typed_pair.reset();
        searched_.clear();
        return;
    }
    if (model.prompt == searched_)
        return;
    searched_ = model.prompt;
    model.typed_pair.reset();
    if (of.tokenizer == nullptr)
        return;
    try {
        model.typed_pair = checkpoint::typed_pair(*of.tokenizer, of.pairs, model.prompt);
    } catch (const Error&) {
        // The run of this text reports the error.
    }
    one_text_ = one_text_ && model.typed_pair;
    if (one_text_)
        model.typed_pair.reset();
}

std::optional<checkpoint::TextPair> PairQuestion::decide(ModelState& model, bool two) {
    std::optional<checkpoint::TextPair> pair = std::exchange(model.typed_pair, std::nullopt);
    one_text_ = !two && pair;
    return two ? pair : std::nullopt;
}

} // namespace headscope::app
