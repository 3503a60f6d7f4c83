#include "core/checkpoint/generation/first_target.h"

#include "core/checkpoint/generation/generator.h"

#include <algorithm>
#include <chrono>

namespace headscope::checkpoint {

namespace {

constexpr std::chrono::seconds longest_wait{4};

} // namespace

ModelInputs with_first_target(const TextModel& model, const ModelInputs& inputs, const ModelEdits& edits,
                              Progress& progress) {
    if (model.tokenizer == nullptr || !model.model->has_head())
        return inputs;
    const auto start = std::chrono::steady_clock::now();
    Generator generator(model.model, inputs, edits);
    for (std::int64_t n = 0; n < most_first_tokens && !generator.full(); ++n) {
        const Distribution next = generator.next({}, 1, progress);
        const std::int64_t id = next.candidates[next.taken].id;
        const bool late = std::chrono::steady_clock::now() - start > longest_wait;
        if (late || std::ranges::find(model.end_ids, id) != model.end_ids.end())
            break;
        generator.append(id);
    }
    return token_inputs(model, generator.ids(), inputs.source);
}

} // namespace headscope::checkpoint
