#pragma once

#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/graph/workshop.h"
#include "core/checkpoint/run/from_rows.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/run/row_run.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A text that a causal model goes on with, of an encoder-decoder the decoder's text, whose keys and values
/// are kept, so that only tokens that are new are run. The numbers are those of a run of the whole text, bit
/// for bit. A copy is a branch of the text; branches share their threads: one thread uses them, one at a
/// time.
class GrowingText {
public:
    /// captures: nodes that run() can return. `edits` are not checked (see check_edits). One text without
    /// padding; its source is read once.
    GrowingText(std::shared_ptr<const Model> model, const ModelEdits& edits,
                std::vector<std::string> captures, std::shared_ptr<Workshop> workshop);

    /// Tokens whose keys and values are kept.
    std::int64_t rows() const { return layers_ ? layers_->rows() : 0; }
    /// Drops the tokens from `rows` on.
    void truncate(std::int64_t rows);

    /// Runs the tokens of the text from rows() on, all again if their rotary angles differ in a text of this
    /// length. Returns the rows of the wanted captures from token `first` on, which is set. Throws what
    /// run::run throws; the text is then as it was.
    std::map<std::string, TensorPtr> run(const ModelInputs& text, std::span<const std::string> wanted,
                                         std::int64_t& first, Progress& progress);
    /// (1, 1, vocab): the logits of the text's last token from its row of the stack's output, (1, 1, D).
    /// After run().
    TensorPtr logits(const TensorPtr& hidden, Progress& progress);
    /// Keys and values of an attention; null before run().
    const cpu::KeyValueCache* cache(AttentionPlace place) const;

    /// The node of the output of the stack that goes on: "hidden.12".
    const std::string& end() const { return end_; }

private:
    void prepare(const ModelInputs& text);
    std::map<std::string, TensorPtr> rows_of(const ModelInputs& text, std::int64_t first) const;

    std::shared_ptr<const Model> model_;
    ModelEdits edits_;
    std::string prefix_, end_;
    std::vector<std::string> captures_;
    std::shared_ptr<Workshop> workshop_;
    TextGraphPtr graph_;        ///< of the longest text that fits
    std::int64_t capacity_ = 0; ///< its tokens
    std::int64_t length_ = 0;   ///< of the text that was run last
    std::optional<run::RowRun> layers_;
    std::shared_ptr<FromRows> head_; ///< shared by branches; null: the model has no head
};

} // namespace headscope::checkpoint
