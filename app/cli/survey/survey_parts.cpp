#include "app/cli/survey/survey_parts.h"

#include "core/analysis/survey/survey_file.h"
#include "core/base/error.h"
#include "core/base/file.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace headscope::cli {

namespace {

using analysis::SurveyPlan;
using analysis::SurveyState;
namespace fs = std::filesystem;

constexpr const char* done_end = ".done";

std::string lock_end(const ProcessRank& rank) {
    return "-of-" + std::to_string(rank.count) + ".lock";
}

/// Returns the lock once its owner is dead or releases it; nothing if that does not happen in time. Other
/// processes hold it briefly while they check whether it is free.
std::optional<app::FileLock> wait_for_lock(const fs::path& path, int attempts) {
    constexpr std::chrono::milliseconds between(20);
    std::optional<app::FileLock> lock;
    for (; attempts > 0 && !lock; --attempts) {
        app::remove_unlocked(path);
        if (auto made = app::FileLock::create(path))
            lock.emplace(std::move(*made));
        else
            std::this_thread::sleep_for(between);
    }
    return lock;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

SurveyParts::SurveyParts(std::string out, SurveyPlan plan, const ProcessRank& rank)
    : out_(std::move(out)), plan_(std::move(plan)), processes_(rank.count),
      own_path_(out_ + ".part-" + std::to_string(rank.rank)), own_lock_(lock_own(rank)) {
    std::error_code fault;
    fs::remove(own_path_ + done_end, fault);
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
    for (const fs::path& path : parts()) {
        const bool own = path == fs::path(own_path_);
        analysis::SurveyPart part = analysis::read_part(path.string(), own);
        check_part(path.string(), part.plan);
        done_.insert(part.state.done.begin(), part.state.done.end());
        if (own)
            own_ = std::move(part.state);
    }
}

bool SurveyParts::complete() const {
    std::error_code fault;
    return fs::exists(out_, fault);
}

SurveyState SurveyParts::take_own() {
    return own_ ? *std::exchange(own_, std::nullopt) : SurveyState(plan_.layers, plan_.H);
}

void SurveyParts::save(const SurveyState& own) const {
    analysis::write_part(own_path_, plan_, own);
}

/// A survey with another number of processes uses other lock names: each process creates its own lock before
/// it checks for those.
app::FileLock SurveyParts::lock_own(const ProcessRank& rank) const {
    const auto refuse = [&] {
        fail_input("another survey writes " + out_ + "; wait for it, stop it, or name another file with -o");
    };
    std::optional<app::FileLock> lock = wait_for_lock(own_path_ + lock_end(rank), 25);
    if (!lock)
        refuse();
    for (const fs::path& path : files(".lock"))
        if (!path.string().ends_with(lock_end(rank)) && app::is_locked(path))
            refuse();
    return std::move(*lock);
}

app::FileLock SurveyParts::lock_all() const {
    return std::move(*wait_for_lock(out_ + ".lock", std::numeric_limits<int>::max()));
}

/// Returns the files of all processes.
std::vector<fs::path> SurveyParts::files(const std::string& suffix) const {
    const fs::path folder = fs::path(out_).has_parent_path() ? fs::path(out_).parent_path() : fs::path(".");
    const std::string prefix = fs::path(out_).filename().string() + ".part-";
    std::vector<fs::path> found;
    std::error_code fault;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(suffix))
            found.push_back(fs::path(out_).parent_path() / name);
    }
    std::ranges::sort(found);
    return found;
}

std::vector<fs::path> SurveyParts::parts() const {
    std::vector<fs::path> parts = files("");
    std::erase_if(parts, [&](const fs::path& path) {
        return !is_number(path.string().substr(out_.size() + std::string_view(".part-").size()));
    });
    return parts;
}

void SurveyParts::check_part(const std::string& path, const SurveyPlan& of) const {
    if (const std::string other = analysis::difference_of(of, plan_); !other.empty())
        fail_input(path + " belongs to a survey of " + other + "; name another file with -o, or remove " +
                   (path == out_ ? out_ : out_ + ".part-*"));
}

SurveyState SurveyParts::merged(const std::vector<fs::path>& parts) const {
    SurveyState all(plan_.layers, plan_.H);
    for (const fs::path& path : parts)
        all.merge(analysis::read_part(path.string()).state);
    const std::set<std::int64_t> blocks(all.done.begin(), all.done.end());
    if (blocks.size() != all.done.size())
        fail_input("the files " + out_ +
                   ".part-* contain a block twice; remove them and start the survey again");
    return all;
}

SurveyParts::Finished SurveyParts::finish(const analysis::Corpus& corpus,
                                          const analysis::PieceCutter& cutter) const {
    // With thousands of processes, each lists only file names, and only the last ones read the parts.
    const std::string mark = own_path_ + done_end;
    std::error_code fault;
    write_file_atomically(mark, "");
    if (std::ssize(files(done_end)) < processes_ && !complete())
        return Finished::not_yet;
    const app::FileLock quiet = lock_all();
    if (complete()) {
        fs::remove(mark, fault);
        return Finished::elsewhere;
    }
    std::int64_t done = 0;
    for (const fs::path& path : parts())
        done += std::ssize(analysis::read_part(path.string(), false).state.done);
    if (done < plan_.blocks)
        return Finished::not_yet;
    analysis::write_survey(out_, plan_, merged(parts()), corpus, cutter);
    for (const fs::path& path : files(""))
        if (path.string().ends_with(".lock"))
            app::remove_unlocked(path);
        else
            fs::remove(path, fault);
    return Finished::here;
}

} // namespace headscope::cli
