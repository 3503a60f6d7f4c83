#include "core/analysis/effects/ablation_sweep.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/run/forward_pass.h"
#include "core/checkpoint/run/predictions.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/dense.h"

#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::AttentionPlace;
using checkpoint::Streams;

/// The attentions whose heads are ablated, by number, the last one first.
std::vector<std::int64_t> swept_attentions(const checkpoint::Architecture& architecture,
                                           const std::vector<AttentionPlace>& places) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(attention_count(architecture)));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    std::ranges::reverse(numbers);
    if (!places.empty())
        std::erase_if(numbers, [&](std::int64_t n) {
            return std::ranges::find(places, attention_place(architecture, n)) == places.end();
        });
    return numbers;
}

void check_sweep(const checkpoint::ModelRun& run, const SweepOptions& options) {
    const checkpoint::Architecture& architecture = run.model().architecture();
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
        if (token < 0 || token >= architecture.vocab)
            fail_input(tr("ablation_sweep.no_token_vocabulary_ids",
                          "there is no token {} in a vocabulary of {}; ids are numbered 0 to {}", token,
                          architecture.vocab, architecture.vocab - 1));
    for (const AttentionPlace& place : options.places)
        if (std::ranges::find(checkpoint::stacks_of(architecture), place.stack) ==
                checkpoint::stacks_of(architecture).end() ||
            place.layer < 0 || place.layer >= in_stack(architecture, place.stack).layers)
            // Translators: the first {} is "layer 3 of the encoder" and the like, the second a path
            fail_input(tr("ablation_sweep.no", "there is no {} in {}", attention_words(architecture, place),
                          run.model().path()));
}

/// (T, D) numbers of a tensor.
using RowArray = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Runs a model again from the attention of an ablated head on.
class Sweep {
public:
    Sweep(const checkpoint::ModelRun& run, const SweepOptions& options, const Progress& cancel)
        : architecture_(run.model().architecture()), options_(options), edits_(run.edits()), cancel_(cancel),
          pass_(run.model(), run.inputs(), run.edits()) {
        before_ = logits_after(streams_, -1, nullptr);
        checkpoint::require_finite_logits(before_->values(), options.position);
    }

    bool skips(std::int64_t n, std::int64_t h) const {
        return options_.skip && options_.skip(attention_place(architecture_, n), h);
    }

    void ablate_heads(std::int64_t n, const std::function<void(const HeadEffect&)>& done) {
        const Problem problem = checkpoint::with_edits(pass_.problem(cpu_, n, streams_), edits_of(edits_, n));
        Progress unwatched;
        const Trace own =
            engine_.run(problem, StageSet().with(TensorId::output).with(TensorId::contributions), unwatched);
        const std::int64_t T = own.dims.Tq, D = own.dims.D;
        const Tensor &output = *own.stage(TensorId::output), &written = *own.stage(TensorId::contributions);
        for (std::int64_t h = 0; h < own.dims.H; ++h) {
            if (skips(n, h))
                continue;
            const Eigen::Map<const RowArray> of_head(written.data() + written.offset(0, h, 0, 0), T, D);
            const auto without = std::make_shared<Tensor>(output.shape());
            Eigen::Map<RowArray> left(without->data(), T, D);
            left = Eigen::Map<const RowArray>(output.data(), T, D) - of_head;
            if (options_.ablation == Ablation::mean)
                left.rowwise() += of_head.colwise().mean();
            Streams streams = streams_before(n);
            const TensorPtr logits = logits_after(streams, n, without);
            checkpoint::require_finite_logits(logits->values(), options_.position);
            HeadEffect effect{attention_place(architecture_, n),
                              h,
                              checkpoint::compare_predictions(before_->values(), logits->values(), 0).kl,
                              {}};
            for (const std::int64_t token : options_.tokens)
                effect.logits.push_back(logits->values()[static_cast<std::size_t>(token)]);
            done(effect);
        }
    }

private:
    /// What attention n and those before it read.
    Streams streams_before(std::int64_t n) const {
        const std::int64_t first = attention_number(architecture_, {checkpoint::Stack::own, 0});
        Streams streams = streams_;
        if (n < first)
            streams.own.clear();
        std::vector<TensorPtr>& cut = n < first ? streams.encoder : streams.own;
        cut.resize(static_cast<std::size_t>(n < first ? n + 1 : n - first + 1));
        return streams;
    }

    /// The logits at the position, (1, 1, vocab), with `changed` in place of what attention n gives. Computes
    /// what is missing of the streams.
    TensorPtr logits_after(Streams& streams, std::int64_t n, const TensorPtr& changed) {
        Progress unwatched;
        pass_.run(
            cpu_, streams,
            [&](std::int64_t of, const Problem& problem) {
                cancel_.check();
                return of == n ? changed
                               : engine_.run(problem, StageSet().with(TensorId::output), unwatched)
                                     .slot(TensorId::output);
            },
            unwatched);
        const Tensor& last = *streams.own.back();
        const auto D = static_cast<std::size_t>(architecture_.D);
        const Tensor row(Shape{1, 1, architecture_.D},
                         last.values().subspan(static_cast<std::size_t>(options_.position) * D, D));
        return pass_.logits(cpu_, row, cancel_);
    }

    const checkpoint::Architecture& architecture_;
    const SweepOptions& options_;
    const checkpoint::ModelEdits& edits_;
    const Progress& cancel_;
    const checkpoint::ForwardPass pass_;
    std::shared_ptr<cpu::CpuMachine> machine_ = cpu::make_cpu_machine();
    cpu::CpuEngine engine_{machine_};
    cpu::CpuDense cpu_{machine_};
    Streams streams_;  ///< of the run
    TensorPtr before_; ///< its logits at the position
};

} // namespace

void ablation_sweep(const checkpoint::ModelRun& run, const SweepOptions& options,
                    const std::function<void(const HeadEffect&)>& done, Progress& progress) {
    check_sweep(run, options);
    progress.check();
    const checkpoint::Architecture& architecture = run.model().architecture();
    const std::vector<std::int64_t> numbers = swept_attentions(architecture, options.places);
    Sweep sweep(run, options, progress);
    const auto heads_of = [&](std::int64_t n) {
        const std::int64_t H = in_stack(architecture, attention_place(architecture, n).stack).H;
        std::int64_t count = 0;
        for (std::int64_t h = 0; h < H; ++h)
            count += sweep.skips(n, h) ? 0 : 1;
        return count;
    };
    const std::int64_t heads =
        std::transform_reduce(numbers.begin(), numbers.end(), std::int64_t{0}, std::plus<>(), heads_of);
    std::int64_t finished = 0;
    for (const std::int64_t n : numbers)
        if (heads_of(n) > 0)
            sweep.ablate_heads(n, [&](const HeadEffect& effect) {
                progress.report(static_cast<float>(++finished) / static_cast<float>(heads));
                done(effect);
            });
    progress.report(1.0F);
}

} // namespace headscope::analysis
