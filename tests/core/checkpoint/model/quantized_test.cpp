#include "core/checkpoint/model/quantized.h"

#include "core/base/file.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/text_model.h"
#include "core/format/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// One part of a quantized matrix, as a package stores it.
struct StoredPart {
    std::string ending; ///< in place of ".weight"
    std::string dtype;
    std::vector<std::int64_t> extents;
    std::size_t bytes; ///< all of them
};

/// A kind of quantized folder.
struct QuantizedKind {
    std::string name; ///< in the sentence
    json config;      ///< merged into config.json
    std::vector<StoredPart> parts;
    bool names_speak = true; ///< the kind is recognized without `config`
};

/// Parts of a matrix (32, 32). Names and types as the loaders of transformers 5.5 (quantizers/ and
/// integrations/), MLX and ModelOpt expect them.
std::vector<QuantizedKind> quantized_kinds() {
    const StoredPart int8{".weight", "I8", {32, 32}, 1024}, packed{".weight", "U8", {512, 1}, 512};
    const StoredPart columns{".qweight", "I32", {32, 4}, 512}, rows{".qweight", "I32", {4, 32}, 512};
    const StoredPart zeros{".qzeros", "I32", {1, 4}, 16}, scales{".scales", "F16", {1, 32}, 64};
    const auto method = [](const char* name, json more = json::object()) {
        more["quant_method"] = name;
        return json{{"quantization_config", more}};
    };
    return {
        {"FP8", method("fp8"), {{".weight", "F8_E4M3", {32, 32}, 1024}}},
        {"FP8", method("fp8"), {{".weight", "F8_E5M2", {32, 32}, 1024}}},
        {"compressed-tensors",
         method("compressed-tensors", {{"format", "pack-quantized"}}),
         {{".weight_packed", "I32", {32, 4}, 512}, {".weight_shape", "I64", {2}, 16}}},
        {"bitsandbytes, 8 bits",
         method("bitsandbytes", {{"load_in_8bit", true}, {"load_in_4bit", false}}),
         {{".weight", "I8", {1024}, 1024}, {".SCB", "F32", {32}, 128}}},
        {"bitsandbytes, 8 bits", {{"quantization_config", {{"load_in_8bit", true}}}}, {int8}, false},
        {"bitsandbytes, 4 bits",
         method("bitsandbytes", {{"load_in_4bit", true}}),
         {packed, {".weight.absmax", "F32", {16}, 64}, {".weight.quant_map", "F32", {16}, 64}}},
        {"GPTQ, 4 bits",
         method("gptq", {{"bits", 4}, {"group_size", 32}}),
         {rows, scales, {".g_idx", "I32", {32}, 128}}},
        {"GPTQ, 4 bits, marlin",
         method("gptq", {{"bits", 4}, {"checkpoint_format", "marlin"}}),
         {rows, zeros, scales},
         false},
        {"AWQ, 4 bits, gemv",
         method("awq", {{"bits", 4}, {"version", "gemv"}}),
         {columns, zeros, scales},
         false},
        {"AutoRound, 4 bits", method("auto-round", {{"bits", 4}}), {rows, zeros, scales}, false},
        {"HQQ", method("hqq"), {{".W_q", "U8", {16, 32}, 512}, {".scale", "F16", {1, 32}, 64}}},
        {"EETQ", method("eetq"), {int8, {".weight_scales", "F16", {32}, 64}}},
        {"AQLM", method("aqlm"), {{".codes", "I8", {32, 4, 1}, 128}, {".codebooks", "F16", {1, 1}, 2}}},
        {"quanto",
         method("quanto", {{"weights", "int8"}}),
         {{".weight._data", "I8", {32, 32}, 1024}, {".weight._scale", "F32", {32, 1}, 128}}},
        {"torchao",
         method("torchao"),
         {{"._weight_qdata", "I8", {32, 32}, 1024}, {"._weight_scale", "F32", {32}, 128}}},
        {"MXFP4", method("mxfp4"), {{"_proj_blocks", "U8", {32, 16}, 512}, {"_proj_scales", "U8", {32}, 32}}},
        {"MLX, 4 bits",
         {{"quantization", {{"group_size", 32}, {"bits", 4}}},
          {"quantization_config", {{"group_size", 32}, {"bits", 4}}}},
         {{".weight", "U32", {32, 4}, 512},
          {".scales", "F16", {32, 1}, 64},
          {".biases", "F16", {32, 1}, 64}}},
        {"BitNet", method("bitnet"), {packed, {".weight_scale", "F32", {1}, 4}}, false},
        {"VPTQ", method("vptq"), {{".centroids.weight", "F16", {1, 32}, 64}}},
        {"SpQR", method("spqr"), {{".dense_weights", "I64", {4}, 32}}},
        {"HIGGS", method("higgs"), {{".weight", "I16", {32, 8}, 512}, {".tables2", "F16", {4}, 8}}},
        {"FP-Quant",
         method("fp_quant"),
         {{".qweight", "U8", {32, 16}, 512}, {".forward_hadamard_matrix", "F32", {1, 1}, 4}}},
        {"ModelOpt", method("modelopt"), {packed, {".weight_scale_2", "F32", {}, 4}}},
        {"Quark", method("quark"), {int8}, false},
        {"something-new", method("something-new"), {int8}, false},
        {"down_proj.weight holds int8", json::object(), {int8}},
    };
}

/// Llama's tiny model, with each matrix of its layers in the given parts.
void write_quantized(const TemporaryFolder& folder, const QuantizedKind& kind, bool with_config) {
    const std::string base = test_data("/models/llama_tiny_untied");
    json config = json::parse(read_file(base + "/config.json"));
    if (with_config)
        config.update(kind.config);
    write_file_atomically(folder.file("config.json"), config.dump());
    json header = json::object();
    std::size_t at = 0;
    const auto add = [&](const std::string& name, const std::string& dtype,
                         const std::vector<std::int64_t>& extents, std::size_t bytes) {
        header[name] = {{"dtype", dtype}, {"shape", extents}, {"data_offsets", {at, at + bytes}}};
        at += bytes;
    };
    const format::Safetensors file = format::Safetensors::open(base + "/model.safetensors");
    for (const format::SafetensorsEntry& entry : file.entries()) {
        const bool matrix = entry.name.ends_with("_proj.weight");
        if (!matrix)
            add(entry.name, entry.dtype, entry.extents, entry.end - entry.begin);
        for (const StoredPart& part : matrix ? kind.parts : std::vector<StoredPart>())
            add(entry.name.substr(0, entry.name.size() - std::string_view(".weight").size()) + part.ending,
                part.dtype, part.extents, part.bytes);
    }
    const std::string text = header.dump();
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(text.size() >> (8 * i) & 0xFFU);
    write_file_atomically(folder.file("model.safetensors"), bytes + text + std::string(at, '\0'));
}

} // namespace

TEST_CASE("quantized weights are named by config.json, or by the names and types of the tensors") {
    for (const QuantizedKind& kind : quantized_kinds())
        for (const bool with_config : {true, false}) {
            INFO(kind.name << ", config " << with_config);
            if (!with_config && !kind.names_speak)
                continue;
            const TemporaryFolder folder;
            write_quantized(folder, kind, with_config);
            const Model model = Model::open(folder.file(""));
            const std::string name = with_config ? kind.name : kind.name.substr(0, kind.name.find(", "));
            CHECK_THAT(model.problem(),
                       Contains("quantized (") && Contains(name) && Contains("GGUF") && Contains("download"));
            CHECK(input_error([&] { open_text_model(folder.file("")); }) == model.problem());
            CHECK(describe_model("one", folder.file("")).problem == model.problem());
        }
}

TEST_CASE("quantized weights are refused with --ignore-unknown too, and each remedy fits its kind") {
    const auto problem = [](std::string_view name) {
        for (const QuantizedKind& kind : quantized_kinds())
            if (kind.name == name) {
                const TemporaryFolder folder;
                write_quantized(folder, kind, true);
                return Model::open(folder.file("")).problem();
            }
        return std::string();
    };
    set_unknown_tensors(UnknownTensors::ignore);
    CHECK_THAT(problem("FP8"), Contains("FineGrainedFP8Config(dequantize=True)"));
    set_unknown_tensors(UnknownTensors::refuse);
    CHECK_THAT(problem("MXFP4"), Contains("Mxfp4Config(dequantize=True)"));
    CHECK_THAT(problem("bitsandbytes, 4 bits"), Contains("from_pretrained(path).dequantize()"));
    CHECK_THAT(problem("compressed-tensors"), Contains("run_compressed=False"));
    CHECK_THAT(problem("MLX, 4 bits"), Contains("mlx_lm.convert"));
    CHECK_THAT(problem("GPTQ, 4 bits"), !Contains("Python"));
}

TEST_CASE("a config that switches quantization off, or leaves it empty, is not quantized") {
    const std::string base = test_data("/models/llama_tiny_untied");
    for (const json& settings :
         {json(nullptr), json::object(), json{{"load_in_8bit", false}, {"load_in_4bit", false}}}) {
        const TemporaryFolder folder;
        json config = json::parse(read_file(base + "/config.json"));
        config["quantization_config"] = settings;
        write_file_atomically(folder.file("config.json"), config.dump());
        std::filesystem::create_symlink(base + "/model.safetensors", folder.file("model.safetensors"));
        CHECK(Model::open(folder.file("")).problem().empty());
    }
}

TEST_CASE("MLX files without quantization run where they fit, else the message names MLX") {
    const std::string base = test_data("/models/gpt2_tiny");
    const format::Safetensors file = format::Safetensors::open(base + "/model.safetensors");
    for (const bool renamed : {false, true}) {
        const TemporaryFolder folder;
        format::SafetensorsWriter writer;
        writer.set_metadata("format", "mlx");
        for (const format::SafetensorsEntry& entry : file.entries())
            writer.add(entry.name + (renamed ? "_renamed" : ""), file.tensor(entry.name));
        write_file_atomically(folder.file("model.safetensors"), writer.bytes());
        write_file_atomically(folder.file("config.json"), read_file(base + "/config.json"));
        const std::string problem = Model::open(folder.file("")).problem();
        CHECK(problem.empty() == !renamed);
        if (renamed)
            CHECK_THAT(problem, Contains("MLX saved these files") && Contains("gpt2"));
    }
}

TEST_CASE("every command says what quantized weights are and how to go on") {
    const TemporaryFolder folder;
    const std::vector<QuantizedKind> kinds = quantized_kinds();
    const auto awq = std::ranges::find(kinds, "AWQ, 4 bits, gemv", &QuantizedKind::name);
    write_quantized(folder, *awq, true);
    const std::string model = folder.file(""), words = "the weights are quantized (AWQ, 4 bits, gemv)";
    const ProgramRun text = run_program({"model", "info", model});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains("runs: no: " + model + ": " + words));
    const json info = json::parse(run_program({"model", "info", model, "--json"}).out);
    CHECK(info.at("quantization") == "AWQ, 4 bits, gemv");
    CHECK(info.at("runnable") == false);
    CHECK_THAT(info.at("problem").get<std::string>(), Contains(words));
    write_file_atomically(folder.file("reference.safetensors"),
                          read_file(test_data("/models/llama_tiny_untied/expected.safetensors")));
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"model", "check", model, "--reference", folder.file("reference.safetensors")},
             {"trace", "--model", model, "--ids", "1,2", "-o", folder.file("out.safetensors")},
             {"generate", "--model", model, "--ids", "1,2", "--tokens", "1"},
             {"explain", "--what", "logits", "--model", model, "--ids", "1,2"},
             {"map", "--model", model, "--ids", "1,2", "--head", "0", "--overview", "5", "-o",
              folder.file("x.npy")},
             {"heads", "--model", model, "--ids", "1,2"}}) {
        const ProgramRun run = run_program(command);
        INFO(command.front() << ": " << run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(words));
    }
}
