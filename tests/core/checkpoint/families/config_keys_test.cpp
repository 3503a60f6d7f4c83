#include "core/base/file.h"
#include "core/checkpoint/families/families.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/families/same_architecture.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string every_family = "every family", inside_rope = "inside rope_parameters";

json read_table(const char* name) {
    return json::parse(read_file(test_data("/") + name));
}

/// Returns the meaning of a key in a family: the family's row, else the row for all families; null if there
/// is none.
json mark_of(const json& marks, const std::string& family, const std::string& key) {
    for (const std::string& table : {family, every_family})
        if (marks.contains(table) && marks.at(table).contains(key))
            return marks.at(table).at(key);
    return nullptr;
}

Architecture architecture_of(const json& config) {
    return read_architecture(config.dump(), "config.json");
}

/// Checks a mark against what the reader does with the key; `at` is where in the config it belongs.
void check_mark(const json& mark, const json& config, const json::json_pointer& at, const std::string& key) {
    json with = config, varied;
    const json beside = mark.value("with", json::object());
    for (const auto& [name, value] : beside.items())
        with[at / name] = value;
    varied = with;
    if (mark.contains("harmless")) {
        CHECK(mark.at("harmless").get<std::string>().size() > 3);
        const json values = mark.value("values", json{12345, "x", true});
        for (const json& value : values) {
            varied[at / key] = value;
            bool same = false;
            CHECK(input_error([&] {
                      same = same_architecture(architecture_of(with), architecture_of(varied));
                  }).empty());
            CHECK(same);
        }
    } else if (mark.contains("refused")) {
        varied[at / key] = mark.at("refused");
        CHECK_THAT(input_error([&] { architecture_of(varied); }), Contains(mark.value("words", key)));
    } else {
        varied[at / key] = mark.at("read");
        CHECK_FALSE(same_architecture(architecture_of(with), architecture_of(varied)));
    }
}

} // namespace

// tests/peers/make_config_keys.py lists the keys; tests/data/config_marks.json says what each means here.
TEST_CASE("every key that Hugging Face's classes know is read, refused or known to be harmless") {
    const json keys = read_table("config_keys.json"), marks = read_table("config_marks.json");
    std::size_t families = 0;
    for (const auto& [family, own] : keys.items()) {
        if (family == every_family || family == inside_rope)
            continue;
        ++families;
        std::vector<std::string> all = own.get<std::vector<std::string>>();
        for (const json& key : keys.at(every_family))
            all.push_back(key);
        for (const std::string& key : all) {
            INFO(family << " " << key);
            const json mark = mark_of(marks, family, key);
            CHECK(mark.size() >= 1);
            if (!mark.empty())
                check_mark(mark, {{"model_type", family}}, json::json_pointer(), key);
        }
    }
    std::size_t readable = 1;
    for (const char c : family_names())
        readable += c == ',' ? 1 : 0;
    constexpr std::size_t without_class = 2; // nanogpt and toy, which no class of Hugging Face is for
    CHECK(families + without_class == readable);
}

TEST_CASE("every key of a nested language model is read, refused or known to be harmless") {
    const json keys = read_table("config_keys.json"), marks = read_table("config_marks.json"),
               nested_marks = marks.at("inside a nested language model");
    struct Nested {
        const char *outer, *inner;
        std::vector<const char*> path = {"text_config"};
    };
    for (const Nested& nested :
         {Nested{"gemma3", "gemma3_text"}, Nested{"mistral3", "mistral"}, Nested{"llava", "llama"},
          Nested{"llava", "mistral"}, Nested{"llava", "qwen2"}, Nested{"llava_next", "llama"},
          Nested{"qwen2_vl", "qwen2_vl_text"}, Nested{"qwen2_5_vl", "qwen2_5_vl_text"},
          Nested{"qwen3_vl", "qwen3_vl_text"}, Nested{"llama4", "llama4_text"},
          Nested{"gemma3n", "gemma3n_text"},
          Nested{"qwen2_5_omni", "qwen2_5_omni_text", {"thinker_config", "text_config"}},
          Nested{"internvl_chat", "qwen2", {"llm_config"}},
          Nested{"multi_modality", "llama", {"language_config"}}}) {
        json::json_pointer at;
        for (const char* key : nested.path)
            at /= key;
        json config = {{"model_type", nested.outer}};
        config[at] = {{"model_type", nested.inner}};
        std::vector<std::string> all = keys.at(nested.inner).get<std::vector<std::string>>();
        for (const json& key : keys.at(every_family))
            all.push_back(key);
        for (const std::string& key : all) {
            INFO(nested.outer << " " << nested.inner << " " << key);
            const json mark =
                nested_marks.contains(key) ? nested_marks.at(key) : mark_of(marks, nested.inner, key);
            REQUIRE(mark.size() >= 1);
            check_mark(mark, config, at, key);
        }
    }
}

TEST_CASE("every key that Hugging Face's rotary positions know is read or refused") {
    const json keys = read_table("config_keys.json"), marks = read_table("config_marks.json");
    const json usual = {{"rope_type", "yarn"}, {"factor", 4.0}, {"rope_theta", 10000.0}};
    for (const char* place : {"rope_parameters", "rope_scaling"})
        for (const std::string key : keys.at(inside_rope)) {
            INFO(place << " " << key);
            check_mark(mark_of(marks, inside_rope, key), {{"model_type", "llama"}, {place, usual}},
                       json::json_pointer("/" + std::string(place)), key);
        }
}
