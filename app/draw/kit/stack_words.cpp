#include "app/draw/kit/stack_words.h"

#include "app/commands/actions.h"

#include <algorithm>
#include <array>
#include <string>

namespace headscope::app {

std::span<const StackWords> stack_words() {
    using checkpoint::Stack;
    static constexpr std::array<StackWords, 3> all{
        {{Stack::encoder, "Encoder", "Encoder attention", "source reads source", "no mask", "encoder heads"},
         {Stack::own, "Decoder self", "Decoder self-attention", "target reads earlier target", "causal",
          "decoder heads"},
         {Stack::cross, "Cross", "Cross-attention", "target reads source", "no mask", "cross heads"}}};
    return all;
}

const StackWords& words_of(checkpoint::Stack stack) {
    return *std::ranges::find(stack_words(), stack, &StackWords::stack);
}

std::vector<Segment> stack_segments(const DrawContext& context) {
    std::vector<Segment> segments;
    for (const StackWords& words : stack_words())
        segments.push_back(
            {std::string(words.name), ViewChange(AttentionChange(ShowStack{words.stack})),
             words.stack == context.view.attention.stack,
             with_key(std::string(words.title) + ": " + std::string(words.reads), words.action)});
    return segments;
}

} // namespace headscope::app
