#include "core/checkpoint/quantized/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

const json* object_at(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_object() ? &*found : nullptr;
}

const json* settings_in(const json& config) {
    for (const char* key : {"quantization_config", "compression_config"})
        if (const json* const found = object_at(config, key))
            return found;
    const json* const text = object_at(config, "text_config");
    return text == nullptr ? nullptr : settings_in(*text);
}

std::string small_text(const json& settings, const char* key) {
    const auto found = settings.find(key);
    std::string text = found != settings.end() && found->is_string() ? found->get<std::string>() : "";
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

std::int64_t size_from(const json& value) {
    constexpr std::int64_t most = std::int64_t{1} << 30U;
    return value.is_number_integer() ? std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, most) : 0;
}

} // namespace

QuantizationSettings read_quantization_settings(const json& config) {
    QuantizationSettings out;
    const json* const settings = settings_in(config);
    if (settings == nullptr)
        return out;
    out.method = small_text(*settings, "quant_method");
    if (out.method.empty() && object_at(config, "compression_config") == settings)
        out.method = "compressed-tensors";
    out.layout = small_text(*settings, out.method == "awq" ? "version" : "checkpoint_format");
    if (const auto size = settings->find("group_size"); size != settings->end())
        out.group_size = size_from(*size);
    const auto block = settings->find("weight_block_size");
    if (block != settings->end() && block->is_array() && block->size() == 2 && size_from((*block)[0]) > 0 &&
        size_from((*block)[1]) > 0) {
        out.block_height = size_from((*block)[0]);
        out.block_width = size_from((*block)[1]);
    }
    return out;
}

} // namespace headscope::checkpoint
