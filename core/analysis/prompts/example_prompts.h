#pragma once

#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::analysis {

/// A task of the literature whose prompts follow a template.
enum class PromptTask : std::uint8_t {
    ioi,          ///< indirect object identification (Wang et al. 2022, "Interpretability in the Wild")
    greater_than, ///< a later year (Hanna et al. 2023, "How does GPT-2 compute greater-than?")
    induction     ///< the next word of a repeated list (Olsson et al. 2022, "Induction Heads")
};
struct PromptTaskInfo {
    PromptTask task;
    std::string_view id; ///< on the command line
};
std::span<const PromptTaskInfo> prompt_tasks();

/// A token that a model may predict.
struct ExampleToken {
    std::string text;
    std::int64_t id = 0;
    /// Returns true if checkpoint::word_token finds the token by its text.
    bool found_by_text = true;
};

/// Two prompts with the same number of tokens. The clean one leads to `answer`, and the corrupted one does
/// not.
struct ExamplePrompt {
    std::string clean, corrupted;
    ExampleToken answer, against;
};

/// Draws prompts for a task, all of them different; the same ones for the same model, count and seed. Words
/// that vary are single tokens of the model. Throws Error(input) for a model without a tokenizer, and if its
/// vocabulary allows fewer than `count` prompts, of which there is at least one.
std::vector<ExamplePrompt> example_prompts(const checkpoint::TextModel& model, PromptTask task,
                                           std::int64_t count, std::uint64_t seed);

} // namespace headscope::analysis
