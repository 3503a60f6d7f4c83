#include "app/jobs/autosave.h"

#include "app/jobs/recovery.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/project/project_file.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

using std::chrono::steady_clock;
constexpr std::chrono::milliseconds write_gap{500}; ///< from the start of one write to the start of the next
constexpr std::chrono::seconds retry_gap{2};        ///< after a failed write

std::int64_t seconds_since_1970() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::map<std::string, std::string> entry(const std::string& project_path, std::int64_t edited_at) {
    const nlohmann::json about{{"project_path", project_path}, {"edited_at", edited_at}};
    return {{std::string(autosave_key), dump_json(about)}};
}

} // namespace

std::map<std::string, std::string> autosave_metadata(const std::string& project_path) {
    return entry(project_path, seconds_since_1970());
}

Autosave::Autosave(std::filesystem::path folder, std::function<void()> wake)
    : folder_(std::move(folder)), wake_(std::move(wake)), thread_([this] { work(); }) {}

Autosave::~Autosave() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Autosave::want(Wanted wanted) {
    {
        const std::scoped_lock lock(mutex_);
        if (wanted.document == wanted_.document && wanted.project_path == wanted_.project_path)
            return;
        wanted_ = std::move(wanted);
        due_ = true;
    }
    changed_.notify_all();
}

void Autosave::request_save(DocumentPtr document, std::string project_path) {
    want({std::move(document), std::move(project_path), seconds_since_1970()});
}

void Autosave::forget() {
    want({});
}

bool Autosave::saved() const {
    const std::scoped_lock lock(mutex_);
    return !due_ && !writing_;
}

std::string Autosave::take_error() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(error_, {});
}

void Autosave::flush() {
    std::unique_lock lock(mutex_);
    if (!due_ && !writing_)
        return;
    flushing_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !flushing_; });
}

void Autosave::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || due_; });
        if (!due_)
            return;
        changed_.wait_until(lock, not_before_,
                            [this] { return stopping_ || flushing_ || wanted_.document == nullptr; });
        const Wanted wanted = wanted_;
        due_ = false;
        writing_ = true;
        not_before_ = steady_clock::now() + write_gap;
        lock.unlock();
        const std::string fault = carry_out(wanted);
        lock.lock();
        writing_ = false;
        if (fault.empty()) {
            reported_error_.clear();
        } else {
            due_ = true;
            not_before_ = steady_clock::now() + retry_gap;
            if (fault != reported_error_)
                error_ = reported_error_ = fault;
        }
        if (!due_ || !fault.empty())
            flushing_ = false;
        if (stopping_ && !fault.empty())
            return;
        lock.unlock();
        changed_.notify_all();
        if (wake_)
            wake_();
        lock.lock();
    }
}

std::string Autosave::carry_out(const Wanted& wanted) {
    try {
        if (wanted.document != nullptr) {
            write(wanted);
        } else if (kept_) {
            std::filesystem::remove(kept_->path());
        }
        return {};
    } catch (const std::bad_alloc&) {
        return tr("autosave.edits_not_kept_safe",
                  "Your edits are not autosaved: this machine has too little free memory; save the project.");
    } catch (const std::exception& fault) {
        return tr("common.edits_not_kept_safe", "Your edits are not autosaved: {}.", fault.what());
    }
}

void Autosave::write(const Wanted& wanted) {
    const std::string bytes = project::project_bytes(wanted.document->recipe, wanted.document->problem,
                                                     entry(wanted.project_path, wanted.edited_at));
    if (!kept_)
        kept_.emplace(KeptFile::create(folder_, std::string(autosave_prefix), ".headscope"));
    write_file_atomically(kept_->path().string(), bytes);
}

} // namespace headscope::app
