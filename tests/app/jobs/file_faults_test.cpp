// Files when the system fails: a full disk, a folder that cannot be written, a file or a checkpoint that goes
// away, at each call by which something is saved or read.
#include "app/jobs/autosave.h"
#include "core/base/file.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/project/project_file.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"
#include "tests/core/base/system_faults.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cerrno>
#include <filesystem>
#include <functional>

using namespace headscope;
using namespace headscope::app;
using Catch::Contains;
using headscope::test::SystemFault;
using headscope::test::TemporaryFolder;

namespace fs = std::filesystem;

namespace {

DocumentPtr heated(float temperature) {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    recipe.temperature = temperature;
    return make_document(recipe, 1);
}

void save(const DocumentPtr& document, const std::string& path) {
    project::save_project(document->recipe, document->problem, path);
}

float saved_temperature(const std::string& path) {
    return project::open_project(path).recipe.temperature;
}

/// Does `act`, each call to the system failing once in each way, and then check(the sentence of the fault).
/// Returns how many calls there are.
template<class Before, class Act, class Check>
int with_faults(const Before& before, const Act& act, const Check& check) {
    for (const int error : {ENOSPC, EIO, EROFS, EACCES, ENOENT})
        for (int at = 0;; ++at) {
            before();
            std::string sentence;
            bool struck = false;
            {
                const SystemFault fault(at, error);
                sentence = input_error(act);
                struck = fault.struck();
            }
            CAPTURE(error, at, sentence);
            if (!struck)
                REQUIRE(sentence.empty());
            check(sentence);
            if (!struck && error == ENOENT)
                return at;
            if (!struck)
                break;
        }
    return 0;
}

/// Reads with the files going away, cut or failing at each call. What is read is what is in the files, or a
/// sentence says why not and names one of them. Returns how many calls there are.
int read_with_faults(const TemporaryFolder& folder, const std::string& source,
                     const std::function<std::string()>& read) {
    const fs::path files = folder.file("files");
    const auto restore = [&] {
        fs::remove_all(files);
        fs::copy(source, files, fs::copy_options::recursive);
    };
    restore();
    const std::string whole = read();
    std::string got;
    const auto check = [&](const std::string& sentence) {
        if (sentence.empty())
            CHECK(got == whole);
        else
            CHECK_THAT(sentence, Contains(files.string()));
    };
    const auto act = [&] { got = read(); };
    const int calls = with_faults([] {}, act, check);
    const auto cut = [&] {
        for (const fs::directory_entry& entry : fs::directory_iterator(files))
            fs::resize_file(entry.path(), entry.file_size() / 2);
    };
    for (const std::function<void()>& event :
         {std::function<void()>([&] { fs::remove_all(files); }), std::function<void()>(cut)})
        for (int at = 0; at < calls; ++at) {
            CAPTURE(at);
            restore();
            const SystemFault fault(at, event);
            check(input_error(act));
        }
    return calls;
}

std::string bytes_of(const Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.data()),
            static_cast<std::size_t>(tensor.count()) * sizeof(float)};
}

} // namespace

TEST_CASE("a project is the old or the new one, whichever step of saving it fails") {
    const TemporaryFolder folder;
    const std::string path = folder.file("p.headscope");
    const DocumentPtr old = heated(2), edited = heated(3);
    const int calls = with_faults([&] { save(old, path); }, [&] { save(edited, path); },
                                  [&](const std::string& sentence) {
                                      CHECK(saved_temperature(path) == (sentence.empty() ? 3 : 2));
                                      if (!sentence.empty())
                                          CHECK_THAT(sentence, Contains("cannot write " + path));
                                      CHECK(folder.entries() == 1);
                                  });
    CHECK(calls >= 6); // open, mode, write, sync, close, rename
    with_faults([&] { fs::remove(path); }, [&] { save(edited, path); },
                [&](const std::string& sentence) { CHECK(folder.entries() == (sentence.empty() ? 1 : 0)); });
}

TEST_CASE("a folder is the old or the new one, whichever step of writing it fails") {
    const TemporaryFolder folder;
    const std::string path = folder.file("stages");
    const auto write = [&](const std::string& content) {
        write_folder_atomically(
            path, [](const std::string&) { return true; },
            [&](const std::string& into) {
                write_file_atomically(into + "/q", content);
                write_file_atomically(into + "/k", content);
            });
    };
    with_faults([&] { write("old"); }, [&] { write("new"); },
                [&](const std::string& sentence) {
                    const std::string now = sentence.empty() ? "new" : "old";
                    CHECK(read_file(path + "/q") == now);
                    CHECK(read_file(path + "/k") == now);
                    CHECK(folder.entries() == 1);
                });
}

TEST_CASE("an autosave is the last or the one before, a fault is told, and the next try succeeds") {
    const DocumentPtr old = heated(2), edited = heated(3);
    for (const int error : {ENOSPC, EROFS, ENOENT})
        for (int at = 0, struck = 1; struck != 0; ++at) {
            const TemporaryFolder folder;
            Autosave autosave(folder.file("state"), {});
            const auto saved = [&] {
                for (const fs::directory_entry& entry : fs::directory_iterator(folder.file("state")))
                    if (entry.path().extension() == ".headscope")
                        return saved_temperature(entry.path().string());
                return 0.0F;
            };
            CAPTURE(error, at);
            {
                const SystemFault fault(at, error);
                autosave.request_save(old, "");
                autosave.flush();
                autosave.request_save(edited, "");
                autosave.flush();
                struck = fault.struck() ? 1 : 0;
            }
            // The error of the first document is reported once; the error of the second one is reported on
            // the first try.
            if (autosave.saved()) {
                CHECK(saved() == 3);
            } else {
                CHECK(saved() == 2);
                CHECK_THAT(autosave.take_error(), Contains("Your edits are not autosaved: "));
            }
            autosave.flush();
            CHECK(autosave.saved());
            CHECK(saved() == 3);
        }
}

TEST_CASE("edits of a checkpoint are the old or the new ones, whichever step of saving them fails") {
    const TemporaryFolder folder;
    const std::string path = folder.file("edits.safetensors");
    const checkpoint::Model model = checkpoint::Model::open(test_data("/models/gpt2_tiny"));
    checkpoint::ModelEdits old, edited;
    old[0].gains = {0, 1, 1, 1};
    edited[0].gains = {1, 0, 1, 1};
    with_faults([&] { checkpoint::save_patch(model, old, path); },
                [&] { checkpoint::save_patch(model, edited, path); },
                [&](const std::string& sentence) {
                    const auto now = checkpoint::load_patch(model, path);
                    CHECK(now.at(0).gains == (sentence.empty() ? edited : old)[0].gains);
                    CHECK(folder.entries() == 1);
                });
}

TEST_CASE("what is read is whole or refused, whichever step fails and whenever the files go away") {
    const TemporaryFolder folder;
    fs::create_directory(folder.file("source"));
    save(heated(2), folder.file("source/p.headscope"));
    CHECK(read_with_faults(folder, folder.file("source"), [&] {
              return std::to_string(saved_temperature(folder.file("files/p.headscope")));
          }) >= 4);
    CHECK(read_with_faults(folder, test_data("/tokenizers/gpt2_like"), [&] {
              const auto ids = text::load_tokenizer(folder.file("files"))->encode("The cat sat down.").ids;
              return std::string(ids.begin(), ids.end());
          }) >= 4);
    CHECK(read_with_faults(folder, test_data("/models/gpt2_tiny"), [&] {
              checkpoint::ModelInputs inputs;
              inputs.ids = {1, 2, 3};
              inputs.T = 3;
              const auto model = checkpoint::Model::open(folder.file("files"));
              return bytes_of(*test::run_on_cpu(model, inputs, {.logits = true}).logits);
          }) > 10);
}
