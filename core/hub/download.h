#pragma once

#include "core/hub/listing.h"
#include "core/hub/requests.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headscope::hub {

/// The settings of downloads.
struct Settings {
    Server server;
    std::string cache;    ///< the folder of the cache; empty: there is none
    bool offline = false; ///< the user forbids connections
};
/// The settings in the environment: HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE and cache_folder().
Settings settings_from_environment();

/// The content of a download, before it starts.
struct DownloadPlan {
    ModelName model;
    std::string commit; ///< the commit of model.revision
    std::vector<ListedFile> files = {};
    std::uint64_t bytes = 0;   ///< of all files
    std::uint64_t missing = 0; ///< bytes that are not in the cache yet
    std::uint64_t free = 0;    ///< bytes that are free on the disk of the cache

    bool fits() const { return missing <= free; }
};

/// The state of a download, for its observer.
struct DownloadState {
    std::uint64_t bytes = 0;    ///< in the cache, of all files
    std::uint64_t of_bytes = 0; ///< DownloadPlan::bytes
    std::string file = {};      ///< the current file
    std::string pause = {};     ///< the reason of a wait, a sentence; empty: none
};
/// Called on the thread of the download, often.
using DownloadObserver = std::function<void(const DownloadState&)>;

/// Downloads models of the Hub into the cache that other programs share. Connects only when a function is
/// called. One thread at a time; the client must outlive it.
class Downloads {
public:
    /// Throws Error(input) if the address of the server or the folder of the cache is not usable.
    Downloads(HttpClient& client, Settings settings, Requests::Wait wait = wait_for);

    /// Asks the Hub for the files of a model and measures what is missing. Downloads nothing but the index of
    /// weights in parts. Throws Error(machine) when offline or without a connection; Error(input) for an
    /// unknown name, a missing right, and a model that cannot be opened; Error(cancelled).
    DownloadPlan plan(const ModelName& model, const Progress& progress);
    /// Downloads what is missing, verifies each file, and makes the folder of the revision. Returns that
    /// folder. A cancelled or broken download keeps what it has, and the next one continues it. A file with
    /// another hash than announced is removed. `progress` gets the fraction. Throws like plan(), and
    /// Error(input) if the disk has too little space or fails.
    std::string download(const DownloadPlan& plan, const DownloadObserver& observer, Progress& progress);

private:
    void require_online() const;
    std::vector<ListedFile> with_sizes(Requests& requests, std::vector<ListedFile> files,
                                       const std::string& commit, const Progress& progress) const;
    std::string url_of(const ModelName& model, const std::string& commit, const std::string& file) const;

    HttpClient& client_;
    Settings settings_;
    Requests::Wait wait_;
};

} // namespace headscope::hub
