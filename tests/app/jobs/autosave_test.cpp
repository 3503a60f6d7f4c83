#include "app/jobs/autosave.h"

#include "app/jobs/recovery.h"
#include "core/base/file.h"
#include "core/project/same_bits.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace headscope;
using namespace headscope::app;
using Catch::Contains;
using headscope::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

/// The k-th of a row of edits of one cell.
DocumentPtr document(int k) {
    project::Recipe recipe;
    recipe.sentence = text::presets().front().sentence;
    const Problem unedited = project::build_recipe(recipe).problem;
    auto W_O = std::make_shared<Tensor>(unedited.weights.W_O->shape(), unedited.weights.W_O->values());
    W_O->at(0, 0) = 0.1F * static_cast<float>(k);
    recipe.edits[TensorId::W_O] = std::move(W_O);
    return make_document(recipe, static_cast<std::uint64_t>(k));
}

template<class Done>
bool wait_for(const Done& done) {
    for (int i = 0; i < 3000 && !done(); ++i)
        std::this_thread::sleep_for(10ms);
    return done();
}

/// Forks a program with a pipe to this one, on which it reports that it is ready; then kills it.
template<class Run>
void run_and_kill(const Run& run, std::chrono::milliseconds after) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        run([&] { static_cast<void>(!::write(ends[1], "x", 1)); });
        ::_exit(0);
    }
    ::close(ends[1]);
    char ready = 0;
    CHECK(::read(ends[0], &ready, 1) == 1);
    std::this_thread::sleep_for(after);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    ::close(ends[0]);
}

} // namespace

TEST_CASE("a document reaches the disk by itself and is forgotten when it is saved", "[autosave]") {
    const TemporaryFolder folder;
    std::atomic<int> writes{0};
    Autosave autosave(folder.file("state"), [&] { ++writes; });
    CHECK(autosave.saved());
    CHECK(folder.entries() == 0); // nothing to keep, nothing written

    autosave.request_save(document(1), "/projects/a.headscope");
    CHECK(wait_for([&] { return autosave.saved(); }));
    CHECK(writes == 1);
    CHECK(find_recoveries(folder.file("state")).empty()); // the program lives

    autosave.forget();
    autosave.flush();
    CHECK(autosave.saved());
    CHECK(std::distance(std::filesystem::directory_iterator(folder.file("state")), {}) == 1); // the lock
    CHECK(autosave.take_error().empty());
}

TEST_CASE("documents in quick succession are written together, the newest in the end", "[autosave]") {
    const TemporaryFolder folder;
    std::atomic<int> writes{0};
    constexpr int edits = 200;
    {
        Autosave autosave(folder.file(""), [&] { ++writes; });
        for (int k = 0; k < edits; ++k)
            autosave.request_save(document(k), "");
        CHECK(wait_for([&] { return autosave.saved(); }));
        autosave.request_save(document(edits), "/p");
    }
    CHECK(writes < edits / 2);
    const std::vector<Recovery> found = find_recoveries(folder.file(""));
    REQUIRE(found.size() == 1);
    CHECK(found[0].project_path == "/p");
    CHECK(found[0].title == document(edits)->recipe.sentence);
    CHECK(found[0].edited_at > 0);
    const project::OpenedProject taken = load_recovery(found[0]);
    CHECK(taken.notes.empty());
    CHECK(project::same_bits(taken.recipe, document(edits)->recipe));
    discard_recovery(found[0]);
    CHECK(folder.entries() == 0);
}

TEST_CASE("a clean end leaves nothing", "[autosave]") {
    const TemporaryFolder folder;
    {
        Autosave autosave(folder.file(""), {});
        autosave.request_save(document(1), "");
        autosave.flush();
        autosave.request_save(document(2), "");
        autosave.forget();
    }
    CHECK(folder.entries() == 0);
}

TEST_CASE("an edit after a save is kept again", "[autosave]") {
    const TemporaryFolder folder;
    const DocumentPtr saved = document(1);
    {
        Autosave autosave(folder.file(""), {});
        autosave.request_save(saved, "/p");
        autosave.forget();
        autosave.request_save(saved, "/p");
    }
    CHECK(find_recoveries(folder.file("")).size() == 1);
}

TEST_CASE("a folder that cannot be written gives one sentence, once", "[autosave]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("file"), "");
    for (const std::string& place : {folder.file("file/state"), std::string("/proc/headscope")}) {
        Autosave autosave(place, {});
        autosave.request_save(document(1), "");
        autosave.flush();
        CHECK_FALSE(autosave.saved());
        const std::string sentence = autosave.take_error();
        CHECK_THAT(sentence, Contains("not autosaved") && Contains(place));
        autosave.request_save(document(2), "");
        autosave.flush();
        CHECK(autosave.take_error().empty()); // the same error is not reported twice
    }
}

TEST_CASE("a program killed in mid-edit leaves the last document", "[autosave]") {
    const TemporaryFolder folder;
    SECTION("at rest") {
        run_and_kill(
            [&](const auto& ready) {
                Autosave autosave(folder.file(""), {});
                for (int k = 0; k <= 3; ++k)
                    autosave.request_save(document(k), "/p");
                wait_for([&] { return autosave.saved(); });
                ready();
                ::pause();
            },
            0ms);
        const std::vector<Recovery> found = find_recoveries(folder.file(""));
        REQUIRE(found.size() == 1);
        const project::OpenedProject taken = load_recovery(found[0]);
        CHECK(taken.notes.empty());
        CHECK(project::same_bits(taken.recipe, document(3)->recipe));
    }
    SECTION("while it writes all the time") {
        for (const auto after : {0ms, 1ms, 3ms, 7ms, 15ms}) {
            run_and_kill(
                [&](const auto& ready) {
                    Autosave autosave(folder.file(""), {});
                    for (int k = 0;; ++k) {
                        autosave.request_save(document(k), "/p");
                        autosave.flush();
                        if (k == 5)
                            ready();
                    }
                },
                after);
            const std::vector<Recovery> found = find_recoveries(folder.file(""));
            REQUIRE(found.size() == 1);
            const project::OpenedProject taken = load_recovery(found[0]);
            CHECK(taken.notes.empty());
            const float cell = taken.recipe.edits.at(TensorId::W_O)->at(0, 0);
            const int k = static_cast<int>(std::lround(cell / 0.1F));
            CHECK(k >= 5);
            CHECK(project::same_bits(taken.recipe, document(k)->recipe));
            discard_recovery(found[0]);
        }
    }
    for (const Recovery& left : find_recoveries(folder.file("")))
        discard_recovery(left);
    CHECK(folder.entries() == 0); // no lock, no half-written file
}

TEST_CASE("programs that run at once keep to their own files", "[autosave]") {
    const TemporaryFolder folder;
    Autosave first(folder.file(""), {});
    first.request_save(document(1), "/a");
    first.flush();
    run_and_kill(
        [&](const auto& ready) {
            Autosave second(folder.file(""), {});
            second.request_save(document(2), "/b");
            second.flush();
            ready();
            ::pause();
        },
        0ms);
    {
        Autosave third(folder.file(""), {});
        third.request_save(document(3), "/c");
        third.flush();
        const std::vector<Recovery> found = find_recoveries(folder.file(""));
        REQUIRE(found.size() == 1);
        CHECK(found[0].project_path == "/b");
        discard_recovery(found[0]);
        third.forget();
    }
    CHECK(find_recoveries(folder.file("")).empty());
    first.forget();
    first.flush();
}

TEST_CASE("what cannot be recovered is put aside, what is another's is left alone", "[autosave]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("autosave-1-1.headscope"), "");
    write_file_atomically(folder.file("autosave-1-2.lock"), "");
    write_file_atomically(folder.file(".autosave-1-3.headscope.1.0.tmp"), "half");
    write_file_atomically(folder.file("recent.json"), "[]");
    write_file_atomically(folder.file("mine.headscope"), "");
    CHECK(find_recoveries(folder.file("")).empty());
    CHECK(std::filesystem::exists(folder.file("autosave-1-1.headscope.damaged")));
    CHECK(std::filesystem::exists(folder.file("recent.json")));
    CHECK(std::filesystem::exists(folder.file("mine.headscope")));
    CHECK(folder.entries() == 3);
    CHECK(find_recoveries(folder.file("nowhere")).empty());
    CHECK(find_recoveries("").empty());
}

TEST_CASE("a cut autosave gives what is left of it", "[autosave]") {
    const TemporaryFolder folder;
    {
        Autosave autosave(folder.file(""), {});
        autosave.request_save(document(4), "/p");
    }
    const Recovery whole = find_recoveries(folder.file("")).at(0);
    const std::string bytes = read_file(whole.file.string());
    std::filesystem::resize_file(whole.file, bytes.size() - 1);
    const std::vector<Recovery> cut = find_recoveries(folder.file(""));
    REQUIRE(cut.size() == 1);
    CHECK(cut[0].project_path == "/p");
    CHECK(cut[0].title == whole.title);
    CHECK(cut[0].edited_at == whole.edited_at);
    const project::OpenedProject left = load_recovery(cut[0]);
    REQUIRE(left.notes.size() == 2);
    CHECK_THAT(left.notes[0], Catch::Contains("is damaged"));
    CHECK_THAT(left.notes[1], Catch::Contains("could not be recovered"));
    CHECK(left.recipe.sentence == document(4)->recipe.sentence);
}
