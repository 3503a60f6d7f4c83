#include "app/state/files/opened_path.h"

#include "app/state/document.h"
#include "core/base/file.h"
#include "core/project/project_file.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

using namespace headscope;
using namespace headscope::app;
using headscope::test::TemporaryFolder;

TEST_CASE("a path is told by what it holds, a damaged file by its ending", "[project]") {
    const TemporaryFolder folder;
    const auto file = [&](const std::string& name, std::string_view bytes) {
        write_file_atomically(folder.file(name), bytes);
        return kind_of_path(folder.file(name));
    };
    project::Recipe recipe;
    recipe.sentence = text::presets().front().sentence;
    const std::string project = project::project_bytes(recipe, make_document(recipe, 1)->problem);
    CHECK(file("a.headscope", project) == PathKind::project);
    CHECK(file("a.safetensors", project) == PathKind::project);
    CHECK(file("a.txt", project) == PathKind::project);
    CHECK(file("cut.headscope", project.substr(0, 100)) == PathKind::project);
    CHECK(file("none.headscope", "") == PathKind::project);
    CHECK(file("weights.npy", "\x93NUMPY\x01") == PathKind::tensors);
    CHECK(file("numpy", "\x93NUMPY\x01") == PathKind::tensors);
    CHECK(file("cut.npy", "") == PathKind::tensors);
    CHECK(file("cut.safetensors", "") == PathKind::tensors);
    CHECK(file("a.txt", "# no lesson") == PathKind::unknown);
    CHECK(file("prompts.jsonl",
               "{\"prompt\": \"The title has the word\", \"answer\": \"attention\"}\n"
               "{\"prompt\": \"all you need is\", \"answer\": \"attention\"}\n") == PathKind::unknown);
    CHECK(file("vocabulary.json", R"({"model": {"vocab": {"attention": 7, "[": 8}}})") == PathKind::unknown);
    CHECK(file("heads.txt", "{\"tokens\": [\"a\"], \"attention\" :\n[[[1]]]}") == PathKind::tensors);
    CHECK(file("a.md", "# lesson") == PathKind::lesson);
    CHECK(kind_of_path(test_data("/mha/s1_none_bias.safetensors")) == PathKind::problem);
    CHECK(kind_of_path(folder.file("")) == PathKind::folder);
    CHECK(file("config.json", "{}") == PathKind::unknown);
    CHECK(kind_of_path(folder.file("")) == PathKind::checkpoint);
    CHECK(kind_of_path(test_data("/models/gpt2_tiny")) == PathKind::checkpoint);
    CHECK(kind_of_path(test_data("/corpus/gguf/good_scored.gguf")) == PathKind::checkpoint);
    CHECK(file("model", "GGUF\x03") == PathKind::checkpoint);
    CHECK(file("cut.gguf", "") == PathKind::checkpoint);
    CHECK(kind_of_path(test_data("/corpus/torch/good_state.pt")) == PathKind::checkpoint);
    CHECK(file("without_ending", read_file(test_data("/corpus/torch/good_older.pt"))) ==
          PathKind::checkpoint);
    CHECK(file("cut.bin", "") == PathKind::checkpoint);
    CHECK(file("pytorch_model.bin.index.json", "{}") == PathKind::checkpoint);
    CHECK(kind_of_path(test_data("/corpus/torch/bad_other_zip.pt")) == PathKind::checkpoint);
    CHECK(file("a.docx", read_file(test_data("/corpus/torch/bad_other_zip.pt"))) == PathKind::unknown);
    CHECK(kind_of_path(folder.file("nowhere")) == PathKind::unknown);
    CHECK(kind_of_path("") == PathKind::unknown);
}
