#include "app/cli/prompts/prompt_run.h"

#include "app/cli/prompts/prompt_parts.h"
#include "app/cli/prompts/prompt_results.h"
#include "app/cli/stop_on_signal.h"
#include "app/cli/usage.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/sha256.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace headscope::cli {

namespace {

using analysis::Prompt;

PromptOutcome outcome_of(const PromptRun& run, const Prompt& prompt) {
    try {
        if (!prompt.fault.empty())
            return {.why = prompt.fault};
        return {.result = run.compute(prompt)};
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::input && fault.kind() != ErrorKind::machine)
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
            std::cerr << "\r\033[K" << done << " of " << app::counted(static_cast<std::int64_t>(count_), "prompt")
                      << std::flush;
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

void run_at_once(const PromptRun& run) {
    PromptOutcomes outcomes;
    {
        const PromptProgress shown(run.set.prompts.size(), {});
        for (const Prompt& prompt : run.set.prompts) {
            if (StopOnSignal::progress().cancelled())
                fail_stopped(run, outcomes.size());
            outcomes[prompt.line] = outcome_of(run, prompt);
            shown.tell(outcomes.size());
        }
    }
    if (!write_results(run, outcomes))
        fail_unusable(run);
}

void run_with_parts(const PromptRun& run, const ProcessRank& rank) {
    PromptParts parts(run.out, sha256(std::string_view(run.set.sha256 + "\n" + run.computation)), rank);
    if (parts.complete()) {
        std::cerr << "headscope: " << run.out << " exists; remove it to compute it again\n";
        return;
    }
    {
        const PromptProgress shown(run.set.prompts.size(), rank);
        std::size_t done = 0;
        for (std::size_t n = 0; n < run.set.prompts.size(); ++n) {
            const Prompt& prompt = run.set.prompts[n];
            const bool own = static_cast<std::int64_t>(n) % rank.count == rank.rank;
            if (own && !parts.done(prompt.line)) {
                if (StopOnSignal::progress().cancelled())
                    fail_stopped(run, done);
                parts.add(prompt.line, outcome_of(run, prompt));
            }
            done += parts.done(prompt.line) ? 1 : 0;
            shown.tell(done);
        }
    }
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
    run_at_once(run);
}

} // namespace headscope::cli
