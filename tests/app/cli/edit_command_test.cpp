#include "core/base/file.h"
#include "core/checkpoint/model/model.h"
#include "core/format/safetensors.h"
#include "core/project/checkpoint_project.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;

namespace {

using Words = std::vector<std::string>;

const std::string& edited_model() {
    static const std::string folder = test_data("/models/gpt2_tiny");
    return folder;
}

std::string with_parameter(const TemporaryFolder& folder, const std::string& name, TensorPtr tensor) {
    format::SafetensorsWriter file;
    file.add(name, std::move(tensor));
    std::string path = folder.file(name + ".safetensors");
    write_file_atomically(path, file.bytes());
    return path;
}

TensorPtr zeros_of(const Shape& shape) {
    return std::make_shared<const Tensor>(
        shape, std::vector<float>(static_cast<std::size_t>(shape[0] * (shape.rank() > 1 ? shape[1] : 1))));
}

ProgramRun edit(const std::string& parameters, const std::string& out, const Words& more = {},
                const std::string& model = edited_model()) {
    Words words{"edit", "--model", model, "--parameters", parameters, "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
}

} // namespace

TEST_CASE("edit writes parameters that trace then uses, with the edits that were given", "[cli]") {
    const TemporaryFolder folder;
    const std::string zeros = with_parameter(folder, "layers.1.W_Q", zeros_of(Shape{32, 32})),
                      patch = folder.file("zero.patch.safetensors"), out = folder.file("out.safetensors");
    const ProgramRun run = edit(zeros, patch, {"--gain", "0.2=0.5"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    REQUIRE(run_program({"trace", "--model", edited_model(), "--ids", "5,7,11", "--patch", patch, "--stages",
                         "q,concat", "-o", out})
                .code == 0);
    const format::Safetensors traced = format::Safetensors::open(out);
    // W_Q is 0, so q is b_Q in every row.
    const TensorPtr q = traced.tensor("layers.1.q");
    for (std::int64_t row = 1; row < 3; ++row)
        for (std::int64_t column = 0; column < 32; ++column)
            CHECK(q->at(0, row, column) == q->at(0, 0, column));
    REQUIRE(run_program({"trace", "--model", edited_model(), "--ids", "5,7,11", "--gain", "0.2=0.5",
                         "--stages", "concat", "-o", out})
                .code == 0);
    CHECK(traced.tensor("layers.0.concat")->values()[20] ==
          format::Safetensors::open(out).tensor("layers.0.concat")->values()[20]);
}

TEST_CASE("edit takes the names of what stands around the layers of each stack", "[cli]") {
    const TemporaryFolder folder;
    const std::string model = test_data("/models/t5_tiny"), patch = folder.file("norm.patch.safetensors"),
                      out = folder.file("out.safetensors");
    const auto is_zero = [](float number) { return number == 0; };
    for (const std::string stack : {"encoder.", "decoder.", "cross."}) {
        INFO(stack);
        const ProgramRun run =
            edit(with_parameter(folder, stack + "final_norm_weight", zeros_of(Shape{32})), patch, {}, model);
        INFO(run.err);
        REQUIRE(run.code == 0);
        REQUIRE(run_program({"trace", "--model", model, "--ids", "5,7", "--decoder-ids", "0,4", "--patch",
                             patch, "--stages", "final_norm", "-o", out})
                    .code == 0);
        const format::Safetensors traced = format::Safetensors::open(out);
        for (const std::string other : {"encoder.", "decoder."})
            CHECK(std::ranges::all_of(traced.tensor(other + "final_norm")->values(), is_zero) ==
                  ((stack == "encoder.") == (other == "encoder.")));
    }
    const ProgramRun table =
        edit(with_parameter(folder, "decoder.W_E", zeros_of(Shape{2})), patch, {}, model);
    CHECK(table.code == 1);
    CHECK_THAT(table.err, Contains("decoder.W_E has the shape"));
}

TEST_CASE("edit refuses parameters and files that it cannot use", "[cli]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.patch.safetensors"),
                      right = with_parameter(folder, "layers.1.W_Q", zeros_of(Shape{32, 32}));
    const auto model = checkpoint::Model::open(edited_model());
    const std::string project = folder.file("activations.headscope");
    project::save_checkpoint_project(
        model, {},
        {.model = project::model_location(edited_model(), project),
         .ids = {5, 7, 11},
         .activations = {{.attention = 1, .at = TensorId::mlp_act, .row = 2, .column = 3, .value = 0.1F}}},
        project);
    const TensorPtr one = zeros_of(Shape{2});
    const std::vector<std::pair<ProgramRun, std::string>> runs{
        {edit("/nowhere.safetensors", out), "/nowhere.safetensors"},
        {edit(with_parameter(folder, "layers.9.W_Q", one), out), "no layer layers.9"},
        {edit(with_parameter(folder, "W_Q", one), out), "belongs to a layer; name it as in layers.0.W_Q"},
        {edit(with_parameter(folder, "layers.0.W_E", one), out), "belongs to no layer; name it as in W_E"},
        {edit(with_parameter(folder, "decoder.W_E", one), out), "no stack decoder"},
        {edit(with_parameter(folder, "layers.0.scores", one), out), "not a parameter"},
        {edit(with_parameter(folder, "layers.0.W_gate", one), out), "has no layers.0.W_gate"},
        {edit(with_parameter(folder, "layers.0.W_K", one), out), "shape"},
        {edit(with_parameter(folder, "W_E", one), out), "W_E has the shape"},
        {edit(right, out, {"--patch", project}), "sets activations"},
        {edit(right, edited_model() + "/edits.patch.safetensors"), "folder of the checkpoint"}};
    for (const auto& [run, part] : runs) {
        INFO(run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(part));
    }
    CHECK_THROWS(read_file(out));
    CHECK(run_program({"edit", "--model", edited_model(), "-o", out}).code == 2);
    CHECK(run_program({"edit", "--model", edited_model(), "--parameters", right}).code == 2);
}
