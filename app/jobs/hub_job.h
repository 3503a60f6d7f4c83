#pragma once

#include "app/jobs/file_job.h"
#include "core/hub/download.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace headscope::app {

/// Asks the Hub about a model, or downloads it, on its own thread: one request at a time. Connects to no
/// server unless a member function is called. All members are for the thread that created the object.
class HubJob {
public:
    /// Called on the job's thread. Throws Error(machine) if the machine lacks what downloads need.
    using MakeClient = std::function<std::unique_ptr<hub::HttpClient>()>;
    /// One of the two.
    struct Found {
        std::string folder;     ///< of a model that is complete in the cache; empty: it is not
        hub::DownloadPlan plan; ///< otherwise: what a download brings
    };

    /// `client`: empty for hub::CurlClient. `wake` is called on the job's thread when poll() has a result; it
    /// may be empty.
    HubJob(MakeClient client, std::function<void()> wake);

    /// Finds a model in the cache, without a connection, or else asks the Hub for its files. Needs !busy().
    /// poll() calls `done` or `failed`; neither after cancel().
    void find(const hub::ModelName& model, std::function<void(Found)> done, FileJob::Failed failed);
    /// Downloads what is missing, and calls `done` with the folder of the model. A cancelled download can be
    /// continued. Otherwise like find().
    void download(const hub::DownloadPlan& plan, std::function<void(std::string folder)> done,
                  FileJob::Failed failed);
    void cancel() { job_.cancel(); }
    void poll() { job_.poll(); }
    bool busy() const { return job_.busy(); }
    /// The state of the current or last download.
    hub::DownloadState state() const;

private:
    std::unique_ptr<hub::HttpClient> new_client() const;

    MakeClient client_;
    mutable std::mutex mutex_;
    hub::DownloadState state_; ///< guarded by mutex_
    FileJob job_;              ///< last, so that its thread ends first
};

} // namespace headscope::app
