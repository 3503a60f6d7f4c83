#include "core/base/file.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/model/model.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/families/same_architecture.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

Architecture nested_parse(const json& value) {
    return read_architecture(value.dump(), "config.json");
}

std::string nested_fault(const json& value) {
    return input_error([&] { nested_parse(value); });
}

json config_of(const std::string& name) {
    return json::parse(read_file(test_data("/models/" + name + "/config.json")));
}

/// A copy of a golden model whose tensors have other names and whose config is changed.
class Renamed {
public:
    Renamed(const std::string& name, const std::function<std::string(const std::string&)>& rename,
            const std::function<void(json&)>& change = {}) {
        const std::string bytes = read_file(test_data("/models/" + name + "/model.safetensors"));
        std::uint64_t size = 0;
        std::memcpy(&size, bytes.data(), sizeof size);
        const std::uint64_t data = sizeof size + size;
        json header = json::object();
        const json before = json::parse(bytes.substr(sizeof size, size));
        for (const auto& [tensor, entry] : before.items())
            header[tensor == "__metadata__" ? tensor : rename(tensor)] = entry;
        std::string text = header.dump();
        text.resize((text.size() + 7) / 8 * 8, ' ');
        std::string out(sizeof size, '\0');
        size = text.size();
        std::memcpy(out.data(), &size, sizeof size);
        out += text + bytes.substr(data);
        write_file_atomically(folder_.file("model.safetensors"), out);
        json config = config_of(name);
        if (change)
            change(config);
        write_file_atomically(folder_.file("config.json"), config.dump());
    }
    Model open() const { return Model::open(folder_.file("")); }

private:
    TemporaryFolder folder_;
};

/// Returns true if the model gives the golden numbers of a case.
bool agrees(const Model& model, const std::string& name) {
    const ModelCase one = load_model_case(name);
    const ForwardResult result = run_on_cpu(model, one.inputs, {});
    return result.logits != nullptr && one.logits_difference(*result.logits) < 1e-4;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
    return text.starts_with(from) ? to + text.substr(from.size()) : text;
}

} // namespace

TEST_CASE("a sparse text_config takes the defaults of its own class") {
    // As the published gemma-3-4b.
    const Architecture gemma = nested_parse({{"model_type", "gemma3"},
                                             {"eos_token_id", {1, 106}},
                                             {"torch_dtype", "bfloat16"},
                                             {"text_config",
                                              {{"hidden_size", 2560},
                                               {"intermediate_size", 10240},
                                               {"model_type", "gemma3_text"},
                                               {"num_hidden_layers", 34},
                                               {"rope_scaling", {{"factor", 8.0}, {"rope_type", "linear"}}},
                                               {"sliding_window", 1024}}}});
    CHECK((gemma.family == "gemma3" && gemma.layers == 34 && gemma.D == 2560 && gemma.vocab == 262208));
    CHECK((gemma.H == 8 && gemma.Hkv == 4 && gemma.dk == 256 && gemma.tied));
    CHECK(gemma.score_scale == 1.0 / 16);
    CHECK((gemma.windows[4] == 1024 && !gemma.windows[5] && gemma.windows[6] == 1024));
    CHECK((gemma.ropes[0].theta == 1e6 && gemma.ropes[1].theta == 1e4));
    CHECK(gemma.ropes[0].scaling.factor == 8.0);
    CHECK(gemma.end_tokens == std::vector<std::int64_t>{1, 106});
    CHECK(gemma.dtype == "bfloat16");
    // As llava-1.5-7b and llava-v1.6-mistral-7b.
    const Architecture llava = nested_parse(
        {{"model_type", "llava"},
         {"tie_word_embeddings", false},
         {"text_config", {{"model_type", "llama"}, {"rms_norm_eps", 1e-5}, {"vocab_size", 32064}}}});
    CHECK((llava.D == 4096 && llava.Hkv == 32 && llava.vocab == 32064 && !llava.tied));
    const Architecture mistral = nested_parse({{"model_type", "llava_next"},
                                               {"text_config",
                                                {{"model_type", "mistral"},
                                                 {"rope_theta", 1e6},
                                                 {"sliding_window", nullptr},
                                                 {"vocab_size", 32064}}}});
    CHECK((mistral.Hkv == 8 && mistral.d_ff == 14336 && !mistral.windows[0]));
    CHECK(
        nested_parse({{"model_type", "mistral3"}, {"text_config", {{"num_hidden_layers", 2}}}}).windows[0] ==
        4096);
    CHECK(nested_parse({{"model_type", "qwen3_vl"}}).ropes[0].theta == 5e6);
    CHECK(nested_parse({{"model_type", "qwen3_vl"}}).qk_norm == QkNorm::per_head);
}

TEST_CASE("the language model of Qwen's checkpoints with images is at the top or nested") {
    for (const char* name : {"qwen2_vl", "qwen2_5_vl", "qwen3_vl"}) {
        INFO(name);
        const json own = {{"hidden_size", 64},        {"num_attention_heads", 4}, {"num_hidden_layers", 2},
                          {"num_key_value_heads", 2}, {"head_dim", 16},           {"vocab_size", 90}};
        json top = own, nested = {{"text_config", own}};
        top["model_type"] = nested["model_type"] = name;
        const Architecture plain = nested_parse(top);
        CHECK(same_architecture(plain, nested_parse(nested)));
        CHECK((plain.D == 64 && plain.vocab == 90));
        nested["text_config"]["rope_scaling"] = {{"rope_type", "default"}};
        const Architecture turned = nested_parse(nested);
        // For a text the three sections of mrope turn by the same positions.
        for (const json& rope :
             {json{{"type", "mrope"}, {"mrope_section", {2, 3, 3}}},
              json{{"rope_type", "default"}, {"mrope_interleaved", true}, {"mrope_section", {2, 3, 3}}}}) {
            json with = nested;
            with["text_config"]["rope_scaling"] = rope;
            CHECK(same_architecture(nested_parse(with), turned));
        }
    }
    CHECK_THAT(nested_fault({{"model_type", "llama"}, {"rope_scaling", {{"type", "mrope"}}}}),
               Contains("mrope"));
}

TEST_CASE("faults of a nested language model name its object") {
    CHECK_THAT(nested_fault({{"model_type", "llava"}, {"text_config", {{"hidden_size", "x"}}}}),
               Contains("config.json: text_config: hidden_size is \"x\""));
    CHECK_THAT(nested_fault({{"model_type", "llava"}, {"text_config", 3}}), Contains("text_config is 3"));
    CHECK_THAT(nested_fault({{"model_type", "gemma3"}, {"text_config", {{"model_type", "llama"}}}}),
               Contains("model_type is \"llama\"; it should be gemma3_text"));
    for (const char* inner : {"bert", "gpt2", "t5"})
        CHECK_THAT(nested_fault({{"model_type", "llava"}, {"text_config", {{"model_type", inner}}}}),
                   Contains("named like Llama's"));
    for (const char* inner : {"llava", "umt5"})
        CHECK_THAT(nested_fault({{"model_type", "llava"}, {"text_config", {{"model_type", inner}}}}),
                   Contains("one of gpt2, bert"));
    CHECK_THAT(nested_fault({{"model_type", "mistral3"}, {"text_config", {{"add_cross_attention", true}}}}),
               Contains("add_cross_attention"));
    CHECK_THAT(nested_fault({{"model_type", "llava"}, {"text_config", {{"model_type", "deberta"}}}}),
               Contains("deberta models are not computed here") && Contains("deberta-v2"));
}

TEST_CASE("a kind that does not open is named with the reason and the nearest that does") {
    CHECK_THAT(nested_fault({{"model_type", "deberta"}}),
               Contains("deberta models are not computed here because their scores depend on distances") &&
                   Contains("nearest family that opens is deberta-v2"));
    CHECK_THAT(nested_fault({{"model_type", "whisper"}}), Contains("sound") && Contains("bart"));
    CHECK_THAT(nested_fault({{"model_type", "paligemma"}}),
               Contains("both directions") && Contains("gemma3"));
}

TEST_CASE("tensors of a nested language model are found under all of their usual names") {
    const auto newer = [](const std::string& old) {
        if (old == "language_model.lm_head.weight")
            return std::string("lm_head.weight");
        return old.starts_with("language_model.model.")
                   ? replaced(old, "language_model.model.", "model.language_model.")
                   : "model." + old;
    };
    for (const char* name : {"gemma3_nested_tiny", "mistral3_tiny", "llava_tiny"}) {
        INFO(name);
        const Renamed renamed(name, newer);
        const Model model = renamed.open();
        CHECK(model.report().unknown.empty());
        CHECK(model.report().other_parts.at(OtherPart::vision).tensors > 0);
        CHECK(agrees(model, name));
    }
    const Renamed qwen("qwen2_5_vl_tiny", [](const std::string& old) {
        return old.starts_with("lm_head")   ? old
               : old.starts_with("visual.") ? "model." + old
                                            : replaced(old, "model.", "model.language_model.");
    });
    CHECK(agrees(qwen.open(), "qwen2_5_vl_tiny"));
    const Renamed omni(
        "qwen2_5_vl_tiny", [](const std::string& old) { return "thinker." + old; },
        [](json& config) {
            json text = config;
            text["model_type"] = "qwen2_5_omni_text";
            config = {{"model_type", "qwen2_5_omni"}, {"thinker_config", {{"text_config", text}}}};
        });
    CHECK(agrees(omni.open(), "qwen2_5_vl_tiny"));
    const Renamed llama4(
        "llama4_text_tiny", [](const std::string& old) { return "language_model." + old; },
        [](json& config) {
            config = {{"model_type", "llama4"}, {"text_config", config}};
        });
    CHECK(llama4.open().architecture().family == "llama4");
    CHECK(agrees(llama4.open(), "llama4_text_tiny"));
    const Renamed gemma3n(
        "gemma3n_text_tiny",
        [](const std::string& old) { return replaced(old, "model.", "model.language_model."); },
        [](json& config) {
            config = {{"model_type", "gemma3n"}, {"text_config", config}};
        });
    CHECK(gemma3n.open().architecture().family == "gemma3n");
    CHECK(agrees(gemma3n.open(), "gemma3n_text_tiny"));
    const Renamed internvl(
        "llava_tiny",
        [](const std::string& old) {
            return replaced(replaced(old, "vision_tower.vision_model.", "vision_model."),
                            "multi_modal_projector.", "mlp1.");
        },
        [](json& config) {
            config = {{"model_type", "internvl_chat"}, {"llm_config", config.at("text_config")}};
        });
    CHECK(internvl.open().report().unknown.empty());
    CHECK(agrees(internvl.open(), "llava_tiny"));
}

TEST_CASE("the file decides if the head of a nested language model is its own") {
    const auto same = [](const std::string& old) { return old; };
    // The outer default of newer versions says tied although the file has a head.
    const Renamed head("mistral3_tiny", same, [](json& config) { config["tie_word_embeddings"] = true; });
    CHECK_FALSE(head.open().architecture().tied);
    CHECK(agrees(head.open(), "mistral3_tiny"));
    const auto headless = [](const std::string& old) {
        return old.find("lm_head") == std::string::npos ? old : std::string("vision_tower.spare.weight");
    };
    const Renamed without("mistral3_tiny", headless);
    CHECK(without.open().architecture().tied);
    CHECK(without.open().has_head());
    const Renamed base("mistral3_tiny", headless,
                       [](json& config) { config["tie_word_embeddings"] = false; });
    CHECK_FALSE(base.open().has_head());
}

TEST_CASE("the parts of a multimodal checkpoint are told apart by the names of their tensors") {
    for (const char* vision :
         {"vision_tower.a.weight", "model.visual.merger.ln_q.weight", "thinker.visual.x", "mlp1.0.weight",
          "model.multi_modal_projector.linear_1.bias", "image_newline", "vision_model.x", "gen_head.x"})
        CHECK(other_part_of(vision) == OtherPart::vision);
    CHECK(other_part_of("thinker.audio_tower.conv1.weight") == OtherPart::audio);
    CHECK(other_part_of("talker.model.norm.weight") == OtherPart::speech);
    for (const char* text : {"model.norm.weight", "language_model.model.norm.weight", "lm_head.weight",
                             "model.language_model.layers.0.mlp.up_proj.weight", "thinker.lm_head.weight"})
        CHECK_FALSE(other_part_of(text).has_value());
    CHECK(left_out_sentence({}).empty());
    CHECK(
        left_out_sentence({{OtherPart::audio, {}}, {OtherPart::vision, {}}}) ==
        "Only the language model of this checkpoint is computed; its parts for images, sound are left out.");
}
