#include "core/hub/download.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"
#include "core/hub/blob_lock.h"
#include "core/hub/cache.h"
#include "core/hub/partial_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

namespace headscope::hub {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_list = 64 * mebibyte;

/// The values that huggingface_hub takes for true.
bool is_true_value(std::string value) {
    std::ranges::transform(value, value.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

[[noreturn]] void fail_cache(const fs::path& path, const std::error_code& fault) {
    fail_input(tr("download.cannot_write",
                  "cannot write {}: {}; choose another folder with HF_HOME or --cache", path.string(),
                  system_reason(fault.value())));
}

void make_folder(const fs::path& folder) {
    std::error_code fault;
    fs::create_directories(folder, fault);
    if (fault)
        fail_cache(folder, fault);
}

std::uint64_t bytes_of_file(const fs::path& path) {
    std::error_code none;
    const std::uintmax_t size = fs::file_size(path, none);
    return none ? 0 : size;
}

bool path_exists(const fs::path& path) {
    std::error_code none;
    return fs::exists(path, none);
}

/// The bytes of a file that are in the cache, whole or in part.
std::uint64_t present_bytes(const CachedModel& cached, const ListedFile& file) {
    return path_exists(cached.blob(file.hash))
               ? file.size
               : std::min(file.size, bytes_of_file(cached.incomplete(file.hash)));
}

/// The free space where a folder is, or will be.
std::uint64_t free_space(fs::path folder) {
    std::error_code fault;
    folder = fs::absolute(folder, fault);
    while (folder.has_relative_path() && !path_exists(folder))
        folder = folder.parent_path();
    const fs::space_info space = fs::space(folder, fault);
    return fault ? 0 : space.available;
}

/// "42.5 MB"
std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t mega = 1'000'000;
    return fmt::format("{} MB", (bytes + mega - 1) / mega);
}

/// Downloads a file and verifies its hash. On failure, bytes that may be right are kept for the next attempt.
void download_file(Requests& requests, const std::string& url, PartialFile& partial, const ListedFile& file,
                   const Progress& progress) {
    for (int attempt = 0;; ++attempt) {
        const bool continued = partial.size() > 0;
        if (partial.size() < file.size)
            requests.get(url, partial, file.size, progress);
        if (partial.has_expected_hash())
            return;
        if (attempt > 0 || !continued) {
            partial.discard();
            fail_input(tr(
                "download.checksum_differs",
                "{} arrived damaged: its checksum is not the one that {} states. The file was removed; try "
                "again",
                file.name, requests.server().endpoint));
        }
        partial.restart(); // the bytes of the earlier download may be the damaged ones
    }
}

/// Gives a blob its name in the folder of the revision, as a link, or as a file where links are not possible.
void add_to_snapshot(const CachedModel& cached, const std::string& commit, const ListedFile& file) {
    const fs::path place = cached.snapshot(commit) / file.name, blob = cached.blob(file.hash);
    fs::path target = "../..";
    for (const char c : file.name)
        if (c == '/')
            target /= "..";
    target /= fs::path("blobs") / file.hash;
    make_folder(place.parent_path());
    std::error_code fault;
    if (fs::is_symlink(fs::symlink_status(place, fault)) && fs::read_symlink(place, fault) == target)
        return;
    // A link under another name first, so that the name is never missing.
    const fs::path temporary = place.string() + ".headscope-link";
    fs::remove(temporary, fault);
    fs::create_symlink(target, temporary, fault);
    if (!fault)
        fs::rename(temporary, place, fault);
    else if (fault == std::errc::operation_not_permitted || fault == std::errc::operation_not_supported)
        fs::rename(blob, place, fault);
    if (fault)
        fail_cache(place, fault);
}

} // namespace

Settings settings_from_environment() {
    Settings settings;
    if (const std::string endpoint = environment_value("HF_ENDPOINT"); !endpoint.empty())
        settings.server.endpoint = endpoint;
    settings.server.token = environment_value("HF_TOKEN");
    settings.cache = cache_folder();
    settings.offline = is_true_value(environment_value("HF_HUB_OFFLINE"));
    return settings;
}

Downloads::Downloads(HttpClient& client, Settings settings, Requests::Wait wait)
    : client_(client), settings_(std::move(settings)), wait_(std::move(wait)) {
    std::string& endpoint = settings_.server.endpoint;
    while (endpoint.ends_with('/'))
        endpoint.pop_back();
    if (origin_of(endpoint).empty())
        fail_input(tr("download.endpoint_invalid",
                      "\"{}\" is not the address of a server; write it like https://huggingface.co",
                      endpoint));
    std::string& token = settings_.server.token;
    const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
    std::erase_if(token, is_blank); // a line break at the end would end the header
    if (settings_.cache.empty())
        fail_input(
            tr("download.no_cache", "there is no folder for models; name one with HF_HOME or --cache"));
}

void Downloads::require_online() const {
    if (settings_.offline)
        throw Error(ErrorKind::machine,
                    tr("download.offline",
                       "HF_HUB_OFFLINE forbids connections, so nothing can be downloaded; unset it "
                       "to download models"));
}

std::string Downloads::url_of(const ModelName& model, const std::string& commit,
                              const std::string& file) const {
    return settings_.server.endpoint + "/" + model.name + "/resolve/" + commit + "/" + encode_url(file, "/");
}

std::vector<ListedFile> Downloads::with_sizes(Requests& requests, std::vector<ListedFile> files,
                                              const std::string& commit, const Progress& progress) const {
    for (ListedFile& file : files) {
        if (!file.hash.empty())
            continue;
        const HttpAnswer answer = requests.head(url_of(requests.model(), commit, file.name), progress);
        const std::optional<std::uint64_t> size = answer.linked_size ? answer.linked_size : answer.length;
        file.hash = answer.linked_etag.empty() ? answer.etag : answer.linked_etag;
        if (!size || !is_hash(file.hash))
            fail_input(
                tr("download.no_checksum",
                   "{} does not state size and checksum of {}, so a download cannot be verified; use another "
                   "HF_ENDPOINT",
                   settings_.server.endpoint, file.name));
        file.size = *size;
    }
    return files;
}

DownloadPlan Downloads::plan(const ModelName& model, const Progress& progress) {
    require_online();
    Requests requests(client_, settings_.server, model, wait_);
    const std::string& endpoint = settings_.server.endpoint;
    TextBody list(largest_list);
    requests.get(endpoint + "/api/models/" + model.name + "/revision/" + encode_url(model.revision) +
                     "?blobs=true",
                 list, std::nullopt, progress);
    const Listing listing = parse_listing(
        list.text(), tr("download.list_of", "the list of files of {} on {}", model.name, endpoint));
    const auto read_index = [&](const ListedFile& index) {
        TextBody text(largest_list);
        requests.get(url_of(model, listing.commit, index.name), text,
                     index.hash.empty() ? std::nullopt : std::optional(index.size), progress);
        return text.text();
    };
    DownloadPlan plan{.model = model, .commit = listing.commit};
    plan.files =
        with_sizes(requests, files_to_get(model.name, listing.files, read_index), listing.commit, progress);
    const CachedModel cached(settings_.cache, model.name);
    for (const ListedFile& file : plan.files) {
        plan.bytes += file.size;
        plan.missing += file.size - present_bytes(cached, file);
    }
    plan.free = free_space(settings_.cache);
    return plan;
}

std::string Downloads::download(const DownloadPlan& plan, const DownloadObserver& observer,
                                Progress& progress) {
    require_online();
    if (!plan.fits())
        fail_input(
            tr("download.too_little_space",
               "{} needs {}, and {} has {} free; free some space, or choose another folder with HF_HOME or "
               "--cache",
               plan.model.name, size_text(plan.missing), settings_.cache, size_text(plan.free)));
    const CachedModel cached(settings_.cache, plan.model.name);
    make_folder(cached.blobs());
    make_folder(cached.locks());
    DownloadState state{.of_bytes = plan.bytes};
    for (const ListedFile& file : plan.files)
        state.bytes += present_bytes(cached, file);
    const auto grown = [&](std::int64_t bytes) {
        state.bytes += static_cast<std::uint64_t>(bytes);
        const double whole = static_cast<double>(std::max<std::uint64_t>(plan.bytes, 1));
        progress.report(static_cast<float>(static_cast<double>(state.bytes) / whole));
        observer(state);
    };
    const Requests::Wait wait = [&](const Pause& pause, const Progress& cancel) {
        state.pause = pause.reason;
        observer(state);
        wait_(pause, cancel);
        state.pause.clear();
        observer(state);
    };
    Requests requests(client_, settings_.server, plan.model, wait);
    for (const ListedFile& file : plan.files) {
        progress.check();
        state.file = file.name;
        const fs::path blob = cached.blob(file.hash);
        const BlobLock lock(cached.lock(file.hash), [&] {
            wait({tr("download.other_program", "another program downloads {}", file.name), 0.2}, progress);
        });
        state.bytes -= present_bytes(cached, file); // counted below
        if (path_exists(blob)) {
            grown(static_cast<std::int64_t>(file.size));
            continue;
        }
        PartialFile partial(cached.incomplete(file.hash), file.size, file.hash, grown);
        download_file(requests, url_of(plan.model, plan.commit, file.name), partial, file, progress);
        partial.move_to(blob);
    }
    for (const ListedFile& file : plan.files)
        add_to_snapshot(cached, plan.commit, file);
    if (plan.model.revision != plan.commit) {
        make_folder(cached.ref(plan.model.revision).parent_path());
        write_file_atomically(cached.ref(plan.model.revision).string(), plan.commit);
    }
    return cached.snapshot(plan.commit).string();
}

} // namespace headscope::hub
