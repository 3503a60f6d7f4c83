#include "core/checkpoint/run/spelled_run.h"

#include <utility>

namespace headscope::checkpoint {

SpelledRun::SpelledRun(ModelRunPtr run, const TextModel& text)
    : run_(std::move(run)), pieces_(run_->inputs().tokens) {
    if (text.tokenizer == nullptr)
        return;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const auto id = static_cast<text::TokenId>(run_->inputs().ids[i]);
        if (const std::string_view spelled = text.tokenizer->token_text(id); !spelled.empty())
            pieces_[i] = spelled;
    }
}

} // namespace headscope::checkpoint
