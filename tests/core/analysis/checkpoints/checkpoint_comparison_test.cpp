#include "core/analysis/checkpoints/checkpoint_comparison.h"
#include "core/analysis/checkpoints/head_change.h"
#include "core/analysis/checkpoints/run_difference.h"
#include "core/base/memory.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/changed_checkpoint.h"
#include "tests/core/analysis/made_set.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

// A checkpoint and a changed copy of it, compared as the window does.

namespace headscope::test {
namespace {

using analysis::CheckpointComparison;
using Catch::Contains;

constexpr std::int64_t D_of_gpt2 = 32, dk_of_gpt2 = 8;

std::string tiny_gpt2() {
    return test_data("/models/gpt2_tiny");
}

/// Changes the queries of head 1 in layer 0, one row of the word table and the MLP of layer 1.
void tune_gpt2(const std::string& name, std::vector<float>& numbers) {
    if (name == "transformer.h.0.attn.c_attn.weight") // (D, 3 D)
        for (std::int64_t row = 0; row < D_of_gpt2; ++row)
            for (std::int64_t c = dk_of_gpt2; c < 2 * dk_of_gpt2; ++c)
                numbers[static_cast<std::size_t>(row * 3 * D_of_gpt2 + c)] += 0.25F;
    if (name == "transformer.wte.weight")
        for (std::int64_t c = 0; c < D_of_gpt2; ++c)
            numbers[static_cast<std::size_t>(7 * D_of_gpt2 + c)] *= 2.0F;
    if (name == "transformer.h.1.mlp.c_fc.weight")
        numbers.front() += 1.0F;
}

CheckpointComparison compared_with(const checkpoint::TextModelPtr& a, const std::string& path) {
    Progress progress;
    return analysis::compare_checkpoints(a, path, progress);
}

checkpoint::ModelRunPtr run_over(const checkpoint::TextModel& model, const checkpoint::ModelInputs& inputs,
                                 const checkpoint::ModelEdits& edits = {}) {
    Progress progress;
    return checkpoint::ModelRun::compute(model.model, inputs, edits, nullptr, {}, progress);
}

/// Replaces a part of a file's text.
void replace_in(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_file_atomically(path, text.replace(at, from.size(), to));
}

} // namespace

TEST_CASE("the edits of a comparison compute what the other checkpoint computes", "[diff]") {
    const TemporaryFolder folder;
    const std::string path = changed_checkpoint(tiny_gpt2(), folder.file("tuned"), tune_gpt2);
    const auto a = checkpoint::open_text_model(tiny_gpt2()), b = checkpoint::open_text_model(path);
    const CheckpointComparison comparison = compared_with(a, path);
    CHECK(comparison.name == "tuned");
    CHECK(comparison.note.empty());
    CHECK(comparison.tensors == 28);
    const checkpoint::ModelInputs inputs = checkpoint::token_inputs(*a, {3, 7, 11, 7, 2});
    const auto edited = run_over(*a, inputs, comparison.edits), own = run_over(*b, inputs);
    CHECK(std::ranges::equal(edited->logits()->values(), own->logits()->values()));
    CHECK_FALSE(std::ranges::equal(run_over(*a, inputs)->logits()->values(), own->logits()->values()));
    // Only what differs is held: of the word table one row, of c_attn the queries.
    REQUIRE(comparison.edits.size() == 2);
    const checkpoint::LayerEdits& first = comparison.edits.at(0);
    REQUIRE(first.tensors.size() == 1);
    CHECK(first.tensors.begin()->first == TensorId::W_Q);
    REQUIRE(first.rows.at(TensorId::W_E).size() == 1);
    CHECK(first.rows.at(TensorId::W_E).begin()->first == 7);
    CHECK(comparison.edits.at(1).tensors.begin()->first == TensorId::W_in);
}

TEST_CASE("changed tensors are listed by their relative norm, with the parameter that they hold", "[diff]") {
    const TemporaryFolder folder;
    const std::string path = changed_checkpoint(tiny_gpt2(), folder.file("tuned"), tune_gpt2);
    const auto a = checkpoint::open_text_model(tiny_gpt2());
    const CheckpointComparison comparison = compared_with(a, path);
    REQUIRE(comparison.changed.size() == 3);
    double last = 1e300;
    for (const analysis::ChangedTensor& tensor : comparison.changed) {
        CAPTURE(tensor.difference.name);
        const TensorPtr own = a->model->files().tensor(tensor.difference.name);
        double norm = 0;
        for (const float number : own->values())
            norm += static_cast<double>(number) * static_cast<double>(number);
        double apart = 1; // one number of c_fc by 1
        if (tensor.difference.name == "transformer.h.0.attn.c_attn.weight")
            apart = 0.25 * std::sqrt(static_cast<double>(D_of_gpt2 * dk_of_gpt2));
        if (tensor.difference.name == "transformer.wte.weight") {
            apart = 0; // the row is added to itself
            for (std::int64_t c = 0; c < D_of_gpt2; ++c)
                apart = std::hypot(apart, static_cast<double>(own->at(7, c)));
        }
        CHECK(tensor.difference.numbers.relative() == Approx(apart / std::sqrt(norm)).epsilon(1e-5));
        CHECK(*tensor.difference.numbers.relative() <= last);
        last = *tensor.difference.numbers.relative();
        REQUIRE(tensor.parameter);
        const bool second_layer = tensor.difference.name.starts_with("transformer.h.1.");
        CHECK(tensor.parameter->attention == (second_layer ? 1 : 0));
    }
}

TEST_CASE("the changes of heads equal those of headscope diff", "[diff]") {
    const TemporaryFolder folder;
    const std::string path = changed_checkpoint(tiny_gpt2(), folder.file("tuned"), tune_gpt2);
    const auto a = checkpoint::open_text_model(tiny_gpt2());
    const CheckpointComparison comparison = compared_with(a, path);
    const checkpoint::ModelInputs inputs = checkpoint::token_inputs(*a, {3, 7, 11, 7, 2});
    const auto unedited = run_over(*a, inputs), edited = run_over(*a, inputs, comparison.edits);
    Progress progress;
    const auto changes = analysis::head_changes(unedited, edited, progress);
    const ProgramRun diff = run_program({"diff", tiny_gpt2(), path, "--ids", "3,7,11,7,2", "--json"});
    REQUIRE(diff.code == 0);
    const nlohmann::json made = nlohmann::json::parse(diff.out);
    REQUIRE(made["heads"].size() == changes.size());
    for (std::size_t n = 0; n < changes.size(); ++n) {
        CAPTURE(n);
        const nlohmann::json& row = made["heads"][n];
        CHECK(row["layer"] == changes[n].place.layer);
        CHECK(row["head"] == changes[n].head);
        CHECK(*changes[n].parameters == Approx(row["all"].get<double>()).epsilon(1e-9));
        // An edited matrix is packed again, and its products round differently in float32.
        CHECK(changes[n].attention == Approx(row["pattern"].get<double>()).epsilon(1e-6));
        CHECK((*changes[n].parameters > 0) == (n == 1)); // head 1 of layer 0
    }
    std::vector<std::string> names;
    for (const nlohmann::json& row : made["tensors"])
        if (row["difference"].get<double>() > 0)
            names.push_back(row["name"]);
    CHECK(names.size() == comparison.changed.size());
    for (const analysis::ChangedTensor& tensor : comparison.changed)
        CHECK(std::ranges::count(names, tensor.difference.name) == 1);
    CHECK_THROWS_WITH(
        analysis::head_changes(run_over(*a, checkpoint::token_inputs(*a, {3})), edited, progress),
        Contains("different tokens"));
}

TEST_CASE("an attention difference has the mean and the largest change of each block of cells", "[diff]") {
    const auto set_of = [](std::vector<float> weights) {
        return MadeSet(1, 1, 4, {}, [weights](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) {
            return weights[static_cast<std::size_t>(4 * i + j)];
        });
    };
    const MadeSet of_a =
        set_of({1, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0.25F, 0.25F, 0.5F, 0, 0.25F, 0.25F, 0.25F, 0.25F});
    const MadeSet of_b = set_of({1, 0, 0, 0, 0.25F, 0.75F, 0, 0, 0.25F, 0.25F, 0.5F, 0, 0, 0.5F, 0.5F, 0});
    Progress progress;
    const analysis::AttentionDifference found = analysis::attention_difference(of_a, of_b, 0, 0, 2, progress);
    CHECK(found.mean_absolute == Approx((0.25 + 0.25 + 4 * 0.25) / 16));
    REQUIRE(found.rows == 2);
    REQUIRE(found.cols == 2);
    CHECK(found.largest[0] == -0.25F); // the first of two equally large changes
    CHECK(found.largest[1] == 0.0F);
    CHECK(found.largest[2] == -0.25F);
    CHECK(found.largest[3] == 0.25F);
}

TEST_CASE("checkpoints that edits cannot turn into each other are refused with the reason", "[diff]") {
    const TemporaryFolder folder;
    const auto a = checkpoint::open_text_model(tiny_gpt2());
    const auto nothing = [](const std::string&, std::vector<float>&) {};
    CHECK_THROWS_WITH(compared_with(a, test_data("/models/llama_tiny_tied")),
                      Contains("have different shapes") && Contains("vocab"));
    const std::string same = changed_checkpoint(tiny_gpt2(), folder.file("same"), nothing);
    CHECK_THROWS_WITH(compared_with(a, same), Contains("have the same parameters"));
    const std::string other = changed_checkpoint(tiny_gpt2(), folder.file("other"), tune_gpt2);
    replace_in(other + "/config.json", "\"layer_norm_epsilon\": 1e-05", "\"layer_norm_epsilon\": 1e-06");
    CHECK_THROWS_WITH(compared_with(a, other), Contains("different settings: norm_eps"));
    CHECK_THROWS_WITH(compared_with(a, folder.file("nowhere")), Contains("nowhere"));
    const std::string pocket = checkpoint::model_folder("pocket");
    const std::string words = changed_checkpoint(pocket, folder.file("words"), nothing);
    const auto model = checkpoint::open_text_model(pocket);
    // Two tokens change places, so that the merges of the tokenizer stay valid.
    const std::string token(model->tokenizer->token_text(700)), next(model->tokenizer->token_text(701));
    nlohmann::json tokenizer = nlohmann::json::parse(read_file(words + "/tokenizer.json"));
    tokenizer["model"]["vocab"][token] = 701;
    tokenizer["model"]["vocab"][next] = 700;
    write_file_atomically(words + "/tokenizer.json", tokenizer.dump());
    CHECK_THROWS_WITH(compared_with(model, words),
                      Contains("different vocabularies: token 700 is " + token + " and " + next));
}

TEST_CASE("an adapter whose base is not on this machine is compared with A, and the note says so", "[diff]") {
    const TemporaryFolder folder;
    const std::string adapter = folder.file("lora");
    std::filesystem::create_directories(adapter);
    write_file_atomically(adapter + "/adapter_config.json",
                          R"({"peft_type": "LORA", "base_model_name_or_path": "someone/missing", "r": 1,
                              "lora_alpha": 1, "target_modules": ["c_attn"]})");
    format::SafetensorsWriter writer;
    const std::string module = "base_model.model.transformer.h.1.attn.c_attn";
    std::vector<float> keys_of_head_2(96, 0.0F);
    std::fill_n(keys_of_head_2.begin() + 32 + 2 * dk_of_gpt2, dk_of_gpt2, 0.5F);
    writer.add(module + ".lora_A.weight", make_tensor({1, 32}, std::vector<float>(32, 0.125F)));
    writer.add(module + ".lora_B.weight", make_tensor({96, 1}, keys_of_head_2));
    write_file_atomically(adapter + "/adapter_model.safetensors", writer.bytes());
    const auto a = checkpoint::open_text_model(tiny_gpt2());
    const CheckpointComparison comparison = compared_with(a, adapter);
    CHECK_THAT(comparison.note, Contains("is not on this machine; gpt2_tiny is used in its place"));
    CHECK(checkpoint::find_adapter_base(adapter).value_or("none") == "none"); // for the comparison only
    REQUIRE(comparison.changed.size() == 1);
    // B A is 0.0625 in the 32 x 8 keys of head 2.
    CHECK(comparison.changed[0].difference.numbers.difference == Approx(0.0625 * std::sqrt(32.0 * 8.0)));
    REQUIRE(comparison.edits.size() == 1);
    CHECK(comparison.edits.at(1).tensors.size() == 1);
    CHECK(comparison.edits.at(1).tensors.begin()->first == TensorId::W_K);
}

TEST_CASE("edits that do not fit into memory are refused with their size", "[diff]") {
    struct Limit {
        explicit Limit(std::uint64_t bytes) { limit_memory(bytes); }
        ~Limit() { limit_memory(std::numeric_limits<std::uint64_t>::max()); }
    };
    const TemporaryFolder folder;
    const std::string pocket = checkpoint::model_folder("pocket");
    const std::string path = changed_checkpoint(pocket, folder.file("tuned"),
                                                [](const std::string& name, std::vector<float>& numbers) {
                                                    if (name == "model.embed_tokens.weight")
                                                        numbers.front() += 1;
                                                });
    const auto a = checkpoint::open_text_model(pocket);
    const Limit limit(1);
    // The word table (1536, 192) as float32, and twice more while it is read. A smaller need is not checked.
    CHECK_THROWS_WITH(compared_with(a, path),
                      Contains("the comparison with tuned") && Contains("needs 4 MB"));
}

TEST_CASE("a cancelled comparison stops", "[diff]") {
    const TemporaryFolder folder;
    const std::string path = changed_checkpoint(tiny_gpt2(), folder.file("tuned"), tune_gpt2);
    Progress progress;
    progress.cancel();
    CHECK_THROWS_WITH(analysis::compare_checkpoints(checkpoint::open_text_model(tiny_gpt2()), path, progress),
                      Contains("cancelled"));
}

} // namespace headscope::test
