#include "app/cli/survey/survey_run.h"

#include "app/cli/stop_on_signal.h"
#include "app/cli/survey/process_rank.h"
#include "app/cli/survey/survey_parts.h"
#include "app/draw/kit/format.h"
#include "core/analysis/survey/survey_file.h"
#include "core/analysis/survey/surveyor.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/model_memory.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace headscope::cli {

namespace {

using analysis::SurveyPlan;
using analysis::SurveyState;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

SurveyPlan plan_of(const SurveyOptions& options, const checkpoint::TextModel& model,
                   const analysis::Corpus& corpus) {
    const checkpoint::ModelConfig& config = analysis::surveyed_model(model).config();
    SurveyPlan plan;
    plan.checkpoint = options.model;
    plan.fingerprint = analysis::fingerprint_of(*model.model, StopOnSignal::progress());
    plan.layers = config.layers;
    plan.H = config.H;
    plan.texts = options.texts;
    plan.length = std::min(options.length, config.longest_text);
    plan.limit = options.limit.value_or(0);
    plan.version = HEADSCOPE_VERSION;
    plan.describe(corpus);
    return plan;
}

/// Computes the blocks of one process and saves them at intervals.
class SurveyWorker {
public:
    SurveyWorker(const SurveyPlan& plan, const analysis::Corpus& corpus, const analysis::PieceCutter& cutter,
                 SurveyParts& parts, const ProcessRank& rank)
        : plan_(plan), corpus_(corpus), cutter_(cutter), parts_(parts), rank_(rank),
          state_(parts.take_own()) {}

    void compute(const checkpoint::TextModelPtr& model) {
        analysis::Surveyor surveyor(model, rank_.threads());
        for (std::int64_t block = rank_.rank; block < plan_.blocks && !StopOnSignal::progress().cancelled();
             block += rank_.count) {
            if (parts_.done().contains(block))
                continue;
            add(surveyor, block);
            tell();
            // Limit saving to a fiftieth of the time.
            if (seconds_since(saved_) > 50 * saving_)
                save();
        }
        if (unsaved_)
            save();
        if (reported_)
            std::cerr << '\n';
        if (StopOnSignal::progress().cancelled())
            throw Error(ErrorKind::cancelled,
                        "stopped after " + app::grouped(texts_done()) + " of " +
                            app::counted(plan_.text_count, "text") +
                            (rank_.count > 1 ? " by this process and the previous ones" : "") +
                            "; run the same command to resume");
    }

private:
    void add(analysis::Surveyor& surveyor, std::int64_t block) {
        const Clock::time_point start = Clock::now();
        std::vector<analysis::Piece> pieces;
        for (const analysis::Corpus::Text& text : corpus_.read(block)) {
            std::vector<analysis::Piece> of_text = cutter_.cut(text);
            ++(of_text.empty() ? state_.counts.no_token : state_.counts.texts);
            state_.counts.split += of_text.size() > 1 ? 1 : 0;
            std::ranges::move(of_text, std::back_inserter(pieces));
        }
        Progress unwatched;
        surveyor.add(pieces, cutter_, state_, unwatched);
        state_.done.push_back(block);
        state_.counts.seconds += seconds_since(start);
        for (const analysis::Piece& piece : pieces)
            tokens_now_ += std::ssize(piece.ids);
        unsaved_ = true;
    }

    void save() {
        const Clock::time_point start = Clock::now();
        parts_.save(state_);
        saved_ = Clock::now();
        saving_ = seconds_since(start);
        unsaved_ = false;
    }

    std::int64_t texts_done() const { return state_.counts.texts + state_.counts.no_token; }

    /// Prints the progress of all processes from the first one, only to a terminal.
    void tell() {
        constexpr double between = 0.5;
        if (rank_.rank > 0 || isatty(STDERR_FILENO) == 0 || seconds_since(spoke_) < between)
            return;
        spoke_ = Clock::now();
        const double elapsed = seconds_since(begun_);
        const auto blocks = static_cast<double>(plan_.blocks - std::ssize(parts_.done()));
        const auto now = static_cast<double>(state_.done.size() - before_) * static_cast<double>(rank_.count);
        std::cerr << "\r\033[K" << app::grouped(texts_done()) << " of "
                  << app::counted(plan_.text_count, "text") << ", "
                  << app::number(static_cast<double>(tokens_now_) / elapsed, 0) << " tokens/s, "
                  << app::time_text(elapsed / now * std::max(0.0, blocks - now)) << " left" << std::flush;
        reported_ = true;
    }

    const SurveyPlan& plan_;
    const analysis::Corpus& corpus_;
    const analysis::PieceCutter& cutter_;
    SurveyParts& parts_;
    const ProcessRank& rank_;
    SurveyState state_;
    const std::size_t before_ = state_.done.size();
    std::int64_t tokens_now_ = 0;
    const Clock::time_point begun_ = Clock::now();
    Clock::time_point saved_ = Clock::now(), spoke_ = Clock::now();
    double saving_ = 0;
    bool unsaved_ = false, reported_ = false;
};

/// Prints the result in one line, and a second line if texts were skipped or cut.
void summarize(const std::string& out) {
    const analysis::SurveyRun run = analysis::SurveyFile::open(out).run();
    const SurveyPlan& plan = run.plan;
    const analysis::SurveyCounts& counts = run.counts;
    std::cout << out << ": " << app::counted(plan.layers * plan.H, "head") << " measured on "
              << app::counted(counts.texts, "text") << " of " << app::counted(counts.tokens, "token") << "; "
              << app::time_text(counts.seconds) << " of work at "
              << app::number(static_cast<double>(counts.tokens) / std::max(counts.seconds, 1e-9), 0)
              << " tokens/s\n";
    const auto tell = [](std::int64_t count, const char* one, const std::string& what) {
        if (count > 0)
            std::cout << app::counted(count, one) << ' ' << what << '\n';
    };
    tell(counts.split, "text", "longer than " + std::to_string(plan.length) + " tokens: cut into pieces");
    tell(plan.empty_lines, "line", "empty: left out");
    tell(plan.invalid_lines, "line", "not UTF-8: left out");
    tell(counts.no_token, "text", "without a token: left out");
}

} // namespace

void run_survey(const SurveyOptions& options) {
    const ProcessRank rank = ProcessRank::from_environment();
    const StopOnSignal stop;
    const checkpoint::TextModelPtr model =
        checkpoint::open_text_model(checkpoint::model_folder(options.model));
    checkpoint::require_room_for(*model->model);
    const analysis::Corpus corpus =
        analysis::Corpus::open(options.texts, options.limit, StopOnSignal::progress());
    const SurveyPlan plan = plan_of(options, *model, corpus);
    const analysis::PieceCutter cutter(model, plan.length);
    SurveyParts parts(options.out, plan, rank);
    if (parts.complete()) {
        std::cerr << "headscope: " << options.out << " is complete; nothing was left to do\n";
        return;
    }
    SurveyWorker(plan, corpus, cutter, parts, rank).compute(model);
    switch (parts.finish(corpus, cutter)) {
    case SurveyParts::Finished::here:
        return summarize(options.out);
    case SurveyParts::Finished::elsewhere:
        return;
    case SurveyParts::Finished::not_yet:
        std::cerr << "headscope: process " << rank.rank << " of " << rank.count
                  << " has done its part; the last process writes " << options.out << '\n';
    }
}

} // namespace headscope::cli
