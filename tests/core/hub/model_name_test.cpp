#include "core/hub/model_name.h"

#include "tests/catch.h"
#include "tests/support.h"

using namespace headscope;
using namespace headscope::hub;
using Catch::Contains;

TEST_CASE("a model is named with or without owner and revision") {
    CHECK(parse_model_name("gpt2") == ModelName{"gpt2", "main"});
    CHECK(parse_model_name("openai-community/gpt2") == ModelName{"openai-community/gpt2", "main"});
    CHECK(parse_model_name("EleutherAI/pythia-70m@step1000") ==
          ModelName{"EleutherAI/pythia-70m", "step1000"});
    CHECK(parse_model_name("a/b@refs/pr/1") == ModelName{"a/b", "refs/pr/1"});
    CHECK(model_label({"a/b", "main"}) == "a/b");
    CHECK(model_label({"a/b", "v1"}) == "a/b@v1");
}

TEST_CASE("a text that the Hub does not allow as a name is not one") {
    const std::string text =
        GENERATE(as<std::string>(), "", "a/b/c", "../b", "a/..", "/b", "a/", "a--b", "-a", "a.", "a b",
                 "a/b.git", "https://huggingface.co/a/b", "a/b@", "a/b@../main", "a/b@refs//x", "a/b@.hidden",
                 "a\\b", std::string(97, 'a'));
    CHECK_FALSE(parse_model_name(text));
    CHECK_THAT(input_error([&] { require_model_name(text); }), Contains("openai-community/gpt2"));
}
