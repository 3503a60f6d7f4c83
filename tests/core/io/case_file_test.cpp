#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/safetensors.h"
#include "core/io/case_file.h"
#include "core/io/mask_json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using headscope::test::TemporaryFolder;

namespace {

const std::string given = test_data("/mha/s1_additive_nobias.safetensors");

/// The case above with some tensors left out.
SafetensorsWriter without(const std::vector<std::string>& names) {
    const Safetensors file = Safetensors::open(given);
    SafetensorsWriter writer;
    for (const SafetensorsEntry& entry : file.entries())
        if (!entry.name.starts_with("expect.") && !entry.name.starts_with("torch.") &&
            std::ranges::find(names, entry.name) == names.end())
            writer.add(entry.name, file.tensor(entry.name));
    return writer;
}

Problem load(const SafetensorsWriter& writer, const Mask& mask = {}) {
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

    SafetensorsWriter flat = without({"X"});
    flat.add("X", zeros({8}));
    CHECK_THROWS_WITH(load(flat), Catch::Contains("tensor X has shape (8)"));

    SafetensorsWriter number_mask = without({});
    number_mask.add("mask.allowed", zeros({4, 4}));
    CHECK_THROWS_WITH(load(number_mask), Catch::Contains("mask.allowed is F32; store it as BOOL"));

    SafetensorsWriter integers = without({"X"});
    integers.add_integers("X", {1, 4, 8}, std::vector<std::int64_t>(32));
    CHECK_THROWS_WITH(load(integers), Catch::Contains("tensor X is I64"));

    for (const std::string name : {"W_Q", "W_K", "W_V", "W_O"}) {
        SafetensorsWriter narrow = without({name});
        narrow.add(name, zeros({5, 8}));
        CHECK_THROWS_WITH(load(narrow), Catch::Contains(name));
    }
    SafetensorsWriter bias = without({});
    bias.add("b_O", zeros({9}));
    CHECK_THROWS_WITH(load(bias), Catch::Contains("b_O"));
}
