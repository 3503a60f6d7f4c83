#include "core/analysis/effects/ablation_sweep.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::AttentionPlace;

/// The attentions whose heads are ablated, by number, the last one first.
std::vector<std::int64_t> swept_attentions(const checkpoint::ModelConfig& config,
                                           const std::vector<AttentionPlace>& places) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(attention_count(config)));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    std::ranges::reverse(numbers);
    std::erase_if(numbers,
                  [&](std::int64_t n) { return !has_attention(config, attention_place(config, n)); });
    if (!places.empty())
        std::erase_if(numbers, [&](std::int64_t n) {
            return std::ranges::find(places, attention_place(config, n)) == places.end();
        });
    return numbers;
}

void check_sweep(const checkpoint::ModelRun& run, const SweepOptions& options) {
    const checkpoint::ModelConfig& config = run.model().config();
    if (!run.model().has_head())
        fail_input(tr("ablation_sweep.no_head_gives_logits",
                      "{} has no language-model head, so no prediction can change; open a checkpoint that "
                      "was saved with its head",
                      run.model().path()));
    const std::int64_t T = run.inputs().T;
    if (options.position < 0 || options.position >= T)
        fail_input(tr("ablation_sweep.no_position_text_tokens",
                      "there is no position {} in a text of {} tokens; positions are numbered 0 to {}",
                      options.position, T, T - 1));
    for (const std::int64_t token : options.tokens)
        if (token < 0 || token >= config.vocab)
            fail_input(tr("ablation_sweep.no_token_vocabulary_ids",
                          "there is no token {} in a vocabulary of {}; ids are numbered 0 to {}", token,
                          config.vocab, config.vocab - 1));
    for (const AttentionPlace& place : options.places)
        if (std::ranges::find(checkpoint::stacks_of(config), place.stack) ==
                checkpoint::stacks_of(config).end() ||
            place.layer < 0 || place.layer >= in_stack(config, place.stack).layers)
            // Translators: the first {} is "layer 3 of the encoder" and the like, the second a path
            fail_input(tr("ablation_sweep.no", "there is no {} in {}", attention_words(config, place),
                          run.model().path()));
    for (const AttentionPlace& place : options.places)
        require_attention(config, place);
}

/// The mean of each number of a head over the tokens, in each row. `heads`: (1, H, T, dv); the result: (1, 1,
/// T, dv).
TensorPtr mean_over_tokens(const Tensor& heads, std::int64_t h) {
    const std::int64_t T = heads.shape()[2], dv = heads.shape()[3];
    const ConstRows own(heads.data() + heads.offset(0, h, 0, 0), T, dv);
    auto mean = std::make_shared<Tensor>(Shape{1, 1, T, dv});
    MutableRows(mean->data(), T, dv).rowwise() = own.colwise().mean();
    return mean;
}

/// Runs a model again from the attention of an ablated head on.
class Sweep {
public:
    Sweep(const checkpoint::ModelRun& run, const SweepOptions& options, Progress& progress)
        : architecture_(run.model().config()), options_(options),
          runs_(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>()), streams_(streams()) {
        const std::string token_axis = runs_.graph()["logits"].axes[1].name;
        logits_.push_back({"logits", {{token_axis, {options.position, 1}}}});
        std::vector<graph::Part> captures = streams_;
        captures.insert(captures.end(), logits_.begin(), logits_.end());
        before_ = runs_.run(captures, {}, run.kept(), progress);
        checkpoint::require_finite_logits(logits_of(*before_)->values(), options.position);
    }

    bool skips(std::int64_t n, std::int64_t h) const {
        return options_.skip && options_.skip(attention_place(architecture_, n), h);
    }

    /// Prepares ablations of heads of attention n.
    void enter(std::int64_t n, Progress& progress) {
        place_ = attention_place(architecture_, n);
        std::vector<graph::Part> captures = streams_;
        captures.push_back({runs_.name(place_, TensorId::head_out)});
        with_heads_ = runs_.run(captures, {}, before_, progress);
    }

    HeadEffect ablate(std::int64_t h, Progress& progress) {
        const run::RunPtr after = runs_.run(logits_, {ablated(h)}, with_heads_, progress);
        const TensorPtr was = logits_of(*before_), is = logits_of(*after);
        checkpoint::require_finite_logits(is->values(), options_.position);
        HeadEffect effect{place_, h, checkpoint::compare_predictions(was->values(), is->values(), 0).kl, {}};
        for (const std::int64_t token : options_.tokens)
            effect.logits.push_back(is->values()[static_cast<std::size_t>(token)]);
        return effect;
    }

private:
    /// The input of each attention, and the encoder's output.
    std::vector<graph::Part> streams() const {
        std::vector<graph::Part> parts;
        for (std::int64_t n = 0; n < attention_count(architecture_); ++n)
            parts.push_back({runs_.name(attention_place(architecture_, n), TensorId::resid_in)});
        if (architecture_.encoder != nullptr)
            parts.push_back({checkpoint::layer_prefix(architecture_, {checkpoint::Stack::encoder, -1}) +
                             "hidden." + std::to_string(architecture_.encoder->layers)});
        return parts;
    }

    run::Intervention ablated(std::int64_t h) const {
        const bool is_mean = options_.ablation == Ablation::mean;
        const std::string head_out = runs_.name(place_, TensorId::head_out),
                          gain = checkpoint::layer_prefix(architecture_, place_) + "gain";
        return {.part = {is_mean ? head_out : gain, {{"H", {h, 1}}}},
                .values = is_mean ? mean_over_tokens(*(*with_heads_)[head_out], h)
                                  : std::make_shared<const Tensor>(Shape{}, 0.0F)};
    }

    TensorPtr logits_of(const run::Run& run) const { return run.part(logits_.front()); }

    const checkpoint::ModelConfig& architecture_;
    const SweepOptions& options_;
    checkpoint::GraphRuns runs_;
    std::vector<graph::Part> streams_, logits_;
    AttentionPlace place_;
    run::RunPtr before_;     ///< without an ablated head
    run::RunPtr with_heads_; ///< the same, with the head outputs of the attention at `place_`
};

} // namespace

void ablation_sweep(const checkpoint::ModelRun& run, const SweepOptions& options,
                    const std::function<void(const HeadEffect&)>& done, Progress& progress) {
    check_sweep(run, options);
    progress.check();
    const checkpoint::ModelConfig& config = run.model().config();
    const std::vector<std::int64_t> numbers = swept_attentions(config, options.places);
    progress.set_part(0.0F, 0.0F);
    Sweep sweep(run, options, progress);
    std::vector<std::pair<std::int64_t, std::int64_t>> heads;
    for (const std::int64_t n : numbers)
        for (std::int64_t h = 0; h < in_stack(config, attention_place(config, n).stack).H; ++h)
            if (!sweep.skips(n, h))
                heads.emplace_back(n, h);
    const auto part_of = [&](std::size_t head) {
        return static_cast<float>(head) / static_cast<float>(heads.size());
    };
    for (std::size_t head = 0; head < heads.size(); ++head) {
        const auto [n, h] = heads[head];
        progress.set_part(part_of(head), part_of(head));
        if (head == 0 || heads[head - 1].first != n)
            sweep.enter(n, progress);
        progress.set_part(part_of(head), part_of(head + 1));
        done(sweep.ablate(h, progress));
    }
    progress.set_part(0.0F, 1.0F);
    progress.report(1.0F);
}

} // namespace headscope::analysis
