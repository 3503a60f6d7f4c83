#include "core/base/error.h"
#include "core/base/file.h"
#include "core/engine/engine.h"
#include "core/export/pytorch_script.h"
#include "core/export/pytorch_values.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/tensors.h"

#include <cmath>
#include <filesystem>
#include <limits>

using namespace headscope;
using namespace headscope::exporting;
using Catch::Contains;
using headscope::test::TemporaryFolder;

// That the scripts run and agree is for tests/app/cli/check_pytorch.py to say; here is what they are made of.

namespace {

TensorPtr filled(const Shape& shape, float scale = 0.01F) {
    Tensor tensor(shape);
    for (std::int64_t i = 0; i < tensor.count(); ++i)
        tensor.data()[i] = scale * static_cast<float>(i % 17 - 8);
    return std::make_shared<const Tensor>(std::move(tensor));
}

Problem numbered_problem(const Dims& d) {
    Problem problem;
    problem.dims = d;
    problem.x = filled({d.B, d.Tq, d.D});
    if (d.Dkv != d.D || d.Tk != d.Tq)
        problem.x_kv = filled({d.B, d.Tk, d.Dkv});
    problem.weights = {.W_Q = filled({d.D, d.H * d.dk}),
                       .W_K = filled({d.Dkv, d.Hkv * d.dk}),
                       .W_V = filled({d.Dkv, d.Hkv * d.dv}),
                       .W_O = filled({d.H * d.dv, d.D}),
                       .b_Q = nullptr,
                       .b_K = nullptr,
                       .b_V = nullptr,
                       .b_O = nullptr};
    return problem;
}

constexpr Dims plain{.B = 1, .Tq = 3, .Tk = 3, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};

Problem with_mask(Mask mask) {
    Problem problem = numbered_problem(plain);
    problem.mask = std::move(mask);
    return problem;
}

Trace trace_of(const Problem& problem) {
    return engine::make_engine("cpu")->run(problem);
}

bool fits(const Problem& problem) {
    const Trace trace = trace_of(problem);
    return pytorch_script(part_of(problem, trace), "").find("mha = torch.nn.MultiheadAttention") !=
           std::string::npos;
}

std::string script_of(const Problem& problem) {
    return pytorch_script(part_of(problem, trace_of(problem)), "a title");
}

/// More numbers than a script written to a file holds itself.
Problem long_problem() {
    return numbered_problem(
        {.B = 1, .Tq = 4, .Tk = 4, .D = 96, .Dkv = 96, .H = 4, .Hkv = 4, .dk = 24, .dv = 24});
}

} // namespace

TEST_CASE("torch.nn.MultiheadAttention computes what it can express") {
    CHECK(fits(numbered_problem(plain)));
    Dims d = plain;
    d.Tk = 5;
    d.Dkv = 6;
    CHECK(fits(numbered_problem(d)));
    d = plain;
    d.H = d.Hkv = 1;
    d.dk = d.dv = 8;
    CHECK(fits(numbered_problem(d)));
    CHECK(fits(with_mask({CausalMask{}, KeyPaddingMask{bools({1, 3}, {1, 1, 0})}})));
    Problem problem = numbered_problem(plain);
    problem.gains = {1.0F, 1.0F};
    CHECK(fits(problem));
    // One closed row is left out of the comparison.
    CHECK(fits(with_mask({ExplicitMask{bools({3, 3}, {1, 1, 1, 0, 0, 0, 1, 0, 1})}})));
}

TEST_CASE("plain tensor operations alone compute the rest") {
    Dims d = plain;
    d.Hkv = 1;
    CHECK_FALSE(fits(numbered_problem(d)));
    d = plain;
    d.dv = 3;
    CHECK_FALSE(fits(numbered_problem(d)));
    d = plain;
    d.dk = d.dv = 3;
    CHECK_FALSE(fits(numbered_problem(d)));
    Problem problem = numbered_problem(plain);
    problem.gains = {1.0F, 0.5F};
    CHECK_FALSE(fits(problem));
    problem = numbered_problem(plain);
    problem.temperature = 2.0F;
    CHECK_FALSE(fits(problem));
    problem = numbered_problem(plain);
    problem.rotary = Rotary{filled({1, 3, 4}, 0.1F), filled({1, 3, 4}, 0.1F)};
    CHECK_FALSE(fits(problem));
    // Every row closed: the module would have nothing but NaN.
    CHECK_FALSE(fits(with_mask({ExplicitMask{bools({1, 3}, {0, 0, 0})}})));
}

TEST_CASE("the module gets its weights stacked, or apart when the source has another width") {
    CHECK_THAT(script_of(numbered_problem(plain)),
               Contains("\"in_proj_weight\": torch.cat([W_Q.T, W_K.T, W_V.T])") && Contains("bias=False") &&
                   !Contains("kdim") && !Contains("in_proj_bias"));
    Dims d = plain;
    d.Dkv = 6;
    Problem cross = numbered_problem(d);
    cross.weights.b_V = filled({8});
    CHECK_THAT(script_of(cross),
               Contains("bias=True, kdim=Dkv, vdim=Dkv") && Contains("\"k_proj_weight\": W_K.T") &&
                   Contains("torch.cat([torch.zeros(D), torch.zeros(D), b_V])") &&
                   Contains("\"out_proj.bias\": torch.zeros(D)") && Contains("x, x_kv, x_kv"));
}

TEST_CASE("the module gets the mask in the form that says most") {
    CHECK_THAT(script_of(numbered_problem(plain)), !Contains("attn_mask") && !Contains("allowed"));
    CHECK_THAT(script_of(with_mask({CausalMask{}})),
               Contains("masked = scaled.masked_fill(~(j <= i), -math.inf)") &&
                   Contains("attn_mask = (masked == -math.inf)[0, 0]"));
    CHECK_THAT(script_of(with_mask({KeyPaddingMask{bools({1, 3}, {1, 1, 0})}})),
               Contains("key_padding_mask = ~allowed.expand(B, Tk)") && !Contains("attn_mask"));
    CHECK_THAT(script_of(with_mask({SlidingWindowCausalMask{2}, AdditiveMask{filled({2, 3, 3})}})),
               Contains("(j <= i) & (j >= i - 1)") &&
                   Contains("attn_mask = mask[None, :, :, :].expand(B, H, Tq, Tk)") &&
                   Contains(".masked_fill(masked == -math.inf, -math.inf).reshape(B * H, Tq, Tk)"));
}

TEST_CASE("every float32 comes back from its text") {
    const float largest = std::numeric_limits<float>::max();
    const ScriptValue value{
        "t", "(6)", make_tensor({6}, std::vector<float>{0.1F, -INFINITY, 1e-45F, largest, -0.0F, -largest})};
    // As a double, 3.4028235e+38 is beyond float32, and torch refuses it.
    CHECK(python_tensor(value) == "t = torch.tensor([0.1, -inf, 1e-45, 3.4028234663852886e+38, -0.0, "
                                  "-3.4028234663852886e+38], dtype=torch.float32)  # (6)\n");
}

TEST_CASE("lists nest as the shape does") {
    const ScriptValue value{"m", "(axes)",
                            make_tensor({2, 2, 1, 2}, std::vector<float>{1, 0, 0, 1, 1, 1, 0, 0}),
                            ScriptValue::Kind::flags};
    CHECK(python_tensor(value) == R"(m = torch.tensor([[[
    [1, 0],
], [
    [0, 1],
]], [[
    [1, 1],
], [
    [0, 0],
]]], dtype=torch.bool)  # (axes)
)");
}

TEST_CASE("no title or token can break the script") {
    Problem problem = numbered_problem(plain);
    problem.tokens = {"\"\"\"", "\n\\", "\xff\xe7\x8c\xab"};
    const std::string script = pytorch_script(part_of(problem, trace_of(problem)), "\"\"\"\nimport os\\");
    CHECK_THAT(script, Contains("computed it: \"\\\"\\\"\\\"\\nimport os\\\\\"."));
    CHECK_THAT(script, Contains("tokens = [\"\\\"\\\"\\\"\", \"\\n\\\\\", \"\uFFFD\u732B\"]"));
}

TEST_CASE("many numbers go into a file beside the script, never over a stranger's") {
    const TemporaryFolder folder;
    const Problem problem = long_problem();
    const Trace trace = trace_of(problem);
    const std::string path = folder.file("big.py"), beside = folder.file("big.numbers.safetensors");
    CHECK(pytorch_numbers_path(path) == beside);
    export_pytorch(part_of(problem, trace), "big", path);
    export_pytorch(part_of(problem, trace), "big", path); // its own file may be replaced
    CHECK(folder.entries() == 2);
    CHECK_THAT(read_file(path), Contains("with_name(\"big.numbers.safetensors\")"));
    const format::Safetensors numbers = format::Safetensors::open(beside);
    CHECK(numbers.tensor("W_O")->values().back() == problem.weights.W_O->values().back());
    CHECK(numbers.tensor("expected_output")->shape() == Shape{1, 4, 96});

    format::SafetensorsWriter stranger;
    stranger.add("X", problem.x);
    write_file_atomically(beside, stranger.bytes());
    const std::string script_before = read_file(path);
    CHECK_THROWS_WITH(export_pytorch(part_of(problem, trace), "other", path),
                      Contains("was not written by an export"));
    CHECK(format::Safetensors::open(beside).has("X"));
    CHECK(read_file(path) == script_before);
}

TEST_CASE("both files are written or neither") {
    const TemporaryFolder folder;
    const Problem problem = long_problem();
    const Trace trace = trace_of(problem);
    std::filesystem::create_directory(folder.file("taken.py")); // a script cannot get this name
    CHECK_THROWS_AS(export_pytorch(part_of(problem, trace), "", folder.file("taken.py")), Error);
    CHECK(folder.entries() == 1);

    const std::string beside = folder.file("taken.numbers.safetensors");
    export_pytorch(part_of(problem, trace), "", folder.file("taken"));
    const std::string before = read_file(beside);
    Problem other = problem;
    other.x = filled({1, 4, 96}, 0.02F);
    CHECK_THROWS_AS(export_pytorch(part_of(other, trace_of(other)), "", folder.file("taken.py")), Error);
    CHECK(read_file(beside) == before);
}

TEST_CASE("few numbers stay in the script, and so do those of the clipboard up to its limit") {
    const TemporaryFolder folder;
    const Problem small = numbered_problem(plain);
    export_pytorch(part_of(small, trace_of(small)), "", folder.file("small.py"));
    CHECK(folder.entries() == 1);
    const Problem problem = long_problem();
    const Trace trace = trace_of(problem);
    CHECK(pytorch_clipboard(part_of(problem, trace), "t") == pytorch_script(part_of(problem, trace), "t"));
    const Problem huge = numbered_problem(
        {.B = 1, .Tq = 2, .Tk = 2, .D = 512, .Dkv = 512, .H = 8, .Hkv = 8, .dk = 64, .dv = 64});
    CHECK_THROWS_WITH(pytorch_clipboard(part_of(huge, trace_of(huge)), "t"), Contains("save it to a file"));
}

TEST_CASE("a script needs the stages that it compares") {
    const Problem problem = numbered_problem(plain);
    Trace trace = trace_of(problem);
    trace.slot(TensorId::weights) = nullptr;
    CHECK_THROWS_WITH(part_of(problem, trace), Contains("weights was not computed"));
}
