#include "core/checkpoint/model/stacks.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <array>

namespace headscope::checkpoint {

std::int64_t attention_count(const ModelConfig& a) {
    return a.encoder == nullptr ? a.layers : a.encoder->layers + 2 * a.layers;
}

std::int64_t attention_number(const ModelConfig& a, AttentionPlace place) {
    if (a.encoder == nullptr || place.stack == Stack::encoder)
        return place.layer;
    return a.encoder->layers + 2 * place.layer + (place.stack == Stack::cross ? 1 : 0);
}

AttentionPlace attention_place(const ModelConfig& a, std::int64_t number) {
    if (a.encoder == nullptr)
        return {Stack::own, number};
    if (number < a.encoder->layers)
        return {Stack::encoder, number};
    const std::int64_t n = number - a.encoder->layers;
    return {n % 2 == 0 ? Stack::own : Stack::cross, n / 2};
}

std::span<const Stack> stacks_of(const ModelConfig& a) {
    static constexpr std::array one{Stack::own};
    static constexpr std::array three{Stack::encoder, Stack::own, Stack::cross};
    return a.encoder == nullptr ? std::span<const Stack>(one) : std::span<const Stack>(three);
}

const ModelConfig& in_stack(const ModelConfig& a, Stack stack) {
    return stack == Stack::encoder && a.encoder != nullptr ? *a.encoder : a;
}

std::string stack_name(const ModelConfig& a, Stack stack) {
    if (a.encoder == nullptr)
        return {};
    return stack == Stack::encoder ? "encoder" : stack == Stack::cross ? "cross" : "decoder";
}

std::string stack_prefix(const ModelConfig& a, Stack stack) {
    const std::string name = stack_name(a, stack);
    return name.empty() ? name : name + ".";
}

std::string layer_prefix(const ModelConfig& a, AttentionPlace place) {
    const std::string prefix = stack_prefix(a, place.stack);
    return place.layer < 0 ? prefix : prefix + "layers." + std::to_string(place.layer) + ".";
}

bool has_attention(const ModelConfig& a, AttentionPlace place) {
    return place.layer < 0 || in_stack(a, place.stack).has_attention(place.layer);
}

void require_attention(const ModelConfig& a, AttentionPlace place) {
    if (has_attention(a, place))
        return;
    std::string layers;
    for (std::int64_t l = 0; l < a.layers; ++l)
        if (a.has_attention(l))
            layers += (layers.empty() ? "" : ", ") + std::to_string(l);
    fail_input(tr("stacks.layer_without_attention",
                  "layer {} has a delta layer in place of attention, so it has no heads with weights; choose "
                  "one of the layers {}",
                  place.layer, layers));
}

std::int64_t key_attention(const ModelConfig& a, std::int64_t n) {
    AttentionPlace place = attention_place(a, n);
    if (place.stack == Stack::cross)
        return n;
    place.layer = in_stack(a, place.stack).key_layer(place.layer);
    return attention_number(a, place);
}

std::int64_t nearest_attention(const ModelConfig& a, AttentionPlace place) {
    const ModelConfig& sizes = in_stack(a, place.stack);
    std::int64_t layer = place.layer;
    while (layer < sizes.layers && !sizes.has_attention(layer))
        ++layer;
    if (layer < sizes.layers)
        return layer;
    layer = place.layer;
    while (layer > 0 && !sizes.has_attention(layer))
        --layer;
    return layer;
}

std::string attention_words(const ModelConfig& a, AttentionPlace place) {
    if (a.encoder == nullptr)
        return tr("common.layer_2", "layer {}", place.layer);
    if (place.stack == Stack::cross)
        return tr("stacks.cross_attention_layer", "the cross-attention of layer {}", place.layer);
    return place.stack == Stack::encoder ? tr("common.layer_encoder", "layer {} of the encoder", place.layer)
                                         : tr("stacks.layer_decoder", "layer {} of the decoder", place.layer);
}

} // namespace headscope::checkpoint
