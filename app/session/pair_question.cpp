#include "app/session/pair_question.h"

#include "core/base/error.h"

#include <utility>

namespace headscope::app {

namespace {

std::optional<checkpoint::TextPair> pair_in(const std::string& prompt, const checkpoint::TextModel& of) {
    if (of.tokenizer == nullptr)
        return std::nullopt;
    try {
        return checkpoint::typed_pair(*of.tokenizer, of.pairs, prompt);
    } catch (const Error&) {
        return std::nullopt; // the run of this text reports the error
    }
}

} // namespace

void PairQuestion::follow(ModelState& model, const checkpoint::TextModel& of) {
    if (!model.pair.empty()) {
        model.typed_pair.reset();
        searched_.clear();
        return;
    }
    if (model.prompt != searched_) {
        searched_ = model.prompt;
        model.typed_pair = pair_in(model.prompt, of);
        model.one_text = model.one_text && model.typed_pair;
    }
    if (model.one_text)
        model.typed_pair.reset();
}

std::optional<checkpoint::TextPair> PairQuestion::decide(ModelState& model, bool two) {
    std::optional<checkpoint::TextPair> pair = std::exchange(model.typed_pair, std::nullopt);
    model.one_text = !two && pair;
    return two ? pair : std::nullopt;
}

} // namespace headscope::app
