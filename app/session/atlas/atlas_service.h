#pragma once

#include "app/jobs/derived.h"
#include "app/session/atlas/atlas_comparison.h"
#include "app/session/session_state.h"

#include <functional>
#include <memory>
#include <vector>

namespace headscope::app {

class PromptListService;

/// Computes the scores of all heads for Shown::atlas while the atlas is visible: the scores of the grid as
/// its maps are read, and scores that need more than the run of the text. While the view compares, those of
/// the baseline A or of B − A. For one thread; a worker computes.
class AtlasService {
public:
    AtlasService(SessionState& state, std::function<void()> wake);

    /// set: the weights of the grid; null: no grid. run: of the checkpoint that the heads belong to; null:
    /// none. mean: the list of prompts over which the scores are averaged; null: those of this text.
    void follow(const AttentionSetPtr& set, const checkpoint::ModelRunPtr& run,
                const PromptListService* mean = nullptr);
    /// Returns true until follow() has shown every value.
    bool busy() const { return values_.pending(); }
    void wait() { values_.wait(); }

private:
    using Holders = std::vector<std::shared_ptr<const void>>;

    /// Adds the scores that need more than the maps.
    void add_scores(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    void add_changes(Atlas& atlas, Holders& holders, const checkpoint::ModelRunPtr& run);
    /// Replaces the scores of B by those of the side that the view shows.
    void compare(Atlas& atlas, Holders& holders, const AttentionSetPtr& set,
                 const checkpoint::ModelRunPtr& run);
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
    /// Replaces the text's scores by the means over a list of prompts, as far as they are known.
    static void add_prompt_mean(Atlas& atlas, Holders& holders, const PromptListService& prompts);
    /// Replaces the text's scores by the means of a survey, while the survey tab is open.
    void follow_survey(Atlas& atlas, Holders& holders);
    bool is_on_screen(analysis::HeadScore score) const;

    SessionState& state_;
    DerivedValues values_;
    std::shared_ptr<const ComparedGrids> grids_; ///< A and B while they are compared, else null
    std::shared_ptr<const void> survey_;         ///< the survey whose head results are kept
    Holders shown_;                              ///< values that the shown atlas was made from
    std::shared_ptr<const std::vector<std::string>> names_;
    AttentionSetPtr named_;  ///< the set that names_ belongs to
    std::uint64_t made_ = 0; ///< number of atlases so far; used as version
};

} // namespace headscope::app
