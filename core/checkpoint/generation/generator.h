#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/generation/sampling.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/run/growing_text.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headscope::checkpoint {

/// A text that a causal model goes on with, token by token; of an encoder-decoder the decoder's text, while
/// the encoder's is read once. Keys and values of the tokens that were run are kept for every layer, so that
/// a step runs one token; its numbers are those of a run of the whole text, bit for bit. Nothing is run
/// before it is asked for. A copy is a branch of the text with a cache of its own; branches share their
/// threads: one thread uses them, one at a time.
class Generator {
public:
    /// prompt: one text without padding; its labels are not read. Throws Error(input) for a model that is not
    /// causal or has no head, for edits that do not fit it, and for a prompt that is empty, too long or has
    /// ids outside the vocabulary.
    Generator(std::shared_ptr<const Model> model, const ModelInputs& prompt, ModelEdits edits = {});

    const std::vector<std::int64_t>& ids() const { return text_.ids; }
    std::int64_t length() const { return text_.T; }
    /// The model has positions for no further token.
    bool full() const { return length() >= model_->config().longest_text; }

    /// Puts a token behind the text. Throws Error(input) when the text is full or the vocabulary has no such
    /// id.
    void append(std::int64_t id);
    /// Takes the last `count` tokens away, of the prompt too. Throws Error(input) unless one is left.
    void take_back(std::int64_t count);

    /// The token after the text, as `settings` take it; `listed` as in sample. Throws what logits throws.
    Distribution next(const SamplingSettings& settings, std::size_t listed, Progress& progress);
    /// Of the token after the text (vocab). Runs what was not run. Throws Error(input) for numbers beyond
    /// float32's range and Error(cancelled); the text is then as it was, and can be gone on with.
    std::span<const float> logits(Progress& progress);
    /// The weights with which the last token reads its own text, (L, H, T). With keep_weights a step keeps
    /// them, else the token is run again. Throws likewise.
    TensorPtr last_weights(Progress& progress);
    void keep_weights(bool keep) { keep_weights_ = keep; }

    /// The key and value (dk each) of key/value head g of layer l at token i, which was run: i < cached().
    void read_cache(std::int64_t l, std::int64_t g, std::int64_t i, std::span<float> key,
                    std::span<float> value) const;
    /// Tokens whose keys and values are kept.
    std::int64_t cached() const { return growing_.rows(); }
    /// What they take, and the cross-attention's of the encoder's text.
    std::int64_t cache_bytes() const;
    /// The part that the last token read: in a layer with a window only the window's.
    std::int64_t read_bytes() const;

private:
    void run(bool weights, Progress& progress);
    void run_tokens(std::int64_t end, bool weights, Progress& progress);
    std::string weights_of(std::int64_t l) const;
    /// Of the keys and values of one token in one attention.
    std::int64_t row_bytes() const;
    std::int64_t source_rows() const;

    std::shared_ptr<const Model> model_;
    ModelInputs text_;
    GrowingText growing_;
    bool keep_weights_ = false;
    TensorPtr logits_;  ///< (1, 1, vocab) after all tokens; null: not computed
    TensorPtr weights_; ///< (L, H, T) of the last token; null: not kept
};

} // namespace headscope::checkpoint
