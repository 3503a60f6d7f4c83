#include "core/base/file.h"
#include "core/checkpoint/generation/first_target.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int64_t>;

/// t5_tiny with a letter for each token: A is 2, B is 3, and so on.
TextModel lettered_t5(const TemporaryFolder& folder) {
    for (const char* name : {"config.json", "model.safetensors"})
        write_file_atomically(folder.file(name), read_file(test_data("/models/t5_tiny/") + name));
    json vocabulary{{"<pad>", 0}, {"</s>", 1}};
    for (int id = 2; id < 28; ++id)
        vocabulary[std::string(1, static_cast<char>('A' + id - 2))] = id;
    write_file_atomically(folder.file("tokenizer.json"),
                          json{{"version", "1.0"},
                               {"added_tokens", json::array()},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", nullptr},
                               {"post_processor", nullptr},
                               {"decoder", {{"type", "Fuse"}}},
                               {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}}
                              .dump());
    return *open_text_model(folder.file(""));
}

/// Searches the last logits of whole runs for the same tokens.
Ids by_whole_runs(const TextModel& model, ModelInputs inputs, const ModelEdits& edits, std::int64_t tokens) {
    Progress progress;
    for (; tokens > 0; --tokens) {
        const ModelRunPtr run = ModelRun::compute(model.model, inputs, edits, nullptr, {}, progress);
        const TensorPtr logits = run->logits_at(inputs.T - 1, progress);
        inputs.ids.push_back(std::ranges::max_element(logits->values()) - logits->values().begin());
        inputs = token_inputs(model, inputs.ids, inputs.source);
    }
    return inputs.ids;
}

} // namespace

TEST_CASE("a first target is the likeliest tokens, up to the one that ends a text") {
    const TemporaryFolder folder;
    TextModel model = lettered_t5(folder);
    model.end_ids = {}; // no token ends the text
    const ModelInputs start = prompt_inputs(model, "CAT");
    REQUIRE(start.ids == Ids{0});
    Progress progress;
    const ModelInputs written = with_first_target(model, start, {}, progress);
    const Ids expected = by_whole_runs(model, start, {}, most_first_tokens);
    CHECK(written.ids == expected);
    CHECK(written.source == start.source);
    CHECK(std::ssize(written.tokens) == 1 + most_first_tokens);

    // Edits decide what is written, of the encoder too.
    ModelEdits edits;
    edits[0].gains = {0, 0, 0, 0};
    edits[3].gains = {4, -4, 4, -4};
    CHECK(with_first_target(model, start, edits, progress).ids ==
          by_whole_runs(model, start, edits, most_first_tokens));

    // The end is looked for and left out.
    for (std::size_t at : {std::size_t{1}, std::size_t{4}}) {
        model.end_ids = {expected[at]};
        const auto first = std::ranges::find(expected.begin() + 1, expected.end(), expected[at]);
        CHECK(with_first_target(model, start, {}, progress).ids == Ids(expected.begin(), first));
    }
    // Continues with the existing text.
    model.end_ids = {};
    CHECK(with_first_target(model, prompt_inputs(model, "CAT", "DO"), {}, progress).ids ==
          by_whole_runs(model, prompt_inputs(model, "CAT", "DO"), {}, most_first_tokens));
}

TEST_CASE("without a tokenizer no first target is written") {
    const TextModelPtr model = open_text_model(test_data("/models/bart_tiny"));
    const ModelInputs start = prompt_inputs(*model, "3 1 4");
    Progress progress;
    CHECK(with_first_target(*model, start, {}, progress) == start);
}
