#include "core/base/error.h"
#include "core/base/file.h"
#include "core/project/mask_json.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <cmath>
#include <filesystem>

using namespace headscope;
using namespace headscope::project;

namespace {

const std::string mask_corpus = test_data("/corpus/mask/");

template<class Rule>
Rule only(const std::string& text) {
    const Mask mask = parse_mask(text);
    REQUIRE(mask.size() == 1);
    REQUIRE(std::holds_alternative<Rule>(mask.front()));
    return std::get<Rule>(mask.front());
}

} // namespace

TEST_CASE("the mask corpus is accepted or refused as its names say") {
    int good = 0, bad = 0;
    for (const auto& entry : std::filesystem::directory_iterator(mask_corpus)) {
        const std::string name = entry.path().filename().string();
        INFO(name);
        const std::string text = read_file(entry.path().string());
        if (name.starts_with("good_")) {
            CHECK_NOTHROW(parse_mask(text));
            ++good;
        } else {
            CHECK_THROWS_AS(parse_mask(text), Error);
            ++bad;
        }
    }
    CHECK(good >= 11);
    CHECK(bad >= 35);
}

TEST_CASE("rules keep their parameters") {
    CHECK(parse_mask("causal").size() == 1);
    CHECK(parse_mask("none").empty());
    CHECK(only<SlidingWindowCausalMask>(R"([{"kind":"sliding_window_causal","window":4}])").window == 4);
    CHECK(only<SlidingWindowSymmetricMask>(R"([{"kind":"sliding_window_symmetric","half_width":2}])")
              .half_width == 2);
    CHECK(only<ChunkedCausalMask>(R"([{"kind":"chunked_causal","chunk":4}])").chunk == 4);
    CHECK(describe_mask({ChunkedCausalMask{4}}) == R"([{"chunk":4,"kind":"chunked_causal"}])");

    const auto padding =
        only<KeyPaddingMask>(R"([{"kind":"key_padding","key_valid":[[1,1,0],[true,false,false]]}])");
    CHECK(padding.key_valid->shape == Shape{2, 3});
    CHECK(padding.key_valid->values == std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0});
    CHECK(only<KeyPaddingMask>(R"([{"kind":"key_padding","key_valid":[1,0]}])").key_valid->shape ==
          Shape{1, 2});

    const auto allowed =
        only<ExplicitMask>(R"([{"kind":"explicit","allowed":[[[1,0],[0,1],[1,1]]]}])").allowed;
    CHECK(allowed->shape == Shape{1, 3, 2});
    CHECK(allowed->values == std::vector<std::uint8_t>{1, 0, 0, 1, 1, 1});

    const auto add = only<AdditiveMask>(R"([{"kind":"additive","add":[[0,-1.5],["-inf",0.1]]}])").add;
    CHECK(add->shape() == Shape{2, 2});
    CHECK(add->at(0, 1) == -1.5F);
    CHECK(add->at(1, 0) == -INFINITY);
    CHECK(add->at(1, 1) == 0.1F);
    CHECK(only<AdditiveMask>(R"([{"kind":"additive","seed":5001}])").add == nullptr);
}

TEST_CASE("a refusal names the rule by its index") {
    CHECK_THROWS_WITH(parse_mask(R"([{"kind":"causal"},{"kind":"diagonal"}])"),
                      Catch::StartsWith("mask rule 1 (\"diagonal\") is of an unknown kind"));
    CHECK_THROWS_WITH(parse_mask(R"([{"kind":"key_padding","key_valid":[[1,1],[1]]}])"),
                      Catch::StartsWith("mask rule 0") && Catch::Contains("ragged"));
    CHECK_THROWS_WITH(parse_mask(R"([{"kind":"sliding_window_causal","window":0}])"),
                      Catch::Contains("window is 0; give a whole number from 1"));
    CHECK_THROWS_WITH(parse_mask(R"([{"kind":"causal","window":3}])"),
                      Catch::Contains("does not take \"window\""));
}

TEST_CASE("a described mask is the list form again where it has no tensor") {
    const std::string text = R"([{"kind":"causal"},{"key_valid":[[1,0]],"kind":"key_padding"},)"
                             R"({"kind":"sliding_window_causal","window":4}])";
    CHECK(describe_mask(parse_mask(text)) == text);
    CHECK(describe_mask(parse_mask(R"([{"kind":"explicit","allowed":[[1,0]]}])")) ==
          R"([{"kind":"explicit","shape":[1,2]}])");
}
