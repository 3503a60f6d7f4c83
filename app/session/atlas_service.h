#pragma once

#include "app/jobs/derived.h"
#include "app/session/session_state.h"

#include <functional>
#include <memory>
#include <vector>

namespace headscope::app {

/// Computes the scores of all heads for Shown::atlas while the atlas is visible: the scores of the grid as
/// its maps are read, and scores that need more than the run of the text. For one thread; a worker computes.
class AtlasService {
public:
    AtlasService(SessionState& state, std::function<void()> wake);

    /// set: the weights of the grid; null: no grid. run: of the checkpoint that the heads belong to; null:
    /// none.
    void follow(const AttentionSetPtr& set, const checkpoint::ModelRunPtr& run);
    /// Returns true until follow() has shown every value.
    bool busy() const { return values_.pending(); }
    void wait() { values_.wait(); }

private:
    using Holders = std::vector<std::shared_ptr<const void>>;

    void add_model_scores(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_effects(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_shares(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_retrieval(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    /// Computes a score that needs many runs, only while the view shows it.
    template<class Value, class Make>
    std::shared_ptr<const Value> runs_of(Atlas& atlas, analysis::HeadScore score, const DerivedKey& key,
                                         Make make);
    void add_alike(Atlas& atlas, Holders& holders, const AttentionSetPtr& set);
    /// Adds the cells in which the open head acts most.
    void add_acts(Atlas& atlas, Holders& holders, const AttentionSetPtr& set);
    /// Replaces the text's scores by the means of a survey, while the survey tab is open.
    void follow_survey(Atlas& atlas, Holders& holders);
    bool is_on_screen(analysis::HeadScore score) const;

    SessionState& state_;
    DerivedValues values_;
    std::shared_ptr<const void> survey_; ///< the survey whose head results are kept
    Holders shown_;                      ///< values that the shown atlas was made from
    std::shared_ptr<const std::vector<std::string>> names_;
    AttentionSetPtr named_;  ///< the set that names_ belongs to
    std::uint64_t made_ = 0; ///< number of atlases so far; used as version
};

} // namespace headscope::app
