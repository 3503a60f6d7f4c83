#include "core/checkpoint/model/quantized.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/format/number_types.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

/// The ways in which weights get back to floating-point numbers.
enum class Way : std::uint8_t {
    other_file, ///< only by another file of the model
    method,     ///< model.dequantize() in transformers
    fp8,        ///< an option of from_pretrained in transformers
    mxfp4,
    compressed,
    metal,
    mlx ///< the converter of MLX
};

struct Method {
    std::string_view id; ///< quant_method in config.json
    std::string_view name;
    Way way = Way::other_file;
};

// The methods of Hugging Face's AUTO_QUANTIZER_MAPPING (quantizers/auto.py) and of ModelOpt, which vLLM
// reads.
constexpr std::array methods{Method{"fp8", "FP8", Way::fp8},
                             Method{"fbgemm_fp8", "FP8 (FBGEMM)"},
                             Method{"compressed-tensors", "compressed-tensors", Way::compressed},
                             Method{"bitsandbytes", "bitsandbytes", Way::method},
                             Method{"bitsandbytes_4bit", "bitsandbytes, 4 bits", Way::method},
                             Method{"bitsandbytes_8bit", "bitsandbytes, 8 bits", Way::method},
                             Method{"gptq", "GPTQ"},
                             Method{"awq", "AWQ"},
                             Method{"auto-round", "AutoRound"},
                             Method{"hqq", "HQQ"},
                             Method{"eetq", "EETQ"},
                             Method{"aqlm", "AQLM"},
                             Method{"quanto", "quanto"},
                             Method{"torchao", "torchao"},
                             Method{"mxfp4", "MXFP4", Way::mxfp4},
                             Method{"bitnet", "BitNet"},
                             Method{"vptq", "VPTQ"},
                             Method{"spqr", "SpQR"},
                             Method{"higgs", "HIGGS", Way::method},
                             Method{"quark", "Quark"},
                             Method{"fp_quant", "FP-Quant"},
                             Method{"fouroversix", "FourOverSix"},
                             Method{"metal", "Metal", Way::metal},
                             Method{"sinq", "SINQ"},
                             Method{"modelopt", "ModelOpt"},
                             Method{"mlx", "MLX", Way::mlx}};

std::string remedy_of(Way way) {
    const std::string other = tr(
        "quantized.download_model_made_weights",
        "download the model that it was made from, with weights in F32, F16 or BF16, or a GGUF file of it");
    constexpr std::string_view load = "from_pretrained(path, quantization_config=transformers.";
    const auto in_python = [&](const std::string& call) {
        return tr("quantized.dequantize_python_class_config",
                  "{}; or dequantize it in Python, with the class that config.json names under "
                  "architectures: {}, then save_pretrained",
                  other, call);
    };
    switch (way) {
    case Way::method:
        return in_python("from_pretrained(path).dequantize()");
    case Way::fp8:
        return in_python(std::string(load) + "FineGrainedFP8Config(dequantize=True))");
    case Way::mxfp4:
        return in_python(std::string(load) + "Mxfp4Config(dequantize=True))");
    case Way::compressed:
        return in_python(std::string(load) + "CompressedTensorsConfig(run_compressed=False))");
    case Way::metal:
        return in_python(std::string(load) + "MetalConfig(dequantize=True))");
    case Way::mlx:
        return tr("quantized.dequantize_mac", "{}; or dequantize it on a Mac: {}", other,
                  "mlx_lm.convert --hf-path MODEL --mlx-path NEW --dequantize");
    case Way::other_file:
        break;
    }
    return other;
}

QuantizedWeights quantized(std::string_view id, std::int64_t bits = 0, std::string_view layout = {}) {
    const auto row = std::ranges::find(methods, id, &Method::id);
    std::string kind(row == methods.end() ? id : row->name);
    if (bits > 0)
        kind = tr("quantized.bits", "{}, {} bits", kind, bits);
    if (!layout.empty())
        kind += ", " + std::string(layout);
    return {kind, remedy_of(row == methods.end() ? Way::other_file : row->way)};
}

std::int64_t bits_of(const json& settings) {
    for (const char* key : {"bits", "w_bit", "nbits"})
        if (const auto found = settings.find(key); found != settings.end() && found->is_number_integer())
            return found->get<std::int64_t>();
    return 0;
}

/// The layout of AWQ (version), GPTQ (checkpoint_format) or compressed-tensors (format).
std::string layout_of(const json& settings) {
    for (const char* key : {"version", "checkpoint_format", "format"})
        if (const auto found = settings.find(key); found != settings.end() && found->is_string())
            return found->get<std::string>();
    return "";
}

bool is_true(const json& settings, std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* key) {
        const auto found = settings.find(key);
        return found != settings.end() && found->is_boolean() && found->get<bool>();
    });
}

std::optional<QuantizedWeights> by_config(const json& config) {
    // MLX writes its own key, and newer versions a copy of it under the usual one.
    if (const auto own = config.find("quantization"); own != config.end() && own->is_object())
        return quantized("mlx", bits_of(*own));
    for (const char* key : {"quantization_config", "compression_config"}) {
        const auto settings = config.find(key);
        if (settings == config.end() || !settings->is_object())
            continue;
        if (const auto method = settings->find("quant_method");
            method != settings->end() && method->is_string()) {
            const std::string id = method->get<std::string>();
            if (id != "bitsandbytes")
                return quantized(id, bits_of(*settings), layout_of(*settings));
        } else if (std::string_view(key) == "compression_config") {
            return quantized("compressed-tensors");
        }
        if (is_true(*settings, {"load_in_4bit", "_load_in_4bit"}))
            return quantized("bitsandbytes_4bit");
        if (is_true(*settings, {"load_in_8bit", "_load_in_8bit"}))
            return quantized("bitsandbytes_8bit");
        if (settings->contains("quant_method"))
            return quantized("bitsandbytes");
    }
    return std::nullopt;
}

struct Sign {
    std::string_view ending; ///< of a tensor's name
    std::string_view id;
};

// Names that the packages give to the parts of a quantized matrix. The first match counts: later names occur
// beside several of the earlier ones.
constexpr std::array signs{Sign{".SCB", "bitsandbytes_8bit"},
                           Sign{".absmax", "bitsandbytes_4bit"},
                           Sign{".quant_state.bitsandbytes__nf4", "bitsandbytes_4bit"},
                           Sign{".quant_state.bitsandbytes__fp4", "bitsandbytes_4bit"},
                           Sign{".weight_packed", "compressed-tensors"},
                           Sign{"_proj_blocks", "mxfp4"},
                           Sign{".g_idx", "gptq"},
                           Sign{".W_q", "hqq"},
                           Sign{".codebooks", "aqlm"},
                           Sign{".weight._data", "quanto"},
                           Sign{"weight_qdata", "torchao"},
                           Sign{".weight_scales", "eetq"},
                           Sign{".centroids.weight", "vptq"},
                           Sign{".dense_weights", "spqr"},
                           Sign{".tables2", "higgs"},
                           Sign{".forward_hadamard_matrix", "fp_quant"},
                           Sign{".weight_scale_2", "modelopt"}};

/// GPTQ packs rows and AWQ columns, both of the matrix and of the zeros.
std::optional<QuantizedWeights> by_packed_weights(const TensorFiles& files) {
    constexpr std::string_view ending = ".qweight";
    for (const format::TensorEntry* entry : files.entries()) {
        if (!entry->name.ends_with(ending) || entry->extents.empty())
            continue;
        const std::string stem = entry->name.substr(0, entry->name.size() - ending.size());
        const format::TensorEntry* const zeros = files.find(stem + ".qzeros");
        const bool same_width =
            zeros != nullptr && !zeros->extents.empty() && zeros->extents.back() == entry->extents.back();
        return quantized(same_width ? "awq" : "gptq");
    }
    return std::nullopt;
}

bool is_float8(const format::TensorEntry* entry) {
    return entry->dtype.starts_with("F8_");
}

std::optional<QuantizedWeights> by_tensors(const TensorFiles& files) {
    const auto entries = files.entries();
    for (const Sign& sign : signs)
        if (std::ranges::any_of(entries,
                                [&](const auto* entry) { return entry->name.ends_with(sign.ending); }))
            return quantized(sign.id);
    if (auto packed = by_packed_weights(files))
        return packed;
    for (const format::TensorEntry* entry : entries)
        if (entry->dtype == "U32" && entry->name.ends_with(".weight") &&
            files.find(entry->name.substr(0, entry->name.size() - std::string_view("weight").size()) +
                       "scales") != nullptr)
            return quantized("mlx");
    if (std::ranges::any_of(entries, is_float8))
        return quantized("fp8");
    return std::nullopt;
}

} // namespace

std::string QuantizedWeights::sentence(const std::string& path) const {
    return tr("quantized.weights_quantized_not_read",
              "{}: the weights are quantized ({}) and not read in this form; {}", path, kind, remedy);
}

std::optional<QuantizedWeights> find_quantized(const Model& model) {
    const TensorFiles& files = model.files();
    if (files.gguf() != nullptr)
        return std::nullopt;
    const json config = parse_json(model.config_text(), model.folder() + "/config.json");
    if (auto found = config.is_object() && model.quantization().empty() ? by_config(config) : std::nullopt)
        return found;
    if (auto found = by_tensors(files))
        return found;
    const CheckpointReport& report = model.report();
    for (const format::TensorEntry* entry : files.entries()) {
        const format::NumberType* const type = format::find_safetensors_type(entry->dtype);
        const auto lists = [&](const std::vector<std::string>& names) {
            return std::ranges::find(names, entry->name) != names.end();
        };
        // The report names all tensors but those that the model reads.
        if (type != nullptr && type->read_floats == nullptr && !lists(report.unknown) &&
            !lists(report.unused))
            return quantized(tr("quantized.holds_numbers", "{} holds {} numbers", entry->name, type->name));
    }
    return std::nullopt;
}

std::string stored_sentence(const Model& model) {
    if (model.quantization().empty())
        return "";
    return tr(
        "quantized.stored",
        "The file has quantized weights ({}). They are turned into float32, so the numbers are those of "
        "the file, not of the model before it was quantized.",
        model.quantization());
}

bool is_saved_by_mlx(const TensorFiles& files) {
    using Opened = std::shared_ptr<const format::Safetensors>;
    return std::ranges::any_of(files.files(), [](const TensorFiles::File& file) {
        const Opened* const opened = std::get_if<Opened>(&file);
        if (opened == nullptr)
            return false;
        const auto format = (*opened)->metadata().find("format");
        return format != (*opened)->metadata().end() && format->second == "mlx";
    });
}

} // namespace headscope::checkpoint
