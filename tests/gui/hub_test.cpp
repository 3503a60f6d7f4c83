#include "core/base/file.h"
#include "core/hub/cache.h"
#include "tests/core/hub/fake_hub.h"
#include "tests/environment.h"
#include "tests/gui/support/control_client.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <condition_variable>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <set>

// The dialog that opens a model by its name on the Hub, against a Hub without sockets.

namespace headscope::test {

using namespace headscope::app;
namespace {

namespace fs = std::filesystem;
using HubStep = HubDialog::Step;
using Catch::Contains;

const std::string
    endpoint = "https://hub.example",
    commit(40, 'c'), list_of_tiny = endpoint + "/api/models/someone/tiny/revision/main?blobs=true";

std::string url_of(const std::string& file) {
    return endpoint + "/someone/tiny/resolve/" + commit + "/" + file;
}

/// A Hub with the model someone/tiny. The client of a download talks to it, one at a time.
struct TestHub {
    FakeHub server;
    std::string config = read_file(test_data("/models/gpt2_tiny/config.json")),
                weights = read_file(test_data("/models/gpt2_tiny/model.safetensors"));
    std::mutex mutex;
    std::condition_variable changed;
    bool holds = false, held = false; ///< guarded by mutex: answers with weights wait after some bytes
    std::size_t holds_after = 70'000; ///< bytes of one answer

    explicit TestHub(std::uint64_t stated_size = 0) {
        server.add_file(list_of_tiny, fmt::format(R"({{"sha": "{}", "siblings": [
                {{"rfilename": "config.json", "size": {}, "blobId": "{}"}},
                {{"rfilename": "model.safetensors", "size": {}, "lfs": {{"sha256": "{}"}}}},
                {{"rfilename": "modeling.py", "size": 10, "blobId": "{}"}}]}})",
                                                  commit, config.size(), git_hash(config),
                                                  stated_size > 0 ? stated_size : weights.size(),
                                                  sha256(weights), git_hash("")));
        server.add_file(url_of("config.json"), config);
        server.add_file(url_of("model.safetensors"), weights);
    }
    std::size_t downloads() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            server.requests, [](const auto& one) { return one.url.find("/resolve/") != std::string::npos; }));
    }
    /// The first byte that the last request for the weights asked for.
    std::uint64_t weights_from() const {
        std::uint64_t from = 0;
        for (const hub::HttpRequest& request : server.requests)
            if (request.url.ends_with("model.safetensors"))
                from = request.from;
        return from;
    }
    bool is_held() {
        const std::scoped_lock lock(mutex);
        return held;
    }
};

class TestClient : public hub::HttpClient {
public:
    explicit TestClient(TestHub& hub) : hub_(hub) {}
    hub::HttpAnswer send(const hub::HttpRequest& request, const OnAnswer& on_answer,
                         const Progress& progress) override {
        std::size_t passed = 0;
        return hub_.server.send(
            request,
            [&](const hub::HttpAnswer& answer) -> ByteSink {
                const ByteSink sink = on_answer(answer);
                if (!sink || !request.url.ends_with("model.safetensors"))
                    return sink;
                return [&, sink](std::string_view bytes) {
                    if (passed >= hub_.holds_after)
                        wait(progress);
                    sink(bytes);
                    passed += bytes.size();
                };
            },
            progress);
    }

private:
    void wait(const Progress& progress) {
        std::unique_lock lock(hub_.mutex);
        hub_.held = hub_.holds;
        while (hub_.holds && !progress.cancelled())
            hub_.changed.wait_for(lock, std::chrono::milliseconds(5));
        hub_.held = false;
        progress.check();
    }
    TestHub& hub_;
};

/// The program with a Hub, and a cache and a state of its own.
struct HubUser : User {
    TestHub& hub;
    explicit HubUser(TestHub& of, const TemporaryFolder& folder, float width = 1600, float height = 1000)
        : User(options_for(of, folder), width, height), hub(of) {}

    static Program::Options options_for(TestHub& hub, const TemporaryFolder& folder) {
        Program::Options options;
        options.device = "cpu";
        options.state_folder = folder.file("state");
        options.hub_client = [&hub] { return std::make_unique<TestClient>(hub); };
        return options;
    }
    const FilesState& files() const { return program.state().files; }
    const HubDialog& dialog() const {
        REQUIRE(files().hub);
        return *files().hub;
    }
    void open_dialog() {
        driver.key(GLFW_KEY_F, GLFW_MOD_ALT);
        driver.wait(2);
        REQUIRE(click("Open from the Hub…", "##Popup"));
        driver.wait(3);
        REQUIRE(files().hub);
    }
    void enter(const std::string& name) {
        driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        driver.type(name);
        driver.wait(2);
        driver.key(GLFW_KEY_ENTER);
    }
    /// Waits until the dialog asks for something, or is closed.
    void wait_for_answer() {
        REQUIRE(driver.wait_until([&] { return !files().hub || !files().hub->is_working(); }));
        driver.wait(2);
    }
    void find(const std::string& name) {
        open_dialog();
        enter(name);
        wait_for_answer();
    }
    /// The title of the open checkpoint; empty: another document is open.
    std::string opened() {
        settle();
        const Document& document = *program.state().document;
        return document.is_checkpoint() ? document.title : "";
    }
};

/// The cache and the address of the Hub in the environment.
struct HubEnvironment {
    TemporaryFolder folder;
    Environment home{"HF_HOME", folder.file("hf").c_str()}, cache{"HF_HUB_CACHE", nullptr},
        address{"HF_ENDPOINT", endpoint.c_str()}, token{"HF_TOKEN", nullptr},
        offline{"HF_HUB_OFFLINE", nullptr};
    hub::CachedModel cached{folder.file("hf/hub"), "someone/tiny"};
};

} // namespace

TEST_CASE("a model of the Hub is downloaded after a question, and opened", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    HubUser user(hub, machine.folder);
    user.find("someone/tiny");
    CHECK(user.dialog().step == HubStep::found);
    CHECK(hub.downloads() == 0); // nothing but the list
    CHECK_FALSE(fs::exists(machine.cached.folder()));
    CHECK(user.dialog().plan.bytes == hub.config.size() + hub.weights.size());
    CHECK(screen_shows("model.safetensors"));
    CHECK(screen_shows("138 kB"));
    CHECK(screen_shows("config.json"));
    CHECK_FALSE(screen_shows("modeling.py"));
    CHECK_THAT(screen_text(), Contains("someone/tiny (commit cccccccc): 2 files, 139 kB."));
    CHECK_THAT(screen_text(), Contains("are free in"));

    user.driver.key(GLFW_KEY_ENTER); // Download
    user.wait_for_answer();
    CHECK(user.opened() == "someone/tiny");
    CHECK_FALSE(user.files().hub);
    CHECK(read_file((machine.cached.snapshot(commit) / "config.json").string()) == hub.config);
    CHECK(read_file((machine.cached.snapshot(commit) / "model.safetensors").string()) == hub.weights);
    CHECK(read_file(machine.cached.ref("main").string()) == commit);
    CHECK(user.files().recent.front() == machine.cached.snapshot(commit).string());

    // It is on this machine now, so that it opens without the network.
    const std::size_t requests = hub.server.requests.size();
    user.act(NewProject{});
    REQUIRE(user.opened().empty());
    const Environment offline("HF_HUB_OFFLINE", "1");
    user.find("someone/tiny");
    CHECK(user.opened() == "someone/tiny");
    CHECK(hub.server.requests.size() == requests);
}

TEST_CASE("a client of the control socket downloads a model after it was asked",
          "[gui][files][hub][control]") {
    const HubEnvironment machine;
    TestHub hub;
    HubUser user(hub, machine.folder);
    std::set<std::string> accepted;
    ControlClient client{user, accepted};
    CHECK(client.ask("open hub", "someone/tiny").at("ok") == true);
    user.wait_for_answer();
    const nlohmann::json settled = client.ask("settle"); // waits for the list of files
    CHECK(settled.at("question").at("kind") == "download");
    CHECK(settled.at("question").at("choices") == nlohmann::json({"download", "cancel"}));
    CHECK_THAT(settled.at("question").value("text", ""), Contains("139 kB of 2 files"));
    CHECK(hub.downloads() == 0);
    CHECK_THAT(client.refused("open", "pocket"), Contains("download"));
    CHECK(client.ask("reply", "download").at("ok") == true);
    user.wait_for_answer();
    CHECK(user.opened() == "someone/tiny");
    CHECK(client.report().at("checkpoint").at("name") == "someone/tiny");

    CHECK(client.ask("open hub", "someone/else").at("ok") == true);
    user.wait_for_answer();
    CHECK_FALSE(client.ask("settle").value("error", "").empty());
    client.done("cancel");
    CHECK_FALSE(client.report().contains("question"));
}

TEST_CASE("a download is stopped and continued where it stopped", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    hub.holds = true;
    {
        HubUser user(hub, machine.folder);
        user.find("someone/tiny");
        REQUIRE(user.click("Download", "hub"));
        REQUIRE(user.driver.wait_until([&] { return hub.is_held(); }));
        user.driver.wait(2);
        CHECK(user.dialog().step == HubStep::downloading);
        CHECK_THAT(screen_text(), Contains("Downloading someone/tiny") && Contains("50 %, 70 kB of 139 kB"));
        CHECK(user.program.settled()); // frames are not drawn without a pause
        user.driver.key(GLFW_KEY_ESCAPE);
        user.wait_for_answer();
        CHECK(user.dialog().step == HubStep::found);
        CHECK(user.dialog().plan.missing < user.dialog().plan.bytes);
        CHECK_THAT(screen_text(), Contains("are on this machine already"));

        // Continue, and close the window in the middle.
        REQUIRE(user.driver.wait_until([&] { return !hub.is_held(); }));
        hub.holds_after = 10'000;
        REQUIRE(user.click("Continue", "hub"));
        REQUIRE(user.driver.wait_until(
            [&] { return user.dialog().step == HubStep::downloading && hub.is_held(); }));
    }
    const fs::path part = machine.cached.incomplete(sha256(hub.weights));
    REQUIRE(fs::exists(part));
    const std::uint64_t kept = fs::file_size(part);
    CHECK(kept >= 80'000);
    CHECK(kept < hub.weights.size());
    CHECK_FALSE(fs::exists(machine.cached.snapshot(commit)));

    hub.holds = false;
    hub.server.requests.clear();
    HubUser user(hub, machine.folder);
    user.find("someone/tiny");
    REQUIRE(user.click("Continue", "hub"));
    user.wait_for_answer();
    CHECK(user.opened() == "someone/tiny");
    CHECK(hub.weights_from() == kept);
}

TEST_CASE("what fails on the Hub is said with a remedy, and the name stays", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    HubUser user(hub, machine.folder);
    const auto answers = [&](hub::HttpAnswer answer) {
        hub.server.replies[list_of_tiny] = {{.answer = std::move(answer)}};
        user.find("someone/tiny");
        CHECK(user.dialog().step == HubStep::naming);
        CHECK(user.dialog().name == "someone/tiny");
        const std::string text = screen_text();
        user.act(HubAction{HubAction::Kind::close});
        CHECK_FALSE(user.files().hub);
        return text;
    };
    CHECK_THAT(answers({.status = 404}), Contains("has no model someone/tiny; check the spelling"));
    CHECK_THAT(answers({.status = 401, .error_code = "GatedRepo"}),
               Contains("is restricted: accept its conditions") && Contains("HF_TOKEN"));
    CHECK_THAT(answers({.status = 403}), Contains("does not allow access") && Contains("HF_TOKEN"));
    hub.server.replies[list_of_tiny] = {{.unreachable = true}};
    user.find("someone/tiny");
    CHECK_THAT(screen_text(), Contains("cannot be reached"));
    // A name that cannot be one is not asked for, and typing removes the error.
    const std::size_t requests = hub.server.requests.size();
    user.enter("no name");
    user.wait_for_answer();
    CHECK_THAT(screen_text(), Contains("is not the name of a model on the Hub"));
    CHECK(hub.server.requests.size() == requests);
    user.driver.type("x");
    user.driver.wait(2);
    CHECK(user.dialog().error.empty());
    user.act(HubAction{HubAction::Kind::download}); // nothing was found
    CHECK(user.dialog().step == HubStep::naming);
    const Environment offline("HF_HUB_OFFLINE", "1");
    user.enter("someone/tiny");
    user.wait_for_answer();
    CHECK_THAT(screen_text(), Contains("HF_HUB_OFFLINE forbids connections"));
    CHECK(hub.server.requests.size() == requests);
    CHECK(user.program.state().error.empty());
}

TEST_CASE("a model that does not fit on the disk cannot be downloaded", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub(std::uint64_t{1} << 60U);
    HubUser user(hub, machine.folder);
    user.find("someone/tiny");
    CHECK_THAT(screen_text(), Contains("free some space"));
    CHECK_FALSE(user.click("Download", "hub"));
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(2);
    CHECK(user.dialog().step == HubStep::found);
    CHECK(hub.downloads() == 0);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    CHECK_FALSE(user.files().hub);
}

TEST_CASE("a connection that breaks for good leaves what has arrived", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    FakeHub::Reply broken{.body = hub.weights, .breaks_after = 100'000};
    FakeHub::Reply gone{.answer = {.status = 403}};
    hub.server.replies[url_of("model.safetensors")] = {broken, gone};
    HubUser user(hub, machine.folder);
    user.find("someone/tiny");
    user.driver.key(GLFW_KEY_ENTER);
    user.wait_for_answer();
    CHECK(user.dialog().step == HubStep::found);
    CHECK_THAT(screen_text(), Contains("does not allow access"));
    CHECK(user.dialog().plan.missing == hub.config.size() + hub.weights.size() - 100'000);
}

TEST_CASE("without libcurl, the dialog says which package to install", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    Program::Options options = HubUser::options_for(hub, machine.folder);
    options.hub_client = []() -> std::unique_ptr<hub::HttpClient> {
        throw Error(ErrorKind::machine, "downloads need libcurl");
    };
    User user(options);
    user.act(HubAction{HubAction::Kind::open, "someone/tiny"});
    user.driver.wait(3);
    user.driver.key(GLFW_KEY_ENTER);
    REQUIRE(user.driver.wait_until([&] { return !user.program.state().files.hub->is_working(); }));
    user.driver.wait(2);
    CHECK(screen_shows("downloads need libcurl"));
}

TEST_CASE("opening a model of the Hub asks about unsaved changes first", "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    HubUser user(hub, machine.folder);
    user.act(EditCell{{TensorId::W_O, {5, 1, 0, 0}}, 3.25F});
    user.find("someone/tiny");
    user.driver.key(GLFW_KEY_ENTER);
    user.wait_for_answer();
    CHECK(user.files().question);
    user.act(AnswerUnsaved{UnsavedAnswer::cancel});
    CHECK(user.opened().empty());
    CHECK(user.problem().weights.W_O->at(5, 1) == 3.25F);
}

TEST_CASE("the dialog of the Hub opens from the Start page, the Open dialog and the palette",
          "[gui][files][hub]") {
    const HubEnvironment machine;
    TestHub hub;
    HubUser user(hub, machine.folder, 1280, 720);
    user.act(ShowTab{LeftTab::start});
    user.act(OfferFlowTour{false});
    REQUIRE(user.click("From the Hub…"));
    user.driver.wait(3);
    CHECK(user.files().hub);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    CHECK_FALSE(user.files().hub);
    user.act(ChooseProject{});
    user.driver.wait(2);
    REQUIRE(user.click("hub", "file chooser"));
    user.driver.wait(3);
    CHECK(user.files().hub);
    CHECK_FALSE(user.files().chooser);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    user.act(OpenPalette{});
    user.driver.type("from the hub");
    user.driver.wait(3);
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(3);
    CHECK(user.files().hub);
    CHECK(hub.server.requests.empty());
}

} // namespace headscope::test
