#include "core/base/error.h"
#include "core/base/file.h"
#include "core/export/trace_export.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace headscope;
using namespace headscope::exporting;
using nlohmann::json;

namespace {

constexpr Dims traced_dims{.B = 2, .Tq = 2, .Tk = 3, .D = 4, .Dkv = 4, .H = 4, .Hkv = 2, .dk = 2, .dv = 3};

/// Every stage contains 0, 1, 2, ..., so that each number identifies its position. No engine is involved.
Trace masked_trace() {
    Trace trace;
    trace.dims = traced_dims;
    trace.device = "cpu";
    for (const TensorInfo& info : stages_of()) {
        auto tensor = std::make_shared<Tensor>(info.shape(traced_dims));
        std::iota(tensor->values().begin(), tensor->values().end(), 0.0F);
        trace.slot(info.id) = tensor;
    }
    for (std::int64_t h = 0; h < traced_dims.H; ++h)
        trace.fully_masked.push_back({1, h, 0});
    trace.fully_masked.push_back({1, 2, 1});
    return trace;
}

Problem quoted_problem() {
    Problem problem;
    problem.dims = traced_dims;
    problem.tokens = {"a \"quoted\" word", "ß"};
    problem.mask = {CausalMask{}};
    problem.temperature = 0.1F;
    return problem;
}

TraceExport only(TensorId stage, TraceFormat format) {
    return {.format = format, .stages = StageSet().with(stage)};
}

} // namespace

TEST_CASE("formats are told by name and by suffix") {
    CHECK(find_trace_format("npy") == TraceFormat::npy);
    CHECK_FALSE(find_trace_format("png").has_value());
    CHECK(trace_format_of_path("a/b.json") == TraceFormat::json);
    CHECK_FALSE(trace_format_of_path("a.json/b").has_value());
    CHECK_FALSE(trace_format_of_path("json").has_value());
}

TEST_CASE("safetensors hold every stage by its name and shape, and the metadata") {
    const auto bytes = trace_bytes(quoted_problem(), masked_trace(), {});
    const format::Safetensors file = format::Safetensors::from_bytes(bytes, "file");
    CHECK(file.entries().size() == stages_of().size());
    for (const TensorInfo& info : stages_of()) {
        INFO(info.name);
        REQUIRE(file.has(info.name));
        const TensorPtr tensor = file.tensor(info.name);
        CHECK(tensor->shape() == info.shape(traced_dims));
        CHECK(tensor->values().back() == static_cast<float>(tensor->count() - 1));
    }
    const auto& metadata = file.metadata();
    CHECK(json::parse(metadata.at("tokens")) == json({"a \"quoted\" word", "ß"}));
    CHECK(metadata.at("device") == "cpu");
    CHECK(metadata.at("fully_masked_rows") == "[[1,0]]");
    CHECK(metadata.at("fully_masked_head_rows") == "[[1,2,1]]");
    const json config = json::parse(metadata.at("config"));
    CHECK(config["Hkv"] == 2);
    CHECK(config["mask"] == json::parse(R"([{"kind":"causal"}])"));
    CHECK(config["gains"] == json({1, 1, 1, 1}));
    CHECK(config["temperature"] == 0.1);
}

TEST_CASE("one head is cut out of the stages that have heads, and of no other") {
    TraceExport wanted;
    wanted.head = 3;
    const format::Safetensors file =
        format::Safetensors::from_bytes(trace_bytes(quoted_problem(), masked_trace(), wanted), "file");
    const TensorPtr weights = file.tensor("weights");
    CHECK(weights->shape() == Shape{2, 1, 2, 3});
    CHECK(weights->at(0, 0, 0, 0) == 18.0F);
    CHECK(weights->at(1, 0, 1, 2) == 47.0F);
    CHECK(file.tensor("k_heads")->shape() == Shape{2, 1, 3, 2});
    CHECK(file.tensor("k_heads")->at(0, 0, 0, 0) == 6.0F);
    CHECK(file.tensor("weights_mean")->shape() == Shape{2, 2, 3});
    CHECK(file.tensor("output")->shape() == Shape{2, 2, 4});
    for (const std::int64_t head : {-1, 4}) {
        wanted.head = head;
        CHECK_THROWS_WITH(trace_bytes(quoted_problem(), masked_trace(), wanted),
                          Catch::Contains("numbered 0 to 3"));
    }
}

TEST_CASE("JSON is nested by shape, gives float32 back exactly and spells minus infinity") {
    Trace trace = masked_trace();
    const std::vector<float> numbers{0.1F,  -INFINITY, 1e-45F, 3.4028235e38F, -0.0F, 16777216.0F,
                                     1e20F, 1.0F / 3,  -2.5F,  7.0F,          1e-7F, 123456.789F};
    trace.slot(TensorId::weights_mean) = make_tensor({2, 2, 3}, numbers);
    const std::string text =
        trace_bytes(quoted_problem(), trace, only(TensorId::weights_mean, TraceFormat::json));
    const json parsed = json::parse(text);
    CHECK(parsed["tokens"].size() == 2);
    CHECK(parsed["fully_masked_rows"] == json::parse("[[1,0]]"));
    CHECK(parsed["stages"].size() == 1);
    const json& stage = parsed["stages"]["weights_mean"];
    CHECK(stage["shape"] == json({2, 2, 3}));
    CHECK(stage["values"][0][0][1] == "-inf");
    for (std::size_t at = 0; at < numbers.size(); ++at)
        if (at != 1)
            CHECK(stage["values"][at / 6][at / 3 % 2][at % 3].get<float>() == numbers[at]);
    CHECK(text.find("[0.1,\"-inf\",") != std::string::npos);
}

TEST_CASE("CSV has one number a line, with the head's own number") {
    TraceExport wanted = only(TensorId::weights, TraceFormat::csv);
    wanted.head = 2;
    const std::string csv = trace_bytes(quoted_problem(), masked_trace(), wanted);
    CHECK(csv.starts_with("stage,b,h,i,j,value\nweights,0,2,0,0,12\nweights,0,2,0,1,13\n"));
    CHECK(csv.ends_with("weights,1,2,1,2,41\n"));
    const std::string mean =
        trace_bytes(quoted_problem(), masked_trace(), only(TensorId::weights_mean, TraceFormat::csv));
    CHECK(mean.ends_with("weights_mean,1,,1,2,11\n"));
    std::string tabs =
        trace_bytes(quoted_problem(), masked_trace(), only(TensorId::weights_mean, TraceFormat::tsv));
    std::ranges::replace(tabs, '\t', ',');
    CHECK(tabs == mean);
    CHECK(trace_format_of_path("a.tsv") == TraceFormat::tsv);
}

TEST_CASE("an .npy header is padded to 64 bytes and names type, order and shape") {
    const std::string bytes = format::npy_bytes(*make_tensor({1, 2}, std::vector<float>{1, 2}));
    CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    CHECK(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, ), }") == 10);
    CHECK((bytes.size() - 8) % 64 == 0);
    CHECK(bytes[bytes.size() - 9] == '\n');
}

TEST_CASE("several stages as .npy go to a folder, and to nothing else") {
    const test::TemporaryFolder folder;
    TraceExport wanted{.format = TraceFormat::npy,
                       .stages = StageSet().with(TensorId::q).with(TensorId::output)};
    const Trace trace = masked_trace();
    for (int time = 0; time < 2; ++time)
        export_trace(quoted_problem(), trace, wanted, folder.file("out"));
    CHECK(read_file(folder.file("out") + "/q.npy") == format::npy_bytes(*trace.stage(TensorId::q)));
    CHECK(json::parse(read_file(folder.file("out") + "/trace.json"))["device"] == "cpu");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.file("out")), {}) == 3);
    for (const std::string path : {"-", "out.npy"})
        CHECK_THROWS_WITH(export_trace(quoted_problem(), trace, wanted, path),
                          Catch::Contains("one stage, not 2"));
}
