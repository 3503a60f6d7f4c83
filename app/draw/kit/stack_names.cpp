#include "app/draw/kit/stack_names.h"

#include "app/commands/actions.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

std::span<const StackNames> named_stacks() {
    using checkpoint::Stack;
    static constexpr std::array<StackNames, 3> all{
        {{Stack::encoder, translatable("stack_words.encoder", "Encoder"),
          translatable("stack_words.encoder_attention", "Encoder attention"),
          translatable("stack_words.source_reads_source", "source reads source"),
          translatable("stack_words.no_mask", "no mask"), "encoder heads"},
         {Stack::own, translatable("stack_words.decoder_self", "Decoder self"),
          translatable("stack_words.decoder_self_attention", "Decoder self-attention"),
          translatable("stack_words.target_reads_earlier_target", "target reads earlier target"),
          translatable("common.causal", "causal"), "decoder heads"},
         {Stack::cross, translatable("stack_words.cross", "Cross"),
          translatable("stack_words.cross_attention", "Cross-attention"),
          translatable("stack_words.target_reads_source", "target reads source"),
          translatable("stack_words.no_mask", "no mask"), "cross heads"}}};
    return all;
}

const StackNames& names_of_stack(checkpoint::Stack stack) {
    return *std::ranges::find(named_stacks(), stack, &StackNames::stack);
}

std::vector<Segment> stack_segments(const DrawContext& context) {
    std::vector<Segment> segments;
    for (const StackNames& words : named_stacks())
        segments.push_back({tr(words.name), ShowStack{words.stack},
                            words.stack == context.view.attention.stack,
                            with_key(tr(words.title) + ": " + tr(words.reads), words.action)});
    return segments;
}

} // namespace headscope::app
