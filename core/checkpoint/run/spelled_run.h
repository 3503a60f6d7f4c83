#pragma once

#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/model_run.h"

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The weights of a run whose tokens are known as the vocabulary spells them too ("Ġcat", "##s", "[CLS]").
/// Without a tokenizer the pieces are the tokens. Immutable; any thread may use every member.
class SpelledRun final : public AttentionSet {
public:
    /// `run`: of text.model.
    SpelledRun(ModelRunPtr run, const TextModel& text);

    const ModelRunPtr& run() const { return run_; }
    const AttentionInfo& info() const override { return run_->info(); }
    const std::vector<std::string>& query_tokens(std::int64_t l) const override {
        return run_->query_tokens(l);
    }
    const std::vector<std::string>& key_tokens(std::int64_t l) const override { return run_->key_tokens(l); }
    const std::vector<std::string>& query_pieces(std::int64_t) const override { return pieces_; }
    const std::vector<std::string>& key_pieces(std::int64_t) const override { return pieces_; }
    TensorPtr layer(std::int64_t l) const override { return run_->layer(l); }
    void read_head(std::int64_t l, std::int64_t h, std::span<float> to) const override {
        run_->read_head(l, h, to);
    }

private:
    ModelRunPtr run_;
    std::vector<std::string> pieces_;
};

} // namespace headscope::checkpoint
