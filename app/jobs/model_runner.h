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
    RunSpecPtr part;
    checkpoint::ModelRunPtr run, unedited; ///< with the part's edits, and without them
    std::int64_t attention = 0;            ///< number of the open attention; see stacks.h
    std::shared_ptr<const Problem> base;   ///< of that attention
    std::optional<Predictions> predictions;
    TensorPtr next_logits; ///< see the function of that name
    std::string note = {}; ///< a sentence about how it was opened; empty: none
};

/// The initial texts of a checkpoint.
struct ModelTexts {
    std::string prompt = {};                ///< empty: first_prompt
    std::optional<std::string> target = {}; ///< decoder's text; none: with_first_target
    /// The token ids of both texts if known, for example from a project: the ids of generated text may differ
    /// from those of the tokenized text. Empty: tokenize the texts.
    std::vector<std::int64_t> ids = {}, target_ids = {};
    std::int64_t written = 0; ///< number of generated tokens at the end
    std::string pair = {};    ///< the second of two texts; empty: none
};

/// Opens a checkpoint and runs its texts; of a LoRA adapter the base, with the adapter as edits. For an
/// encoder-decoder, opens the cross-attention of the layer. Throws Error(input) for the folder, the texts and
/// the layer, and Error(cancelled).
OpenedModel open_model(const std::string& folder, const ModelTexts& texts, std::int64_t layer,
                       Progress& progress);

/// The same for an open checkpoint, with edits. Also throws what check_edits throws.
OpenedModel open_model(const checkpoint::TextModelPtr& model, const ModelTexts& texts, std::int64_t layer,
                       const checkpoint::ModelEdits& edits, Progress& progress);

/// Runs checkpoints on its own thread. Only the newest request counts: it replaces a pending one and cancels
/// one in progress, and every answer belongs to it. All members are for the thread that created the object.
class ModelRunner {
public:
    struct Request {
        RunSpecPtr part; ///< without inputs: they are made from its texts
        std::int64_t attention = 0;
        std::optional<std::int64_t> position; ///< position of the predictions, see ModelState
    };
    struct Answer {
        RunSpecPtr asked; ///< the part of the request
        RunSpecPtr part;  ///< the same with inputs
        std::int64_t attention = 0;
        std::shared_ptr<const Problem> base; ///< of the attention; x comes from `run` if there is one
        checkpoint::ModelRunPtr run;         ///< null: still being computed
        checkpoint::ModelRunPtr unedited;
        std::optional<Predictions> predictions; ///< of `run`, at the requested position
        TensorPtr next_logits;                  ///< of `run`; null if it predicts no next token
        std::string error; ///< one sentence if it failed; then the other fields are empty
    };

    /// `wake` is called on the worker's thread when an answer is ready; it may be empty.
    explicit ModelRunner(std::function<void()> wake) : values_(std::move(wake)) {}

    /// Sets the runs to start from, which were computed elsewhere.
    void begin_with(const OpenedModel& opened);
    /// Cancels the request and releases the kept runs.
    void clear();
    void request(Request wish);
    /// Returns the newest answer to the newest request, once: possibly the attention from the previous run
    /// first, and the new run later.
    std::shared_ptr<const Answer> poll();
    bool busy() const { return values_.busy(); }
    float fraction() const { return values_.fraction(); } ///< of the run in progress
    /// Blocks until nothing is running or pending. For export and tests; the window never calls it.
    void wait() { values_.wait(); }

private:
    using Put = DerivedValues::Put<Answer>;
    /// The runs that the next one starts from.
    struct Runs {
        checkpoint::ModelRunPtr unedited, last;
    };
    static Answer compute(Runs& runs, const Request& wish, Progress& progress, const Put& put);

    std::shared_ptr<Runs> runs_ = std::make_shared<Runs>(); ///< only the worker's while it is busy
    RunSpecPtr asked_;                                      ///< the part of the newest request
    std::shared_ptr<const Answer> handed_out_;
    DerivedValues values_; ///< destroyed before the members that it uses
};

} // namespace headscope::app
