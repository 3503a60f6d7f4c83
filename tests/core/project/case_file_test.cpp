#include "core/analysis/heads/head_metrics.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/engine/engine.h"
#include "core/format/safetensors.h"
#include "core/project/case_file.h"
#include "core/project/mask_json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::project;
using headscope::test::TemporaryFolder;

namespace {

const std::string given = test_data("/mha/s1_additive_nobias.safetensors");

/// The case above with some tensors left out.
format::SafetensorsWriter without(const std::vector<std::string>& names) {
    const format::Safetensors file = format::Safetensors::open(given);
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : file.entries())
        if (!entry.name.starts_with("expect.") && !entry.name.starts_with("torch.") &&
            std::ranges::find(names, entry.name) == names.end())
            writer.add(entry.name, file.tensor(entry.name));
    return writer;
}

Problem load(const format::SafetensorsWriter& writer, const Mask& mask = {}) {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("case.safetensors"), writer.bytes());
    return load_case(
        {.path = folder.file("case.safetensors"), .H = 2, .Hkv = {}, .weights_path = {}, .mask = mask});
}

} // namespace

TEST_CASE("a case file gives its tensors, sizes and masks") {
    const Problem problem =
        load_case({.path = given, .H = 2, .Hkv = {}, .weights_path = {}, .mask = {CausalMask{}}});
    CHECK(problem.dims ==
          Dims{.B = 1, .Tq = 4, .Tk = 4, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4});
    CHECK(problem.weights.b_Q == nullptr);
    REQUIRE(problem.mask.size() == 2);
    CHECK(std::holds_alternative<CausalMask>(problem.mask[0]));
    CHECK(std::get<AdditiveMask>(problem.mask[1]).add->shape() == Shape{4, 4});
}

TEST_CASE("an additive rule without numbers stands for the file's mask.add") {
    const Mask mask = parse_mask(R"([{"kind":"additive"},{"kind":"causal"}])");
    CHECK(load(without({}), mask).mask.size() == 2);
    CHECK_THROWS_WITH(load(without({"mask.add"}), mask),
                      Catch::Contains("mask rule 0") && Catch::Contains("mask.add"));
}

TEST_CASE("a case file at fault is refused by the name of the tensor") {
    const auto zeros = [](const Shape& shape) { return std::make_shared<const Tensor>(shape, 0.0F); };
    CHECK_THROWS_WITH(load(without({"X"})), Catch::Contains("has no tensor X"));
    CHECK_THROWS_WITH(load(without({"W_V"})),
                      Catch::Contains("no tensor W_V") && Catch::Contains("--weights"));

    format::SafetensorsWriter flat = without({"X"});
    flat.add("X", zeros({8}));
    CHECK_THROWS_WITH(load(flat), Catch::Contains("tensor X has shape (8)"));

    format::SafetensorsWriter number_mask = without({});
    number_mask.add("mask.allowed", zeros({4, 4}));
    CHECK_THROWS_WITH(load(number_mask), Catch::Contains("mask.allowed is F32; store it as BOOL"));

    format::SafetensorsWriter integers = without({"X"});
    integers.add_integers("X", {1, 4, 8}, std::vector<std::int64_t>(32));
    CHECK_THROWS_WITH(load(integers), Catch::Contains("tensor X is I64"));

    for (const std::string name : {"W_Q", "W_K", "W_V", "W_O"}) {
        format::SafetensorsWriter narrow = without({name});
        narrow.add(name, zeros({5, 8}));
        CHECK_THROWS_WITH(load(narrow), Catch::Contains(name));
    }
    format::SafetensorsWriter bias = without({});
    bias.add("b_O", zeros({9}));
    CHECK_THROWS_WITH(load(bias), Catch::Contains("b_O"));
}

TEST_CASE("the heads of every golden case are those of its manifest") {
    const auto manifest = nlohmann::json::parse(read_file(test_data("/mha/manifest.json")));
    std::size_t seen = 0;
    for (const auto& one : manifest["cases"]) {
        const auto name = one["name"].get<std::string>();
        INFO(name);
        const format::Safetensors file =
            format::Safetensors::open_lazily(test_data("/mha/") + name + ".safetensors");
        CHECK(is_case(file));
        const CaseHeads heads = heads_of_case(file);
        CHECK(heads.from_file);
        CHECK(heads.H == one["H"].get<std::int64_t>());
        CHECK(heads.Hkv == one["H_kv"].get<std::int64_t>());
        ++seen;
    }
    CHECK(seen == 20);
}

TEST_CASE("heads that a case file does not tell are the fewest, and metadata tells them") {
    const auto heads = [](const format::SafetensorsWriter& writer) {
        return heads_of_case(format::Safetensors::from_bytes(writer.bytes(), "case"));
    };
    const auto zeros = [](const Shape& shape) { return std::make_shared<const Tensor>(shape, 0.0F); };
    format::SafetensorsWriter plain = without({});
    CHECK((heads(plain).H == 1 && heads(plain).Hkv == 1 && !heads(plain).from_file));
    plain.set_metadata("heads", "4");
    CHECK((heads(plain).H == 4 && heads(plain).Hkv == 4 && heads(plain).from_file));
    plain.set_metadata("kv_heads", "2");
    CHECK(heads(plain).Hkv == 2);

    format::SafetensorsWriter masked = without({"mask.add"});
    masked.add("mask.add", zeros({1, 2, 4, 4}));
    CHECK((heads(masked).H == 2 && heads(masked).from_file));
    format::SafetensorsWriter one_for_all = without({"mask.add"});
    one_for_all.add("mask.add", zeros({1, 1, 4, 4}));
    CHECK_FALSE(heads(one_for_all).from_file);

    format::SafetensorsWriter shared = without({"W_K", "W_V"});
    shared.add("W_K", zeros({8, 2}));
    shared.add("W_V", zeros({8, 2}));
    CHECK((heads(shared).H == 4 && heads(shared).Hkv == 1 && !heads(shared).from_file));

    for (const char* const wrong : {"0", "-2", "two", "2.5", ""}) {
        format::SafetensorsWriter bad = without({});
        bad.set_metadata("heads", wrong);
        CHECK_THROWS_WITH(heads(bad), Catch::Contains("\"heads\"") && Catch::Contains("1 or more"));
    }
    CHECK_FALSE(is_case(format::Safetensors::from_bytes(without({"W_K"}).bytes(), "case")));
}

TEST_CASE("a case file names its tokens, and scores know which are the same") {
    format::SafetensorsWriter writer = without({});
    writer.set_metadata("tokens", R"(["Ġthe", "Ġcat", "Ġthe", "Ġcat"])");
    const Problem problem = load(writer);
    CHECK(problem.tokens == std::vector<std::string>{"the", "cat", "the", "cat"});
    CHECK(problem.kv_tokens.empty());
    const Trace trace = engine::make_engine("cpu")->run(problem);
    const auto heads = analysis::head_metrics(problem, trace, 0);
    REQUIRE(heads.size() == 2);
    const Tensor& weights = *trace.stage(TensorId::weights);
    for (std::int64_t h = 0; h < 2; ++h) {
        // Row 2 says "the" again: what followed it before is key 1; row 3 says "cat" again: key 2.
        double sum = 0, all = 0;
        for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t j = 0; j < 4; ++j)
                all += static_cast<double>(weights.at(0, h, i, j));
        sum = static_cast<double>(weights.at(0, h, 2, 1) + weights.at(0, h, 3, 2));
        REQUIRE(heads[static_cast<std::size_t>(h)].has(analysis::HeadScore::induction_text));
        CHECK(static_cast<double>(heads[static_cast<std::size_t>(h)][analysis::HeadScore::induction_text]) ==
              Approx(sum / all).margin(1e-6));
    }
    // Pieces that differ stay different.
    writer.set_metadata("tokens", R"(["Ġthe", "the", "Ġcat", "cat"])");
    CHECK(load(writer).tokens == std::vector<std::string>{"Ġthe", "the", "Ġcat", "cat"});
    writer.set_metadata("tokens", R"([["a", "b", "c", "d"]])");
    CHECK(load(writer).tokens == std::vector<std::string>{"a", "b", "c", "d"});
    writer.set_metadata("tokens", "[]");
    CHECK(load(writer).tokens.empty());
    writer.set_metadata("tokens", R"(["a", "b"])");
    CHECK_THROWS_WITH(load(writer), Catch::Contains("has 2 tokens for 4 rows"));
    writer.set_metadata("tokens", "a b c d");
    CHECK_THROWS_WITH(load(writer), Catch::Contains("metadata entry tokens"));
}

TEST_CASE("the keys of a case with two sources have names of their own") {
    const format::Safetensors file = format::Safetensors::open(test_data("/mha/cross_bias.safetensors"));
    format::SafetensorsWriter writer;
    for (const char* const name : {"X", "X_kv", "W_Q", "W_K", "W_V", "W_O"})
        writer.add(name, file.tensor(name));
    writer.set_metadata("tokens", R"([["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e"]])");
    writer.set_metadata("kv_tokens", R"(["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"])");
    const TemporaryFolder folder;
    const std::string path = folder.file("cross.safetensors");
    write_file_atomically(path, writer.bytes());
    const auto loaded = [&] {
        return load_case({.path = path, .H = 4, .Hkv = {}, .weights_path = {}, .mask = {}});
    };
    const Problem problem = loaded();
    CHECK(problem.dims.B == 2);
    CHECK(problem.query_label(4) == "e");
    CHECK(problem.key_label(8) == "k8");
    writer.set_metadata("tokens", R"([["a", "b", "c", "d", "e"], ["A", "b", "c", "d", "e"]])");
    write_file_atomically(path, writer.bytes());
    CHECK_THROWS_WITH(loaded(), Catch::Contains("different tokens for the 2 entries of the batch"));
}
