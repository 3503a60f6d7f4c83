#include "core/base/error.h"
#include "core/base/file.h"
#include "core/export/tensor_export.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <cmath>
#include <numeric>

using namespace headscope;
using namespace headscope::exporting;
using Catch::Contains;
using headscope::test::TemporaryFolder;

namespace {

constexpr Dims counted_dims{.B = 2, .Tq = 2, .Tk = 3, .D = 4, .Dkv = 4, .H = 4, .Hkv = 2, .dk = 2, .dv = 3};

TensorPtr counted(const Shape& shape) {
    auto tensor = std::make_shared<Tensor>(shape);
    std::iota(tensor->values().begin(), tensor->values().end(), 0.0F);
    return tensor;
}

/// Every stage contains 0, 1, 2, ..., so that each number identifies its position.
Trace counted_trace() {
    Trace trace;
    trace.dims = counted_dims;
    for (const TensorInfo& info : stage_table())
        trace.slot(info.id) = counted(info.shape(counted_dims));
    return trace;
}

Problem counted_problem() {
    Problem problem;
    problem.dims = counted_dims;
    problem.weights.W_O = counted({12, 4});
    problem.weights.b_O = counted({4});
    return problem;
}

std::string text_of(const TensorPart& part, TraceFormat format) {
    return tensor_bytes(counted_problem(), counted_trace(), part, format);
}

} // namespace

TEST_CASE("a part has the axes that are left") {
    using enum TensorId;
    const Problem problem = counted_problem();
    const Trace trace = counted_trace();
    const auto part = [&](const TensorPart& wanted) { return tensor_part(problem, trace, wanted); };
    CHECK(part({weights})->shape() == Shape{2, 4, 2, 3});
    const TensorPtr one = part({weights, 1, 2});
    CHECK(one->shape() == Shape{2, 3});
    CHECK(one->at(0, 0) == trace.stage(weights)->at(1, 2, 0, 0));
    CHECK(one->at(1, 2) == trace.stage(weights)->at(1, 2, 1, 2));
    const TensorPtr head = part({.id = contributions, .h = 3});
    CHECK(head->shape() == Shape{2, 2, 4});
    CHECK(head->at(1, 0, 1) == trace.stage(contributions)->at(1, 3, 0, 1));
    CHECK(part({.id = output, .b = 1})->at(0, 0) == trace.stage(output)->at(1, 0, 0));
    // Head 3 reads key/value head 1.
    CHECK(part({k_heads, 0, 3})->at(2, 1) == trace.stage(k_heads)->at(0, 1, 2, 1));
    CHECK(part({W_O})->shape() == Shape{12, 4});
}

TEST_CASE("a part that is not there is refused by name") {
    using enum TensorId;
    const Problem problem = counted_problem();
    Trace trace = counted_trace();
    const auto refused = [&](const TensorPart& part, const std::string& words) {
        CHECK_THROWS_WITH(tensor_part(problem, trace, part), Contains(words));
    };
    refused({weights, 2, 0}, "batch entries are numbered 0 to 1");
    refused({weights, 0, 4}, "heads are numbered 0 to 3");
    refused({weights, 0, -1}, "there is no head -1");
    refused({.id = W_O, .h = 0}, "W_O has no head axis");
    refused({.id = W_O, .b = 0}, "W_O has no batch axis");
    refused({.id = output, .h = 0}, "output has no head axis");
    refused({b_Q}, "has no tensor b_Q");
    refused({mask}, "has no tensor mask");
    trace.slot(q) = nullptr;
    refused({q}, "q was not computed");
}

TEST_CASE("matrices are plain tables, more axes one number a line") {
    using enum TensorId;
    CHECK(text_of({weights, 1, 3}, TraceFormat::csv) == "42,43,44\n45,46,47\n");
    CHECK(text_of({weights, 1, 3}, TraceFormat::tsv) == "42\t43\t44\n45\t46\t47\n");
    CHECK(text_of({b_O}, TraceFormat::csv) == "0,1,2,3\n");
    const std::string lines = text_of({.id = weights, .b = 1}, TraceFormat::tsv);
    CHECK_THAT(lines, Catch::StartsWith("stage\tb\th\ti\tj\tvalue\nweights\t1\t0\t0\t0\t24\n"));
    CHECK_THAT(lines, Catch::EndsWith("weights\t1\t3\t1\t2\t47\n"));
    CHECK_THAT(text_of({.id = scores, .h = 2}, TraceFormat::csv), Contains("scores,1,2,1,2,41\n"));
    CHECK_THROWS_AS(text_of({weights}, TraceFormat::json), Error);
}

TEST_CASE("minus infinity is spelled as NumPy and pandas read it") {
    Trace trace = counted_trace();
    auto masked = std::make_shared<Tensor>(trace.stage(TensorId::masked)->shape(), -INFINITY);
    trace.slot(TensorId::masked) = masked;
    CHECK(tensor_bytes(counted_problem(), trace, {TensorId::masked, 0, 0}, TraceFormat::csv) ==
          "-inf,-inf,-inf\n-inf,-inf,-inf\n");
}

TEST_CASE("the suffix chooses the format") {
    const TemporaryFolder folder;
    const Problem problem = counted_problem();
    const Trace trace = counted_trace();
    const TensorPart part{TensorId::weights, 1, 2};
    const auto file = [&](const std::string& name) {
        export_tensor(problem, trace, part, folder.file(name));
        return read_file(folder.file(name));
    };
    CHECK(file("a.npy") == format::npy_bytes(*tensor_part(problem, trace, part)));
    CHECK(file("a.csv") == "36,37,38\n39,40,41\n");
    CHECK(file("a.tsv") == "36\t37\t38\n39\t40\t41\n");
    const format::Safetensors read = format::Safetensors::from_bytes(file("a.safetensors"), "file");
    CHECK(read.tensor("weights")->shape() == Shape{2, 3});
    CHECK_THROWS_WITH(file("a.xlsx"), Contains(".npy, .npz, .csv, .tsv or .safetensors"));
    CHECK_THROWS_WITH(file("a.json"), Contains(".npy, .npz, .csv, .tsv or .safetensors"));
    CHECK(folder.entries() == 4);
}
