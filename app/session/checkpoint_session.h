#pragma once

#include "app/jobs/model_runner.h"
#include "app/jobs/transformed_model_view.h"
#include "app/session/atlas/atlas_service.h"
#include "app/session/head_grid_controller.h"
#include "app/session/long_map_service.h"
#include "app/session/next_text.h"
#include "app/session/pair_question.h"
#include "app/session/prompt_list_service.h"
#include "app/session/session.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// Returns the token for typed text: a word, or an id if the checkpoint has no tokenizer. Throws Error(input)
/// if the text is not exactly one token.
std::int64_t typed_token(const checkpoint::TextModel& model, const std::string& word);

/// The session of a checkpoint with a prompt. The attention of one layer is open next to the grid of all
/// heads. A worker runs the checkpoint again after every edit and every change of the prompt.
class CheckpointSession final : public Session {
public:
    /// For a state of the history, whose run is not computed yet.
    explicit CheckpointSession(SessionHost& host);
    /// For a checkpoint that was just opened and run.
    CheckpointSession(SessionHost& host, const OpenedModel& opened);
    ~CheckpointSession() override;

    void follow() override;
    void take_results() override;
    bool busy() const override {
        return runner_.busy() || blocks_.pending() || atlas_.busy() || map_.busy() || prompts_.busy();
    }
    void settle() override;
    const DocumentPtr& document_to_show() const override;

    Dims with_means(Dims dims) const override;
    void view_changed(ViewState& view) const override { transformed_.leave_mean(view); }
    void trace_shown() override;
    void set_visible_layers(std::int64_t first, std::int64_t last) override { grid_.prioritize(first, last); }
    void act(const ModelAction& action) override;
    bool advance_animations(double now) override;

    std::string edit_blocked_reason() const override;
    std::string history_label(std::string name) const override;
    DocumentPtr restored(const DocumentPtr& next) override;

    void check(const FileCommand& command) const override;
    std::function<void(const std::string& path)> save_function() const override;
    bool same_work(const Document& saved) const override;

private:
    void apply_answer(const ModelRunner::Answer& answer);
    /// Sets the prompt, second text or target. `again`: runs the model even if nothing changed.
    void type(std::string RunSpec::*which, const std::string& text, bool again = false);
    void write_target();
    void decide_pair(bool two);
    /// Replaces the document's text by a generated continuation.
    void write(const RunSpecPtr& part, std::string label);
    /// Appends the waiting token once the run of the document's text with its edits is finished.
    void write_waiting();
    /// The same, then requests the run; errors are stored in the state.
    void continue_generation();
    void token_generated(std::int64_t id); ///< may end generation
    void stop_writing(std::string why = {});
    void take_back(std::int64_t tokens);
    void take_branch(std::size_t number);
    void sample_next();
    /// The attention that the view shows, by its number (see core/checkpoint/model/stacks.h), as those below.
    std::int64_t current_attention() const;
    /// The first layer of the grid whose attention has this number or a larger one.
    std::int64_t first_in_grid(std::int64_t attention) const;
    void ask(std::int64_t attention);
    void show_attention(std::int64_t attention, const std::shared_ptr<const Problem>& base);
    /// The last known input of the attention for the part's inputs; null if it is not known.
    std::shared_ptr<const Problem> known_base(const RunSpec& part, std::int64_t attention) const;
    /// Updates the steps of the open layer and moves the view to one of them if needed.
    void update_step_strip();
    /// Requests the values around the attention, and shows what is known of them.
    void follow_block();
    /// Requests the content of the screens other than the stages.
    void follow_screen();
    void follow_effects();
    void ask_effects(const AskEffects& asked);
    /// Registers the map on screen, which is filled by runs: Cancel and Go on refer to these runs.
    template<class Value>
    void measures(const DerivedKey& key, const Derived<Value>& map) {
        state().model.measuring = !map.done && !map.stopped;
        measured_ = [this, key](bool on) { blocks_.stop<Value>(key, !on); };
    }
    void follow_why();
    void follow_causes(); ///< the answer to "Why?" next to the prediction
    void follow_model_flow();
    void show_cause_details(const ShowCauseDetails& details);
    void follow_patching();
    void ask_patching(const AskPatching& asked);
    /// Returns true if path patching has a first sender; until then the heads are measured. `error`: why not.
    bool has_sender(const std::shared_ptr<const PatchingPair>& pair, const std::string& key,
                    std::string& error);
    void swap_prompts();
    /// Opens the run of the requested cell once its rows are known.
    void open_patch(const PatchingView& view, const DerivedKey& of_map);
    void leave_patch();
    /// Moves the view to the patched activation.
    void show_patch(const PatchedRun& patch);
    /// Opens, sorts or closes the list of prompts, or shows one of its prompts.
    void change_prompts(const ModelAction& action);
    void open_prompts(PromptListPtr list);
    void show_listed_prompt(std::size_t index);
    /// Lets Cancel and Go on refer to the prompts whose mean is on screen.
    void measure_prompts();
    void follow_mean_effects(); ///< in place of the effects of the open prompt
    void follow_mean_patching();
    void follow_changes(); ///< of the heads between two checkpoints
    void follow_circuits();
    void ask_circuits(const AskCircuits& asked);
    void follow_unit();   ///< for the words that a unit of the MLP promotes or suppresses
    void follow_expert(); ///< and for an expert's values at a token
    /// Applies the reading options. `changed_from`: first layer in which the grid differs.
    void follow_transformed(std::optional<std::int64_t> changed_from = {});
    bool reads_otherwise() const;
    HeadGridController grid_;
    AtlasService atlas_;
    LongMapService map_;
    PromptListService prompts_;
    TransformedModelView transformed_; ///< destroyed before the members above, which would wait for its means
    ModelRunner runner_;
    ModelRunner::Request wanted_;          ///< the last request to runner_
    std::optional<NextText> next_text_;    ///< pending
    std::optional<GenerateToken> waiting_; ///< until the text has been run
    std::optional<OpenPatch> opening_;     ///< the requested cell of the patching map
    std::string sent_in_;                  ///< the pair for which has_sender has found a sender
    checkpoint::ModelRunPtr mapped_run_;   ///< the run of the map, kept while the run of a cell is shown
    TensorPtr next_logits_;                ///< next-token logits of the newest run
    double next_token_at_ = 0;             ///< next token during generation: seconds from program start
    std::map<std::int64_t, KnownAttention> known_; ///< by attention number
    DerivedValues blocks_; ///< for the newest run: the values around the attention and the screens
    std::function<void(bool on)> measured_; ///< stops or continues the runs of the map on screen; empty: none
    PairQuestion pair_question_;
    PendingView when_shown_;
};

} // namespace headscope::app
