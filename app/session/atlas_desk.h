#pragma once

#include "app/jobs/derived.h"
#include "app/session/session_state.h"

#include <functional>
#include <memory>
#include <vector>

namespace headscope::app {

/// The scores of all heads, shown by Shown::atlas while the atlas is looked at: those of the board as they
/// come, and what takes more than the text's own run. For one thread; a worker computes.
class AtlasDesk {
public:
    AtlasDesk(SessionState& state, std::function<void()> wake);

    /// set: what the board shows; null: no board. run: of the checkpoint whose heads these are; null: there
    /// is none.
    void follow(const AttentionSetPtr& set, const checkpoint::ModelRunPtr& run);
    bool busy() const { return values_.busy(); }
    void wait() { values_.wait(); }

private:
    using Holders = std::vector<std::shared_ptr<const void>>;

    void add_model_scores(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_effects(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_shares(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_retrieval(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    /// What takes many runs, and so is made only while somebody looks at the score.
    template<class Value, class Make>
    std::shared_ptr<const Value> runs_of(Atlas& atlas, analysis::HeadScore score, const DerivedKey& key,
                                         Make make);
    void add_alike(Atlas& atlas, Holders& holders, const AttentionSetPtr& set);
    /// Where the open head acts most.
    void add_acts(Atlas& atlas, Holders& holders, const AttentionSetPtr& set);
    /// The means of a survey in place of the text's scores, where one is looked at.
    void follow_survey(Atlas& atlas, Holders& holders);
    bool looks_at(analysis::HeadScore score) const;

    SessionState& state_;
    DerivedValues values_;
    std::shared_ptr<const void> survey_; ///< whose cards are kept
    Holders shown_;                      ///< what the shown atlas was made of
    std::shared_ptr<const std::vector<std::string>> names_;
    AttentionSetPtr named_;  ///< whose heads these are
    std::uint64_t made_ = 0; ///< atlases so far; each has its number as version
};

} // namespace headscope::app
