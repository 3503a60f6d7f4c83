#include "app/draw/kit/stack_words.h"

#include "app/commands/actions.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

std::span<const StackWords> stack_words() {
    using checkpoint::Stack;
    static constexpr std::array<StackWords, 3> all{
        {{Stack::encoder, translatable("Encoder"), translatable("Encoder attention"),
          translatable("source reads source"), translatable("no mask"), "encoder heads"},
         {Stack::own, translatable("Decoder self"), translatable("Decoder self-attention"),
          translatable("target reads earlier target"), translatable("causal"), "decoder heads"},
         {Stack::cross, translatable("Cross"), translatable("Cross-attention"),
          translatable("target reads source"), translatable("no mask"), "cross heads"}}};
    return all;
}

const StackWords& words_of(checkpoint::Stack stack) {
    return *std::ranges::find(stack_words(), stack, &StackWords::stack);
}

std::vector<Segment> stack_segments(const DrawContext& context) {
    std::vector<Segment> segments;
    for (const StackWords& words : stack_words())
        segments.push_back({tr(words.name), ShowStack{words.stack},
                            words.stack == context.view.attention.stack,
                            with_key(tr(words.title) + ": " + tr(words.reads), words.action)});
    return segments;
}

} // namespace headscope::app
