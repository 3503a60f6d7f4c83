#pragma once

#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/model_run.h"

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The weights of one stack of a run, whose tokens are known as the vocabulary spells them too ("Ġcat",
/// "##s",
/// "[CLS]"). Without a tokenizer the pieces are the tokens. Immutable; any thread may use every member.
class SpelledRun final : public AttentionSet {
public:
    /// `run`: of text.model.
    SpelledRun(ModelRunPtr run, const TextModel& text, Stack stack = Stack::own);

    const ModelRunPtr& run() const { return run_; }
    Stack stack() const { return stack_; }
    const AttentionInfo& info() const override { return run_->info(stack_); }
    const std::vector<std::string>& query_tokens(std::int64_t) const override {
        return run_->read_by_queries(stack_).tokens;
    }
    const std::vector<std::string>& key_tokens(std::int64_t) const override {
        return run_->read_by_keys(stack_).tokens;
    }
    const std::vector<std::string>& query_pieces(std::int64_t) const override { return query_pieces_; }
    const std::vector<std::string>& key_pieces(std::int64_t) const override { return key_pieces_; }
    TensorPtr layer(std::int64_t l) const override;
    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override;
    TensorPtr brought(std::int64_t l) const override;

private:
    ModelRunPtr run_;
    Stack stack_;
    std::vector<std::string> query_pieces_, key_pieces_;
};

} // namespace headscope::checkpoint
