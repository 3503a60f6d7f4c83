#pragma once

#include "app/jobs/derived.h"
#include "app/state/model_state.h"
#include "core/base/progress.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A checkpoint that was opened and run, ready to be shown.
struct OpenedModel {
    ModelPartPtr part;
    checkpoint::ModelRunPtr run, unedited; ///< with the part's edits, and without them
    std::int64_t attention = 0;            ///< that is open, by its number; see stacks.h
    std::shared_ptr<const Problem> base;   ///< of the attention
    std::optional<Predictions> predictions;
    TensorPtr next_logits; ///< as the function of that name gives them
};

/// What a checkpoint is to read first.
struct ModelTexts {
    std::string prompt = {};                ///< empty: first_prompt
    std::optional<std::string> target = {}; ///< of an encoder-decoder's decoder; none: with_first_target
    /// The tokens of both where they are known, as a project knows them: those of a text that the model wrote
    /// may be others than the text would be cut into. Empty: those of the texts.
    std::vector<std::int64_t> ids = {}, target_ids = {};
    std::int64_t written = 0; ///< of these tokens: how many, the last, the model wrote
    std::string pair = {};    ///< the second of two texts; empty: none
};

/// Opens a checkpoint and runs its texts through it. Of an encoder-decoder the cross-attention of the layer
/// is open. Throws Error(input) for the folder, the texts and the layer, and Error(cancelled).
OpenedModel open_model(const std::string& folder, const ModelTexts& texts, std::int64_t layer,
                       Progress& progress);

/// The same for a checkpoint that is open, with edits laid over it. Throws what check_edits throws, too.
OpenedModel open_model(const checkpoint::TextModelPtr& model, const ModelTexts& texts, std::int64_t layer,
                       const checkpoint::ModelEdits& edits, Progress& progress);

/// Runs checkpoints on its own thread. The newest wish wins: one that waits is replaced, one that is being
/// computed is cancelled, and every answer is to the newest one. Every member is for the thread that made it.
class ModelDesk {
public:
    struct Wish {
        ModelPartPtr part; ///< without inputs: those of its texts are made
        std::int64_t attention = 0;
        std::optional<std::int64_t> position; ///< of the predictions, as ModelState has it
    };
    struct Answer {
        ModelPartPtr asked; ///< the part of the wish
        ModelPartPtr part;  ///< the same with inputs
        std::int64_t attention = 0;
        std::shared_ptr<const Problem> base; ///< of the attention; x is that of `run`, where there is one
        checkpoint::ModelRunPtr run;         ///< null: it is still being computed
        checkpoint::ModelRunPtr unedited;
        std::optional<Predictions> predictions; ///< of `run`, at the position of the wish
        TensorPtr next_logits;                  ///< of `run`; null when it predicts no next token
        std::string error;                      ///< one sentence when it failed; then there is nothing else
    };

    /// `wake` is called on the worker's thread when an answer waits; it may be empty.
    explicit ModelDesk(std::function<void()> wake) : values_(std::move(wake)) {}

    /// Runs that were computed elsewhere, to start from.
    void begin_with(const OpenedModel& opened);
    /// Nothing is wanted any more; what is kept is let go.
    void clear();
    void want(Wish wish);
    /// The newest answer to the newest wish, once: perhaps the attention as the last run has it, later the
    /// new run.
    std::shared_ptr<const Answer> poll();
    bool busy() const { return values_.busy(); }
    float fraction() const { return values_.fraction(); } ///< of the run that is under way
    /// Blocks until nothing runs or waits. For pictures and tests; the window never calls it.
    void wait() { values_.wait(); }

private:
    using Put = DerivedValues::Put<Answer>;
    /// What the next run starts from.
    struct Runs {
        checkpoint::ModelRunPtr unedited, last;
    };
    static Answer compute(Runs& runs, const Wish& wish, Progress& progress, const Put& put);

    std::shared_ptr<Runs> runs_ = std::make_shared<Runs>(); ///< the worker's while it is busy
    ModelPartPtr asked_;                                    ///< by the newest wish
    std::shared_ptr<const Answer> handed_out_;
    DerivedValues values_; ///< ends before what it works with
};

} // namespace headscope::app
