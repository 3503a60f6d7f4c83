#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/model/text_model.h"
#include "core/project/checkpoint_project.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;

namespace {

using Words = std::vector<std::string>;

constexpr const char* prompt = "When Mary and John went to the shop, John gave a book to";
constexpr const char* other_text = "When Mary and John went to the shop, Mary gave a book to";

/// A project of pocket with a text, a question and an edit, and the same edits as a patch.
struct Saved {
    TemporaryFolder folder;
    std::string path = folder.file("p.headscope"), patch = folder.file("p.patch.safetensors");
    checkpoint::TextModelPtr model = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    std::int64_t mary = checkpoint::word_token(*model, "Mary"), john = checkpoint::word_token(*model, "John");

    Saved() {
        const checkpoint::ModelConfig& a = model->model->config();
        checkpoint::ModelEdits edits;
        edits[1].gains.assign(static_cast<std::size_t>(a.H), 1.0F);
        edits[1].gains[2] = 0.25F;
        project::CheckpointProject project{.model = project::model_location(model->model->path(), path),
                                           .text = prompt,
                                           .ids = checkpoint::prompt_inputs(*model, prompt).ids};
        project.questions =
            R"({"prompt":"","target":"","position":null,"effects":{"token":)" + std::to_string(mary) +
            R"(,"against":)" + std::to_string(john) + R"(,"from_mean":false},"patching":{"corrupted":")" +
            other_text +
            R"(","what":"head","paths":false},"circuits":{"token":null,"through_mlp":false,"threshold":null}})";
        project::save_checkpoint_project(*model->model, edits, project, path);
        checkpoint::save_patch(*model->model, edits, patch);
    }
};

std::string output_of(const Words& words, const std::string& file = "") {
    const ProgramRun run = run_program(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return file.empty() ? run.out : read_file(file);
}

/// The words of both, in order.
Words both(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

TEST_CASE("--project of a checkpoint gives what its model, text and edits give, to the last bit",
          "[cli][checkpoint_project]") {
    const Saved saved;
    const Words project{"--project", saved.path},
        spelled{"--model", "pocket", "--text", prompt, "--patch", saved.patch};
    const std::string out = saved.folder.file("out.safetensors"), png = saved.folder.file("out.png"),
                      npy = saved.folder.file("out.npy");
    struct Call {
        Words words;
        std::string file;
    };
    const std::vector<Call> calls{
        {{"trace", "--stages", "weights,scores", "-o", out}, out},
        {{"trace", "--layer", "1", "--gain", "1.0=0", "-o", out}, out},
        {{"heads", "--json"}, ""},
        {{"explain", "--what", "logits"}, ""},
        {{"explain", "--what", "score", "--layer", "1", "--head", "0", "--query", "3", "--key", "1"}, ""},
        {{"generate", "--tokens", "3", "--json"}, ""},
        {{"map", "--head", "0", "--rect", "0:3,0:3", "-o", npy}, npy},
        {{"export", "--tensor", "weights", "--layer", "1", "-o", npy}, npy},
        {{"render", "--window", "--layer", "1", "--head", "2", "--size", "900x600", "-o", png}, png}};
    for (const Call& call : calls) {
        INFO(call.words.front());
        const std::string by_project = output_of(both(call.words, project), call.file);
        CHECK(!by_project.empty());
        CHECK(by_project == output_of(both(call.words, spelled), call.file));
    }
    CHECK(output_of({"patch", "--what", "head", "--project", saved.path}) ==
          output_of({"patch", "--what", "head", "--model", "pocket", "--patch", saved.patch, "--clean",
                     prompt, "--corrupted", other_text, "--answer", "Mary", "--against", "John"}));
    CHECK(output_of({"tokenize", "--project", saved.path}) ==
          output_of({"tokenize", "--model", "pocket", prompt}));
    CHECK(output_of({"heads", "--probe", "--length", "6", "--batch", "1", "--json", "--project",
                     saved.path}) == output_of({"heads", "--probe", "--length", "6", "--batch", "1", "--json",
                                                "--model", "pocket", "--patch", saved.patch}));
}

TEST_CASE("what stands beside --project wins", "[cli][checkpoint_project]") {
    const Saved saved;
    const Words explain{"explain", "--what", "logits"};
    const std::string by_project = output_of(both(explain, {"--project", saved.path}));
    CHECK(output_of(both(explain, {"--project=" + saved.path, "--text", "The cat"})) ==
          output_of(both(explain, {"--model", "pocket", "--patch", saved.patch, "--text", "The cat"})));
    CHECK(output_of(both(explain, {"--project", saved.path, "--model", "pocket"})) == by_project);
    CHECK(output_of(both(explain, {"--patch", saved.patch, "--project", saved.path})) == by_project);
    CHECK(output_of(both(explain, {"--project", saved.path, "--gain", "1.2=1"})) ==
          output_of(both(explain, {"--model", "pocket", "--text", prompt})));
    CHECK(output_of(both(explain, {"--model", "pocket", "--text", prompt, "--patch", saved.path})) ==
          by_project);
}

TEST_CASE("the command line says what is wrong with a project of a checkpoint", "[cli][checkpoint_project]") {
    namespace fs = std::filesystem;
    const Saved saved;
    const auto fails = [](const Words& words, const std::string& part) {
        const ProgramRun run = run_program(words);
        INFO(run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains(part));
        CHECK(std::ranges::count(run.err, '\n') == 1);
        CHECK(run.out.empty());
    };
    const Words explain{"explain", "--what", "logits", "--project"};
    const std::string gpt2 = test_data("/models/gpt2_tiny");
    fails(both(explain, {saved.path, "--model", gpt2}), "is a different one");
    fails({"survey", "--texts", "x.txt", "-o", "x.db", "--project", saved.path},
          "survey measures a checkpoint as it is");
    fails(both(explain, {saved.folder.file("none.headscope")}), "none.headscope");
    fails(both(explain, {saved.patch}), "is not a checkpoint project");
    std::string bytes = read_file(saved.path);
    bytes[bytes.find("Mary")] = 'm';
    write_file_atomically(saved.path, bytes);
    fails(both(explain, {saved.path}), "is damaged");

    const std::string model = saved.folder.file("gpt2"), moved = saved.folder.file("moved.headscope");
    fs::copy(gpt2, model);
    const checkpoint::TextModelPtr opened = checkpoint::open_text_model(model);
    project::save_checkpoint_project(
        *opened->model, {},
        {.model = project::model_location(model, moved), .text = "1 2 3", .ids = {1, 2, 3}}, moved);
    CHECK(output_of(both(explain, {moved})) ==
          output_of({"explain", "--what", "logits", "--model", gpt2, "--ids", "1,2,3"}));
    fs::rename(model, saved.folder.file("elsewhere"));
    fails(both(explain, {moved}), "was saved with the model gpt2, which is no longer at " + model +
                                      "; name its folder or GGUF file with --model");
    CHECK(output_of(both(explain, {moved, "--model", saved.folder.file("elsewhere")})) ==
          output_of({"explain", "--what", "logits", "--model", gpt2, "--ids", "1,2,3"}));
}
