#pragma once

#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/longer_text.h"
#include "core/checkpoint/run/model_run.h"
#include "core/engine/cpu/long_map.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headscope::checkpoint {

/// The map of one head of attention n.
struct HeadOfRun {
    std::int64_t n = -1, h = -1;
    std::unique_ptr<const cpu::LongMap> map;
};

/// What a ModelRun keeps, and how the rest is computed from it.
class ModelRun::State {
public:
    /// `before`: a run whose threads, and whose graph if it is one of the same inputs, are used; may be null.
    State(ModelPtr model_of_run, ModelInputs inputs_of_run, ModelEdits edits_of_run, const State* before)
        : model(std::move(model_of_run)), inputs(std::move(inputs_of_run)), edits(std::move(edits_of_run)),
          text_(graph_for(before)),
          workshop_(before == nullptr ? std::make_shared<Workshop>() : before->workshop_),
          later_(before == nullptr ? std::make_shared<Workshop>() : before->later_),
          runs_(text_, edits, workshop_), later_runs_(text_, edits, later_) {}

    /// What `before` has of these inputs is shared.
    void compute(const State* before, const Options& options, Progress& progress);
    /// The same of a text that goes on with that of `before`, with the same edits: only the tokens behind it
    /// are run, if the run before has kept keys and values. The numbers are those of compute, bit for bit.
    void go_on(const State& before, const Options& options, Progress& progress);
    bool goes_on_with(const State& before) const;
    TensorPtr weights(std::int64_t n) const;
    TensorPtr rows(std::int64_t n, std::int64_t first, std::int64_t count, const Progress& cancel) const;
    void read_part(std::int64_t n, std::int64_t h, const MapPart& part, std::span<float> to) const;
    TensorPtr brought(std::int64_t n) const;
    Problem problem(std::int64_t n) const;
    const TensorPtr& stream(std::int64_t n) const { return streams_[static_cast<std::size_t>(n)]; }
    const TensorPtr& hidden(std::int64_t l) const;
    TensorPtr logits() const;
    TensorPtr logits_at(std::int64_t position, const Progress& cancel) const;
    RunPartPtr around(std::int64_t n, Progress& progress) const;
    RunPartPtr ends(Stack stack, std::int64_t position, Progress& progress) const;
    StackLengths lengths(Stack stack, Progress& progress) const;

    const TextGraphPtr& text() const { return text_; }
    const run::RunPtr& numbers() const { return run_; }

    const ModelPtr model;
    const ModelConfig& config = model->config();
    std::size_t whole_bytes = Options().whole_bytes;
    const ModelInputs inputs;
    const ModelEdits edits;
    std::array<AttentionInfo, 3> info; ///< by Stack
    std::int64_t computed_from = 0;

private:
    TextGraphPtr graph_for(const State* before) const;
    /// The nodes that a run keeps beside attention weights.
    std::vector<std::string> kept_streams() const;
    void take_streams(Progress& progress);
    std::int64_t count() const { return attention_count(config); }
    std::string name(std::int64_t n, TensorId stage) const {
        const AttentionPlace place = attention_place(config, n);
        return text_->name(place, stage);
    }
    bool attends(std::int64_t n) const { return has_attention(config, attention_place(config, n)); }
    /// What the branch of attention n, or of a delta layer in its place, returns.
    TensorId added(std::int64_t n) const {
        const AttentionPlace place = attention_place(config, n);
        return model->stages().sources(place, model->stages().attention_output(place)).front();
    }
    /// The parameter or stage of this name in its stack, at one token.
    graph::Part row_of(const std::string& node, std::int64_t position) const;

    // With later_ locked.
    /// The nodes of this run, computed from what it keeps.
    run::RunPtr later(std::vector<graph::Part> captures, Progress& progress) const {
        return later_runs_.run(captures, {}, run_, progress);
    }
    TensorPtr one(const std::string& node, const Progress& cancel) const;
    /// A node without the rows that are patched in itself.
    TensorPtr unpatched(const std::string& node, Progress& progress) const;
    bool is_patched(const std::string& node) const;
    Problem edited(std::int64_t n) const;
    Problem plain_problem(std::int64_t n) const;
    /// Weights that are in memory; null: they are not.
    TensorPtr held(std::int64_t n) const;
    const TensorPtr& kept(std::int64_t n) const {
        return run_->tensor(text_->graph().find(name(n, TensorId::weights)));
    }
    std::unique_ptr<const cpu::LongMap> map_of(const Problem& problem, std::int64_t h,
                                               Progress& progress) const;
    /// Runs the captures, and what the nodes of the part behind node `first` are computed from.
    void take(RunPart& part, std::vector<graph::Part> captures, graph::NodeId first,
              Progress& progress) const;

    TextGraphPtr text_;
    std::shared_ptr<Workshop> workshop_;
    std::shared_ptr<Workshop> later_; ///< for what is asked of finished runs
    mutable GraphRuns runs_, later_runs_;
    HandedOnText growing_;           ///< of a text that goes on with another
    run::RunPtr run_;                ///< streams, and weights within the budget
    std::vector<TensorPtr> streams_; ///< by attention, without the rows that are patched there
    mutable std::pair<std::int64_t, TensorPtr> latest_{-1, nullptr};    ///< recomputed last
    mutable HeadOfRun read_;                                            ///< in parts, last
    mutable std::pair<std::int64_t, TensorPtr> predicted_{-1, nullptr}; ///< position, its logits
};

} // namespace headscope::checkpoint
