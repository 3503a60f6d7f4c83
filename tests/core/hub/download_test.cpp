#include "core/hub/download.h"

#include "core/base/file.h"
#include "core/hub/cache.h"
#include "tests/catch.h"
#include "tests/core/base/system_faults.h"
#include "tests/core/hub/fake_hub.h"
#include "tests/environment.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>

using namespace headscope;
using namespace headscope::hub;
using namespace headscope::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string fake_endpoint = "https://hub.example", fake_commit(40, 'c');

/// A Hub with the model a/b, and a cache in a temporary folder.
struct Hub {
    FakeHub client;
    TemporaryFolder folder;
    Progress progress;
    std::vector<DownloadState> states;
    std::string config = "{\"model_type\": \"gpt2\"}", weights = std::string(50'000, 'w');
    CachedModel cached{folder.file("hub"), "a/b"};

    explicit Hub(const std::string& revision = "main", bool with_hashes = true) {
        const auto entry = [&](const std::string& name, const std::string& hash, std::size_t size) {
            return with_hashes ? fmt::format(R"({{"rfilename": "{}", "size": {}, {}}})", name, size, hash)
                               : fmt::format(R"({{"rfilename": "{}"}})", name);
        };
        client.add_file(
            fake_endpoint + "/api/models/a/b/revision/" + encode_url(revision) + "?blobs=true",
            fmt::format(
                R"({{"sha": "{}", "siblings": [{}, {}, {{"rfilename": "modeling.py"}}]}})", fake_commit,
                entry("config.json", fmt::format(R"("blobId": "{}")", git_hash(config)), config.size()),
                entry("model.safetensors", fmt::format(R"("lfs": {{"sha256": "{}"}})", sha256(weights)),
                      weights.size())));
        if (with_hashes)
            client.add_file(url("config.json"), config);
    }
    static std::string url(const std::string& name) {
        return fake_endpoint + "/a/b/resolve/" + fake_commit + "/" + name;
    }
    void add_weights(FakeHub::Reply reply) {
        if (reply.body.empty())
            reply.body = weights;
        client.add(url("model.safetensors"), std::move(reply));
    }
    Downloads downloads(bool offline = false) {
        return {client,
                {{fake_endpoint + "/", "secret\n"}, folder.file("hub"), offline},
                [](const Pause&, const Progress&) {}};
    }
    std::string get(const ModelName& model = {"a/b", "main"}) {
        Downloads all = downloads();
        const DownloadPlan plan = all.plan(model, progress);
        return all.download(
            plan, [&](const DownloadState& state) { states.push_back(state); }, progress);
    }
    /// The files in the folder of blobs, by name.
    std::vector<std::string> blobs() const {
        std::vector<std::string> names;
        if (fs::exists(cached.blobs()))
            for (const fs::directory_entry& entry : fs::directory_iterator(cached.blobs()))
                names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }
    std::size_t file_requests() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(client.requests, [](const HttpRequest& request) {
                return request.url.find("/resolve/") != std::string::npos;
            }));
    }
};

} // namespace

TEST_CASE("a model is downloaded into the layout of huggingface_hub") {
    Hub hub;
    hub.add_weights({});
    const std::string snapshot = hub.get();
    CHECK(snapshot == hub.folder.file("hub/models--a--b/snapshots/" + fake_commit));
    CHECK(fs::read_symlink(snapshot + "/config.json") == "../../blobs/" + git_hash(hub.config));
    CHECK(fs::read_symlink(snapshot + "/model.safetensors") == "../../blobs/" + sha256(hub.weights));
    CHECK(read_file(snapshot + "/config.json") == hub.config);
    CHECK(read_file(snapshot + "/model.safetensors") == hub.weights);
    CHECK_FALSE(fs::exists(snapshot + "/modeling.py"));
    CHECK(read_file(hub.cached.ref("main").string()) == fake_commit);
    CHECK(hub.blobs().size() == 2);
    CHECK(hub.states.back().bytes == hub.states.back().of_bytes);
    CHECK(hub.progress.fraction() == Approx(1));
    CHECK(hub.client.requests.front().token == "secret");
}

TEST_CASE("what is in the cache is not downloaded again") {
    Hub hub;
    hub.add_weights({});
    hub.get();
    const std::size_t before = hub.file_requests();
    Downloads all = hub.downloads();
    const DownloadPlan plan = all.plan({"a/b", "main"}, hub.progress);
    CHECK(plan.missing == 0);
    CHECK(plan.bytes == hub.config.size() + hub.weights.size());
    CHECK(plan.free > 0);
    hub.get();
    CHECK(hub.file_requests() == before);
}

TEST_CASE("a revision is kept under its name, and a commit under none") {
    Hub hub("refs/pr/1");
    hub.add_weights({});
    hub.get({"a/b", "refs/pr/1"});
    CHECK(read_file(hub.cached.ref("refs/pr/1").string()) == fake_commit);
    CHECK_FALSE(fs::exists(hub.cached.ref("main")));
    Hub other(fake_commit);
    other.add_weights({});
    other.get({"a/b", fake_commit});
    CHECK_FALSE(fs::exists(other.cached.folder() / "refs"));
}

TEST_CASE("a cancelled download keeps its part, and the next one continues it") {
    Hub hub;
    hub.add_weights({.breaks_after = 20'000});
    hub.add_weights({});
    Downloads all = hub.downloads();
    const DownloadPlan plan = all.plan({"a/b", "main"}, hub.progress);
    Progress cancelled;
    CHECK(error_kind([&] {
              all.download(
                  plan,
                  [&](const DownloadState& state) {
                      if (state.bytes > 10'000)
                          cancelled.cancel();
                  },
                  cancelled);
          }) == ErrorKind::cancelled);
    const fs::path part = hub.cached.incomplete(sha256(hub.weights));
    REQUIRE(fs::exists(part));
    const std::uint64_t kept = fs::file_size(part);
    CHECK(kept > 0);
    CHECK_FALSE(fs::exists(hub.cached.snapshot(fake_commit)));
    CHECK(hub.downloads().plan({"a/b", "main"}, hub.progress).missing == hub.weights.size() - kept);
    const std::string snapshot = hub.get();
    CHECK(read_file(snapshot + "/model.safetensors") == hub.weights);
    CHECK(hub.client.requests.back().from == kept);
}

TEST_CASE("a file with another checksum is removed, and no revision is made") {
    Hub hub;
    std::string damaged = hub.weights;
    damaged[40'000] = 'x';
    hub.add_weights({.body = damaged});
    CHECK_THAT(input_error([&] { hub.get(); }), Contains("model.safetensors arrived damaged"));
    CHECK(hub.blobs() == std::vector<std::string>{git_hash(hub.config)});
    CHECK_FALSE(fs::exists(hub.cached.snapshot(fake_commit)));
    CHECK_FALSE(fs::exists(hub.cached.ref("main")));
}

TEST_CASE("a part whose beginning is damaged is downloaded again") {
    Hub hub;
    hub.add_weights({});
    fs::create_directories(hub.cached.blobs());
    write_file_atomically(hub.cached.incomplete(sha256(hub.weights)).string(), std::string(30'000, 'x'));
    CHECK(read_file(hub.get() + "/model.safetensors") == hub.weights);
    CHECK(hub.client.requests.back().from == 0);
}

TEST_CASE("more bytes than announced are not written") {
    Hub hub;
    hub.add_weights({.body = hub.weights + "more"});
    CHECK_THAT(input_error([&] { hub.get(); }), Contains("more than the 50000 bytes"));
    CHECK(hub.blobs().size() == 1);
}

TEST_CASE("a missing right in the middle keeps what was downloaded") {
    Hub hub;
    hub.add_weights({.breaks_after = 20'000});
    hub.add_weights({.answer = {.status = 403}});
    CHECK_THAT(input_error([&] { hub.get(); }), Contains("does not allow access"));
    CHECK(fs::file_size(hub.cached.incomplete(sha256(hub.weights))) == 20'000);
}

TEST_CASE("without checksums in the list, each file's headers have them") {
    Hub hub("main", false);
    const auto size = [](const std::string& content) { return std::optional<std::uint64_t>(content.size()); };
    hub.client.add(Hub::url("config.json"),
                   {.answer = {.status = 200, .length = size(hub.config), .etag = git_hash(hub.config)},
                    .body = hub.config});
    hub.add_weights(
        {.answer = {.status = 200, .linked_size = size(hub.weights), .linked_etag = sha256(hub.weights)}});
    CHECK(read_file(hub.get() + "/model.safetensors") == hub.weights);
    Hub silent("main", false);
    silent.client.add(Hub::url("config.json"), {.answer = {.status = 200, .etag = "W"}, .body = "{}"});
    CHECK_THAT(input_error([&] { silent.get(); }), Contains("checksum of config.json"));
}

TEST_CASE("a full disk is found before the download, or ends it without leaving its file") {
    Hub hub;
    hub.add_weights({});
    Downloads all = hub.downloads();
    DownloadPlan plan = all.plan({"a/b", "main"}, hub.progress);
    plan.free = plan.missing - 1;
    CHECK_THAT(input_error([&] {
                   all.download(
                       plan, [](const DownloadState&) {}, hub.progress);
               }),
               Contains("a/b needs") && Contains("free"));
    plan.free = plan.missing;
    bool struck = true;
    int failed = 0;
    for (int call = 0; struck && call < 500; ++call) {
        fs::remove_all(hub.cached.folder());
        const SystemFault fault(call, ENOSPC);
        const std::string sentence = input_error([&] {
            all.download(
                plan, [](const DownloadState&) {}, hub.progress);
        });
        struck = fault.struck();
        if (sentence.empty())
            continue;
        ++failed;
        CHECK_THAT(sentence, Contains("cannot") && Contains("No space left on device"));
        CHECK_FALSE(fs::exists(hub.cached.ref("main")));
    }
    CHECK(failed > 5);
}

TEST_CASE("no connection is made when the environment forbids it") {
    Hub hub;
    CHECK(error_kind([&] { hub.downloads(true).plan({"a/b", "main"}, hub.progress); }) == ErrorKind::machine);
    CHECK(hub.client.requests.empty());
}

TEST_CASE("the settings of downloads come from the environment") {
    const Environment endpoint_of("HF_ENDPOINT", "http://localhost:1"), token("HF_TOKEN", "t"),
        cache("HF_HUB_CACHE", "/cache"), offline("HF_HUB_OFFLINE", "yes");
    const Settings settings = settings_from_environment();
    CHECK(settings.server.endpoint == "http://localhost:1");
    CHECK(settings.server.token == "t");
    CHECK(settings.cache == "/cache");
    CHECK(settings.offline);
    const Environment zero("HF_HUB_OFFLINE", "0"), none("HF_ENDPOINT", nullptr);
    CHECK_FALSE(settings_from_environment().offline);
    CHECK(settings_from_environment().server.endpoint == "https://huggingface.co");
    FakeHub client;
    CHECK_THAT(input_error([&] { Downloads(client, {{"ftp://x", ""}, "/cache"}); }), Contains("ftp://x"));
    CHECK_THAT(input_error([&] { Downloads(client, {{"https://x", ""}, ""}); }), Contains("HF_HOME"));
}
