#include "app/cli/survey/survey_parts.h"

#include "core/analysis/survey/survey_file.h"
#include "core/base/error.h"

#include <filesystem>
#include <utility>

namespace headscope::cli {

namespace {

using analysis::SurveyPlan;
using analysis::SurveyState;

} // namespace

SurveyParts::SurveyParts(std::string out, SurveyPlan plan, const ProcessRank& rank)
    : out_(std::move(out)), plan_(std::move(plan)), files_(out_, "survey", rank, false) {
    try {
        if (!complete())
            read_parts();
    } catch (const Error&) {
        if (!complete()) // otherwise the parts were removed while they were read
            throw;
    }
    if (complete())
        check_part(out_, analysis::SurveyFile::open(out_).run().plan);
}

void SurveyParts::read_parts() {
    for (const std::filesystem::path& path : files_.parts()) {
        const bool own = path == std::filesystem::path(files_.own_path());
        analysis::SurveyPart part = analysis::read_part(path.string(), own);
        check_part(path.string(), part.plan);
        done_.insert(part.state.done.begin(), part.state.done.end());
        if (own)
            own_ = std::move(part.state);
    }
}

SurveyState SurveyParts::take_own() {
    return own_ ? *std::exchange(own_, std::nullopt) : SurveyState(plan_.layers, plan_.H);
}

void SurveyParts::save(const SurveyState& own) const {
    analysis::write_part(files_.own_path(), plan_, own);
}

void SurveyParts::check_part(const std::string& path, const SurveyPlan& of) const {
    if (const std::string other = analysis::difference_of(of, plan_); !other.empty())
        fail_input(path + " belongs to a survey of " + other + "; name another file with -o, or remove " +
                   (path == out_ ? out_ : out_ + ".part-*"));
}

SurveyState SurveyParts::merged(const PartFiles::Parts& parts) const {
    SurveyState all(plan_.layers, plan_.H);
    for (const std::filesystem::path& path : parts)
        all.merge(analysis::read_part(path.string()).state);
    const std::set<std::int64_t> blocks(all.done.begin(), all.done.end());
    if (blocks.size() != all.done.size())
        fail_input("the files " + out_ +
                   ".part-* contain a block twice; remove them and start the survey again");
    return all;
}

SurveyParts::Finished SurveyParts::finish(const analysis::Corpus& corpus,
                                          const analysis::PieceCutter& cutter) const {
    return files_.finish(
        [&](const PartFiles::Parts& parts) {
            std::int64_t done = 0;
            for (const std::filesystem::path& path : parts)
                done += std::ssize(analysis::read_part(path.string(), false).state.done);
            return done >= plan_.blocks;
        },
        [&](const PartFiles::Parts& parts) {
            analysis::write_survey(out_, plan_, merged(parts), corpus, cutter);
        });
}

} // namespace headscope::cli
