#include "app/cli/prompts/prompt_run.h"

#include "app/cli/prompts/prompt_parts.h"
#include "app/cli/prompts/prompt_results.h"
#include "app/cli/serve/captured_output.h"
#include "app/cli/stop_on_signal.h"
#include "app/cli/usage.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/sha256.h"

#include <atomic>
#include <exception>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headscope::cli {

namespace {

using analysis::Prompt;

/// Records an Error(input) as the outcome of its line. Throws every other error of PromptRun::compute, with
/// the line in its message: a run that lacked memory is repeated when the set is continued.
PromptOutcome outcome_of(const PromptRun& run, const Prompt& prompt) {
    try {
        if (!prompt.fault.empty())
            return {.why = prompt.fault};
        return {.result = run.compute(prompt)};
    } catch (const Error& fault) {
        if (fault.kind() == ErrorKind::machine)
            throw Error(fault.kind(),
                        run.set.path + ", line " + std::to_string(prompt.line) + ": " + fault.what());
        if (fault.kind() != ErrorKind::input)
            throw;
        return {.why = fault.what()};
    }
}

/// Prints the number of finished prompts, only to a terminal.
class PromptProgress {
public:
    PromptProgress(std::size_t count, const ProcessRank& rank)
        : count_(count), shown_(rank.rank == 0 && isatty(STDERR_FILENO) != 0) {}
    ~PromptProgress() {
        if (shown_)
            std::cerr << "\r\033[K" << std::flush;
    }
    PromptProgress(const PromptProgress&) = delete;
    PromptProgress& operator=(const PromptProgress&) = delete;
    void tell(std::size_t done) const {
        if (shown_)
            print_error_text("\r\033[K" + std::to_string(done) + " of " +
                             app::counted(static_cast<std::int64_t>(count_), "prompt"));
    }

private:
    std::size_t count_;
    bool shown_;
};

/// Names the lines that could not be used on standard error.
void report_failed(const PromptRun& run, const PromptResults& results) {
    constexpr std::size_t most = 20;
    for (std::size_t n = 0; n < results.failed.size() && n < most; ++n)
        std::cerr << "headscope: " << run.set.path << ", line " << results.failed[n].line << ": "
                  << results.failed[n].why << '\n';
    if (!results.failed.empty())
        std::cerr << "headscope: " << app::counted(std::ssize(results.failed), "line") << " of "
                  << run.set.prompts.size() << " could not be used\n";
}

std::string bytes_of(const PromptRun& run, const PromptResults& results) {
    return run.out.ends_with(".csv")           ? results_as_csv(results)
           : run.out.ends_with(".safetensors") ? results_as_safetensors(results)
           : run.out == "-" && run.as_text     ? run.as_text(results)
                                               : results_as_json(results);
}

/// Returns false, and writes nothing, if no prompt has a result.
bool write_results(const PromptRun& run, const PromptOutcomes& outcomes) {
    PromptResults results;
    for (const auto& [line, outcome] : outcomes)
        if (outcome.why.empty()) {
            results.lines.push_back(line);
            results.results.push_back(nlohmann::ordered_json::parse(outcome.result));
        } else {
            results.failed.push_back({line, outcome.why});
        }
    report_failed(run, results);
    if (!results.results.empty())
        write_file_atomically(run.out, bytes_of(run, results));
    return !results.results.empty();
}

[[noreturn]] void fail_unusable(const PromptRun& run) {
    fail_input("no line of " + run.set.path + " can be used; correct the lines that are named above");
}

[[noreturn]] void fail_stopped(const PromptRun& run, std::size_t done) {
    throw Error(ErrorKind::cancelled, "stopped after " + std::to_string(done) + " of " +
                                          std::to_string(run.set.prompts.size()) + " prompts; " +
                                          (run.out == "-" ? "with -o FILE, the same command would resume"
                                                          : "run the same command to resume"));
}

/// Computes prompts, several at once if the run is parallel, and passes each outcome to `take` on one thread
/// at a time. Returns early if the user stops it. Throws what `take` and PromptRun::compute throw.
class PromptWorkers {
public:
    using Take = std::function<void(const Prompt&, PromptOutcome)>;
    PromptWorkers(const PromptRun& run, std::vector<const Prompt*> prompts, Take take)
        : run_(run), prompts_(std::move(prompts)), take_(std::move(take)) {}

    void compute(int threads) {
        {
            std::vector<std::jthread> others;
            for (int n = 1; n < threads && run_.parallel && std::cmp_less(n, prompts_.size()); ++n)
                others.emplace_back([this] { work(); });
            work();
        }
        if (fault_)
            std::rethrow_exception(fault_);
    }

private:
    void work() {
        for (std::size_t n = next_++; n < prompts_.size() && !StopOnSignal::progress().cancelled();
             n = next_++)
            try {
                PromptOutcome outcome = outcome_of(run_, *prompts_[n]);
                const std::scoped_lock lock(mutex_);
                take_(*prompts_[n], std::move(outcome));
            } catch (...) {
                const std::scoped_lock lock(mutex_);
                fault_ = fault_ ? fault_ : std::current_exception();
                next_ = prompts_.size();
            }
    }

    const PromptRun& run_;
    const std::vector<const Prompt*> prompts_;
    const Take take_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex mutex_;
    std::exception_ptr fault_;
};

void run_at_once(const PromptRun& run, const ProcessRank& rank) {
    std::vector<const Prompt*> wanted;
    for (const Prompt& prompt : run.set.prompts)
        wanted.push_back(&prompt);
    PromptOutcomes outcomes;
    {
        const PromptProgress shown(run.set.prompts.size(), rank);
        PromptWorkers(run, std::move(wanted), [&](const Prompt& prompt, PromptOutcome outcome) {
            outcomes[prompt.line] = std::move(outcome);
            shown.tell(outcomes.size());
        }).compute(rank.threads());
    }
    if (StopOnSignal::progress().cancelled() && outcomes.size() < run.set.prompts.size())
        fail_stopped(run, outcomes.size());
    if (!write_results(run, outcomes))
        fail_unusable(run);
}

void run_with_parts(const PromptRun& run, const ProcessRank& rank) {
    PromptParts parts(run.out, sha256(std::string_view(run.set.sha256 + "\n" + run.computation)), rank);
    if (parts.complete()) {
        std::cerr << "headscope: " << run.out << " exists; remove it to compute it again\n";
        return;
    }
    std::vector<const Prompt*> wanted;
    std::size_t done = 0, n = 0;
    for (const Prompt& prompt : run.set.prompts) {
        const bool own = static_cast<std::int64_t>(n++) % rank.count == rank.rank;
        if (parts.done(prompt.line))
            ++done;
        else if (own)
            wanted.push_back(&prompt);
    }
    const std::size_t all = done + wanted.size();
    {
        const PromptProgress shown(run.set.prompts.size(), rank);
        PromptWorkers(run, std::move(wanted), [&](const Prompt& prompt, const PromptOutcome& outcome) {
            parts.add(prompt.line, outcome);
            shown.tell(++done);
        }).compute(rank.threads());
    }
    if (StopOnSignal::progress().cancelled() && done < all)
        fail_stopped(run, done);
    bool usable = true; // the parts are removed in either case
    const auto write = [&](const PromptOutcomes& outcomes) { usable = write_results(run, outcomes); };
    if (parts.finish(run.set.prompts.size(), write) == PartFiles::Finished::not_yet)
        std::cerr << "headscope: process " << rank.rank << " of " << rank.count
                  << " has done its part; the last process writes " << run.out << '\n';
    if (!usable)
        fail_unusable(run);
}

} // namespace

void run_prompts(const PromptRun& run) {
    const ProcessRank rank = ProcessRank::from_environment();
    const StopOnSignal stop;
    if (run.out != "-")
        return run_with_parts(run, rank);
    if (rank.count > 1)
        fail_usage("several processes share a set through files next to the result; add -o FILE");
    run_at_once(run, rank);
}

} // namespace headscope::cli
