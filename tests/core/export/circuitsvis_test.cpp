#include "core/base/file.h"
#include "core/base/json.h"
#include "core/engine/engine.h"
#include "core/export/circuitsvis.h"
#include "core/export/tensor_export.h"
#include "core/export/trace_export.h"
#include "core/format/attention_file.h"
#include "core/format/npz.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <limits>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::exporting;
using Catch::Contains;

namespace {

struct RunProblem {
    Problem problem = text::build_preset("first-lesson", "The cat sat down").problem;
    Trace trace = engine::make_engine("cpu")->run(problem);
};

SelectedStage weights_stage(const Shape& shape, std::vector<float> numbers) {
    return {.info = &tensor_info(TensorId::weights), .tensor = make_tensor(shape, numbers)};
}

std::string circuitsvis_text(const std::vector<std::string>& tokens,
                             const std::vector<CircuitsVisLayer>& layers) {
    std::string text;
    write_circuitsvis(tokens, layers, [&](std::string_view part) { text += part; });
    return text;
}

} // namespace

TEST_CASE("the weights of a trace are written for CircuitsVis and opened again", "[exchange]") {
    const RunProblem run;
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.circuitsvis.json");
    CHECK(trace_format_of_path(path) == TraceFormat::circuitsvis);
    export_trace(run.problem, run.trace,
                 {.format = TraceFormat::circuitsvis, .stages = StageSet().with(TensorId::weights)}, path);
    const nlohmann::json written = parse_json(read_file(path), path);
    CHECK(written.at("tokens") == nlohmann::json(run.problem.tokens));
    const Tensor& weights = *run.trace.stage(TensorId::weights);
    REQUIRE(std::ssize(written.at("attention")) == run.problem.dims.H);
    for (std::int64_t h = 0; h < run.problem.dims.H; ++h) {
        CHECK(written.at("attention_head_names")[static_cast<std::size_t>(h)] == "H" + std::to_string(h));
        for (std::int64_t i = 0; i < run.problem.dims.Tq; ++i)
            for (std::int64_t j = 0; j < run.problem.dims.Tk; ++j)
                CHECK(written
                          .at("attention")[static_cast<std::size_t>(h)][static_cast<std::size_t>(i)]
                                          [static_cast<std::size_t>(j)]
                          .get<float>() == weights.at(0, h, i, j));
    }
    const AttentionSetPtr set = format::open_attention_file(path);
    CHECK(std::ranges::equal(set->layer(0)->values(), weights.values()));
    CHECK(set->query_tokens(0) == run.problem.tokens);
}

TEST_CASE("heads of several layers are one list of named heads for CircuitsVis", "[exchange]") {
    const std::vector<CircuitsVisLayer> layers{
        {weights_stage({1, 2, 2, 2}, {1, 0, 0.5F, 0.5F, 1, 0, 0, 1}), "L0"},
        {weights_stage({1, 2, 2, 2}, {1, 0, 0.25F, 0.75F, 0.5F, 0.5F, 0, 1}), "L4"}};
    CHECK(circuitsvis_text({"a", "b"}, {layers.front()}) ==
          R"({"tokens":["a","b"],"attention_head_names":["L0H0","L0H1"],)"
          R"("attention":[[[1,0],[0.5,0.5]],[[1,0],[0,1]]]})"
          "\n");
    const nlohmann::json both = parse_json(circuitsvis_text({}, layers), "both");
    CHECK(both.at("attention_head_names") == nlohmann::json({"L0H0", "L0H1", "L4H0", "L4H1"}));
    CHECK(both.at("tokens") == nlohmann::json({"0", "1"}));
    CHECK(both.at("attention").size() == 4);
    // One weight is above the diagonal, which the component would hide.
    CHECK(both.at("mask_upper_tri") == false);
}

TEST_CASE("weights that CircuitsVis cannot show are refused", "[exchange]") {
    const auto fault = [](const Shape& shape, std::vector<float> numbers, std::vector<std::string> tokens) {
        return input_error([&] {
            circuitsvis_text(tokens, {{weights_stage(shape, std::move(numbers)), {}}});
        });
    };
    CHECK_THAT(fault({2, 1, 1, 1}, {1, 1}, {"a"}), Contains("one text at a time") && Contains("are of 2"));
    CHECK_THAT(fault({1, 1, 1, 2}, {0.5F, 0.5F}, {"a"}), Contains("1 queries and 2 keys"));
    CHECK_THAT(fault({1, 1, 1, 1}, {1}, {"a", "b"}), Contains("2 of 1 are known"));
    CHECK_THAT(fault({1, 1, 1, 1}, {std::numeric_limits<float>::quiet_NaN()}, {"a"}),
               Contains("query 0 and key 0 of head 0 is not finite"));
    const RunProblem run;
    CHECK_THAT(input_error([&] {
                   check_target({.format = TraceFormat::circuitsvis, .stages = StageSet::all()}, "x");
               }),
               Contains("holds only the stage weights"));
    CHECK_THAT(input_error([&] {
                   tensor_bytes(run.problem, run.trace, {.id = TensorId::q}, TraceFormat::circuitsvis);
               }),
               Contains("holds attention weights, not q"));
    CHECK_THAT(tensor_bytes(run.problem, run.trace, {.id = TensorId::weights}, TraceFormat::circuitsvis,
                            {{"layer", "3"}}),
               Contains("\"L3H0\""));
}

TEST_CASE("a trace as npz has the arrays of the trace as safetensors", "[exchange]") {
    const RunProblem run;
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.npz");
    export_trace(run.problem, run.trace, {.format = *trace_format_of_path(path)}, path);
    const format::NpzFile file = format::NpzFile::open(path);
    std::size_t stages = 0;
    for (const format::NpzEntry& entry : file.entries()) {
        const auto id = find_stage(entry.name);
        if (!id)
            continue;
        ++stages;
        const Tensor& stage = *run.trace.stage(*id);
        CHECK(entry.dtype == "<f4");
        CHECK(entry.extents == std::vector<std::int64_t>(stage.shape().begin(), stage.shape().end()));
        std::vector<float> numbers(stage.values().size());
        file.require_floats(entry);
        file.read_numbers(entry, 0, numbers);
        CHECK(std::ranges::equal(numbers, stage.values()));
        if (entry.name == "weights")
            CHECK(std::ranges::equal(format::open_attention_file(path)->layer(0)->values(), stage.values()));
    }
    CHECK(stages == stages_of().size());
    CHECK(format::open_attention_file(path)->query_tokens(0) == run.problem.tokens);
}
