#pragma once

#include "app/jobs/model_desk.h"
#include "app/jobs/model_look.h"
#include "app/session/atlas_desk.h"
#include "app/session/board.h"
#include "app/session/long_map_desk.h"
#include "app/session/pair_question.h"
#include "app/session/session.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// The token that was typed: a word, or an id where the checkpoint has no tokenizer. Throws Error(input) for
/// what is not one token.
std::int64_t typed_token(const checkpoint::TextModel& model, const std::string& word);

/// A checkpoint with a prompt, the attention of one layer open beside the board of all heads. A worker runs
/// it again after every edit and every prompt.
class CheckpointSession final : public Session {
public:
    /// For a state of the history: its run is still to be computed.
    explicit CheckpointSession(SessionHost& host);
    /// For a checkpoint that was just opened and run.
    CheckpointSession(SessionHost& host, const OpenedModel& opened);
    ~CheckpointSession() override;

    void follow() override;
    void take_results() override;
    bool busy() const override { return desk_.busy() || blocks_.busy() || atlas_.busy() || map_.busy(); }
    void settle() override;
    const DocumentPtr& wanted() const override;

    Dims with_means(Dims dims) const override;
    void other_page(ViewState& view) const override { look_.leave_mean(view); }
    void came_on_screen() override;
    void look_at(std::int64_t first, std::int64_t last) override { board_.look_at(first, last); }
    void act(const ModelAction& action) override;
    bool advance(double now) override;

    std::string not_now() const override;
    std::string step_name(std::string name) const override;
    DocumentPtr restored(const DocumentPtr& next) override;

    void check(const FileCommand& command) const override;
    std::function<void(const std::string& path)> writer() const override;
    bool same_work(const Document& saved) const override;

private:
    /// An attention, while some document holds it.
    struct Known {
        std::shared_ptr<const checkpoint::ModelInputs> inputs;
        std::weak_ptr<const Problem> base;
    };

    /// A text that is to come in place of the document's.
    struct NextText {
        ModelPartPtr part; ///< edits aside
        std::string label; ///< in the history
        ChangeId change;
        std::uint64_t gesture = 0;
        ModelPartPtr asked{}; ///< the same with the document's edits, as the desk was asked; null: not yet
    };

    void use(const ModelDesk::Answer& answer);
    /// Sets the prompt, second text or target. `again`: runs the model even if nothing changed.
    void type(std::string ModelPart::*which, const std::string& text, bool again = false);
    void write_target();
    void decide_pair(bool two);
    /// Puts a text that was written on in place of the document's.
    void write(const ModelPartPtr& part, std::string label);
    /// Writes the token that waits, once the document's text is run with its edits.
    void write_waiting();
    /// The same, and asks for the run; what goes wrong becomes the state's error.
    void go_on();
    void came_written(std::int64_t id); ///< may end the writing
    void stop_writing(std::string why = {});
    void take_back(std::int64_t tokens);
    void take_branch(std::size_t number);
    void sample_next();
    // Attentions by their numbers; see core/checkpoint/model/stacks.h.
    /// The one that the view looks at.
    std::int64_t looked_at() const;
    /// The first layer of the board whose attention has this number or a larger one.
    std::int64_t first_of_board(std::int64_t attention) const;
    void ask(std::int64_t attention);
    void show_attention(std::int64_t attention, const std::shared_ptr<const Problem>& base);
    /// The attention as it was last seen with the inputs of the part; null when that is not known.
    std::shared_ptr<const Problem> known_base(const ModelPart& part, std::int64_t attention) const;
    /// The stops that the open layer has, with the view on one of them.
    void follow_walk();
    /// Asks for what is computed around the attention, and shows what there is of it.
    void follow_block();
    /// Asks for what the canvas shows in place of the stages.
    void follow_screen();
    void follow_effects();
    void ask_effects(const AskEffects& asked);
    /// The map on screen, which is filled by runs: those that Cancel and Go on mean.
    template<class Value>
    void measures(const DerivedKey& key, const Derived<Value>& map) {
        state().model.measuring = !map.done && !map.stopped;
        measured_ = [this, key](bool on) { blocks_.stop<Value>(key, !on); };
    }
    void follow_why();
    void follow_patching();
    void ask_patching(const AskPatching& asked);
    /// Whether paths have had their first sender; until then heads are measured. `error`: why they are not.
    bool has_sender(const std::shared_ptr<const PatchingPair>& pair, const std::string& key,
                    std::string& error);
    void swap_prompts();
    /// Shows the run of the cell that was asked for, once its rows are known.
    void open_patch(const PatchingView& view, const DerivedKey& of_map);
    void leave_patch();
    /// The view on what is patched.
    void look_at_patch(const PatchedRun& patch);
    void follow_circuits();
    void ask_circuits(const AskCircuits& asked);
    /// The same of the words that a unit of the MLP pushes towards.
    void follow_unit();
    void follow_expert(); ///< and of what an expert makes of a token
    /// Follows how the weights are read. `changed_from`: the layer from which on the board differs.
    void follow_look(std::optional<std::int64_t> changed_from = {});
    bool reads_otherwise() const;

    Board board_;
    AtlasDesk atlas_;
    LongMapDesk map_;
    ModelLook look_; ///< ends before those above, which would wait for means that it works out
    ModelDesk desk_;
    ModelDesk::Wish wanted_;                ///< asked of it last
    std::optional<NextText> next_text_;     ///< not answered yet
    std::optional<WriteToken> waiting_;     ///< for the run of the text
    std::optional<OpenPatch> opening_;      ///< a cell of the patching map
    std::string sent_in_;                   ///< the pair whose paths have had their first sender
    checkpoint::ModelRunPtr mapped_run_;    ///< that map's, kept while the run of a cell is looked at
    TensorPtr next_logits_;                 ///< of the newest run
    double next_token_at_ = 0;              ///< when writing on: seconds from program start
    std::map<std::int64_t, Known> known_;   ///< by the number of the attention
    DerivedValues blocks_;                  ///< of the newest run: what it computes around the attention
    std::function<void(bool on)> measured_; ///< stops the runs of the map on screen, or goes on; empty: none
    PairQuestion pair_question_;
    WhenShown when_shown_;
};

} // namespace headscope::app
