#include "core/base/error.h"
#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <rapidcheck.h>

using namespace headscope;
using namespace headscope::format;

namespace {

const std::string corpus = test_data("/corpus/safetensors/");

std::string message_of(const std::string& name) {
    try {
        static_cast<void>(Safetensors::open(corpus + name));
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::input);
        return error.what();
    }
    return "";
}

/// A file with one tensor `a` at the front of the data.
std::string one_tensor(const std::string& dtype, const std::string& shape, std::string_view data) {
    std::string header = R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[0,)" +
                         std::to_string(data.size()) + "]}}";
    const std::uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
    return bytes + header + std::string(data);
}

template<class Number>
std::string_view raw(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

Safetensors open_one(const std::string& dtype, const std::string& shape, std::string_view data) {
    return Safetensors::from_bytes(one_tensor(dtype, shape, data), "file");
}

} // namespace

TEST_CASE("the safetensors corpus is accepted or refused as its names say") {
    int good = 0, bad = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
        const std::string name = entry.path().filename().string();
        const std::string message = message_of(name);
        INFO(name << ": " << message);
        CHECK(message.empty() == name.starts_with("good_"));
        if (!message.empty())
            CHECK(message.find(name) != std::string::npos);
        ++(name.starts_with("good_") ? good : bad);
    }
    CHECK(good >= 9);
    CHECK(bad >= 40);
}

TEST_CASE("refusals say which tensor is at fault, and what to do with files of other kinds") {
    using Catch::Contains;
    CHECK_THROWS_WITH(Safetensors::from_bytes("x", "file"), Contains("file has 1 byte, too few"));
    CHECK_THROWS_WITH(Safetensors::from_bytes("xy", "file"), Contains("file has 2 bytes, too few"));
    CHECK_THAT(message_of("bad_overlap.safetensors"), Contains("tensor b overlaps"));
    CHECK_THAT(message_of("bad_size_too_small.safetensors"), Contains("shape (2) does not fit its 4 bytes"));
    CHECK_THAT(message_of("bad_duplicate.safetensors"), Contains("key \"a\" twice"));
    CHECK_THAT(message_of("bad_deep.safetensors"), Contains("nested more than 64"));
    CHECK_THAT(message_of("bad_pickle.safetensors"), Contains("safetensors.torch.save_file"));
    CHECK_THAT(message_of("bad_torch_zip.safetensors"), Contains("safetensors.torch.save_file"));
    CHECK_THAT(message_of("bad_git_lfs.safetensors"), Contains("git lfs pull"));
    CHECK_THAT(message_of("nowhere.safetensors"), Contains("No such file"));
}

TEST_CASE("every type is read as the number that Python wrote") {
    const Safetensors file = Safetensors::open(corpus + "good_all_types.safetensors");
    CHECK_THROWS_WITH(file.tensor("f64"),
                      Catch::Contains("tensor f64") && Catch::Contains("float32 cannot hold"));
    CHECK(file.tensor("f32")->at(0) == 0.25F);
    const TensorPtr half = file.tensor("f16");
    CHECK(half->at(0) == 1.0F);
    CHECK(half->at(1) == std::ldexp(1.0F, -24));
    CHECK(half->at(2) == -65504.0F);
    CHECK(file.tensor("bf16")->at(0) == 1.0F);
    CHECK(file.tensor("bf16")->at(1) == -std::numeric_limits<float>::infinity());
    CHECK(file.integers("i64") == std::vector<std::int64_t>{-(std::int64_t{1} << 62)});
    CHECK(file.integers("i32") == std::vector<std::int64_t>{-7});
    CHECK(file.integers("u8") == std::vector<std::int64_t>{0, 200});
    CHECK(file.integers("bool") == std::vector<std::int64_t>{1, 0, 1});
    CHECK_THROWS_WITH(file.integers("f32"), Catch::Contains("tensor f32 is F32; store it as I64"));
    CHECK(file.bools("bool")->shape == Shape{1, 3});
    CHECK(file.bools("bool")->values == std::vector<std::uint8_t>{1, 0, 1});
    CHECK_THROWS_WITH(file.bools("u8"), Catch::Contains("number 1 of tensor u8 is 200"));
    CHECK_THROWS_WITH(file.tensor("i8"), Catch::Contains("tensor i8 is I8; store it as F32"));
    CHECK_THROWS_WITH(file.bools("f32"), Catch::Contains("store it as BOOL"));
    CHECK_THROWS_WITH(file.tensor("X"), Catch::Contains("has no tensor X; it has bf16, bool"));
}

TEST_CASE("ranks above 4 can be listed but not used") {
    const Safetensors file = Safetensors::open(corpus + "good_rank_8.safetensors");
    CHECK(file.find("r")->shape_text() == "(1, 1, 1, 1, 1, 1, 2, 2)");
    CHECK_THROWS_WITH(file.tensor("r"), Catch::Contains("has 8 axes"));
}

TEST_CASE("all 65536 half and bfloat16 numbers keep their value") {
    std::vector<std::uint16_t> bits(65536);
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = static_cast<std::uint16_t>(i);
    const TensorPtr half = open_one("F16", "[65536]", raw(bits)).tensor("a");
    const TensorPtr brain = open_one("BF16", "[65536]", raw(bits)).tensor("a");
    int different = 0;
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto exponent = static_cast<int>(i >> 10U & 31U);
        const auto fraction = static_cast<float>(i & 1023U);
        const float size = exponent == 31  ? (fraction > 0 ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024.0F + fraction, exponent - 25);
        const float expected = std::copysign(size, i >= 32768 ? -1.0F : 1.0F);
        const float got = half->at(i);
        different += std::isnan(expected) ? !std::isnan(got) : std::memcmp(&expected, &got, sizeof(got)) != 0;
        std::uint32_t wide = 0;
        std::memcpy(&wide, brain->data() + i, sizeof(wide));
        different += wide != i << 16U;
    }
    CHECK(different == 0);
}

TEST_CASE("F64 is rounded to the nearest float32, and special values pass") {
    const std::vector<double> numbers{0.1, -1.0 / 3, 3.4028234663852886e38, 1e-300, INFINITY, NAN};
    const TensorPtr tensor = open_one("F64", "[2,3]", raw(numbers)).tensor("a");
    CHECK(tensor->at(0, 0) == 0.1F);
    CHECK(tensor->at(0, 1) == -1.0F / 3);
    CHECK(tensor->at(0, 2) == std::numeric_limits<float>::max());
    CHECK(tensor->at(1, 0) == 0.0F);
    CHECK(std::isinf(tensor->at(1, 1)));
    CHECK(std::isnan(tensor->at(1, 2)));
}

TEST_CASE("what is written reads back the same, from aligned bytes that depend on the content alone") {
    CHECK(rc::check("round trip", [](const std::vector<float>& floats, const std::vector<bool>& flags,
                                     const std::vector<std::int64_t>& integers, const std::string& letters) {
        std::string name = letters; // as ASCII
        for (char& letter : name)
            letter = static_cast<char>(letter & 0x7F);
        const auto extent = static_cast<std::int64_t>(floats.size());
        const auto tensor = make_tensor({1, extent}, floats);
        const auto bools = std::make_shared<BoolTensor>(
            BoolTensor{{static_cast<std::int64_t>(flags.size())}, {flags.begin(), flags.end()}});
        SafetensorsWriter first, second;
        first.set_metadata("text", name);
        first.add(name + "1", tensor);
        first.add(name + "2", bools);
        first.add_integers(name + "3", {static_cast<std::int64_t>(integers.size())}, integers);
        second.add_integers(name + "3", {static_cast<std::int64_t>(integers.size())}, integers);
        second.add(name + "2", bools);
        second.add(name + "1", tensor);
        second.set_metadata("text", name);
        const std::string bytes = first.bytes();
        RC_ASSERT(bytes == second.bytes());
        std::uint64_t header = 0;
        std::memcpy(&header, bytes.data(), sizeof(header));
        RC_ASSERT(header % 8 == 0U);

        const Safetensors file = Safetensors::from_bytes(bytes, "file");
        RC_ASSERT(file.metadata().at("text") == name);
        RC_ASSERT(file.find(name + "3")->begin == 0U); // the widest type is the first
        const TensorPtr read = file.tensor(name + "1");
        RC_ASSERT(read->shape() == tensor->shape());
        RC_ASSERT(std::memcmp(read->data(), tensor->data(), floats.size() * sizeof(float)) == 0);
        RC_ASSERT(file.bools(name + "2")->values == bools->values);
        RC_ASSERT(file.integers(name + "3") == integers);
    }));
}

TEST_CASE("the same name twice is our own fault") {
    SafetensorsWriter writer;
    writer.add("a", std::make_shared<const Tensor>(Shape{1}, 0.0F));
    CHECK_THROWS_AS(writer.add("a", std::make_shared<const Tensor>(Shape{1}, 0.0F)), Error);
}
