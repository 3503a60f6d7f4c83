#include "core/checkpoint/run/spelled_run.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

std::vector<std::string> pieces_of(const ModelInputs& inputs, const TextModel& text) {
    std::vector<std::string> pieces = inputs.tokens;
    for (std::size_t i = 0; i < pieces.size() && text.tokenizer != nullptr; ++i) {
        const auto id = static_cast<text::TokenId>(inputs.ids[i]);
        if (const std::string_view spelled = text.tokenizer->token_text(id); !spelled.empty())
            pieces[i] = spelled;
    }
    return pieces;
}

} // namespace

SpelledRun::SpelledRun(ModelRunPtr run, const TextModel& text, Stack stack)
    : run_(std::move(run)), stack_(stack), query_pieces_(pieces_of(run_->read_by_queries(stack), text)),
      key_pieces_(pieces_of(run_->read_by_keys(stack), text)) {}

TensorPtr SpelledRun::layer(std::int64_t l) const {
    return run_->weights(attention_number(run_->model().config(), {stack_, l}));
}

TensorPtr SpelledRun::brought(std::int64_t l) const {
    return run_->brought_by(attention_number(run_->model().config(), {stack_, l}));
}

void SpelledRun::read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const {
    run_->read_weights(attention_number(run_->model().config(), {stack_, l}), h, part, to);
}

} // namespace headscope::checkpoint
