#pragma once

#include "app/state/prompts/prompt_mean.h"
#include "app/state/prompts/prompt_order.h"
#include "core/analysis/prompts/prompt_set.h"
#include "core/checkpoint/model/text_model.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// One line of a list of prompts.
struct ListedPrompt {
    std::int64_t line = 0;      ///< of the file, from 1
    std::string text = {};      ///< the prompt, or the clean one of a pair; of token ids, their text
    std::string corrupted = {}; ///< the corrupted prompt; empty: none
    std::string answer = {}, against = {}; ///< labels of the tokens; empty: none
    std::optional<std::int64_t> answer_id = {}, against_id = {};
    std::shared_ptr<const checkpoint::ModelInputs> inputs = {}, corrupted_inputs = {}; ///< null: none
    /// True if `text` is tokenized into the ids of `inputs`; false for some lists of token ids.
    bool typed = true;
    std::string fault =
        {}; ///< why the line cannot be used, one sentence; empty: it can. Then there are no inputs

    bool usable() const { return fault.empty(); }
    /// Returns true if the line has two prompts and both tokens, as patching needs them.
    bool is_pair() const { return corrupted_inputs != nullptr && answer_id && against_id; }
};

/// The prompts of a file or of an example. Immutable; any thread may use it.
struct PromptList {
    std::string name;                  ///< of the file, or of the task
    std::string second, target;        ///< the other texts that all inputs were made with, see prompt_inputs
    std::vector<ListedPrompt> prompts; ///< at least one of them usable

    std::int64_t usable() const;
};
using PromptListPtr = std::shared_ptr<const PromptList>;

/// Largest numbers of prompts of a list in the window, and of a generated one.
inline constexpr std::size_t most_listed_prompts = 1000;
inline constexpr std::int64_t most_example_prompts = 200;

/// Returns the prompts of a set for a model, with the same second text and decoder's text for each. Tokenizes
/// them. Throws Error(input) if there are too many, or if no line can be used.
PromptListPtr listed_prompts(const checkpoint::TextModel& model, const analysis::PromptSet& set,
                             const std::string& second, const std::string& target);
/// Returns `count` generated prompts of a task, an id of analysis::prompt_tasks(). Throws what
/// example_prompts throws.
PromptListPtr generated_prompts(const checkpoint::TextModel& model, std::string_view task, std::int64_t count,
                                const std::string& second, const std::string& target);
/// Returns the name of a task in the user's language; the id for an unknown one.
std::string task_title(std::string_view task);

/// The open list as the views show it.
struct PromptListState {
    PromptListPtr list; ///< never null
    PromptOrder order = PromptOrder::line;
    std::vector<std::size_t> rows;   ///< indices of the prompts in the order on screen
    std::optional<std::size_t> open; ///< index of the prompt that the document shows
    /// By index: the logit of `answer` minus that of `against` after the last token; empty: not known, or the
    /// line has no such tokens.
    std::vector<std::optional<double>> differences;
    /// By index: the root mean square, over the cells of the screen, of number minus mean, in the unit of the
    /// screen's numbers; empty: not known.
    std::vector<std::optional<double>> distances;
    std::vector<std::string>
        faults; ///< by index: why a usable line has no numbers on this screen; may be empty

    bool mean = false;                ///< means are requested
    std::string no_mean_reason;       ///< why the screen has none, one sentence; empty: it has
    std::int64_t done = 0, count = 0; ///< prompts of the mean that were measured, and all of them
    bool stopped = false;             ///< by the user, before all were measured

    /// Returns true if the screen shows means, as far as they are known.
    bool shows_mean() const { return mean && no_mean_reason.empty(); }
};

/// Returns the usable prompt `by` places after the open one in the order on screen; without an open one, the
/// first or the last. Nothing at the end of the list.
std::optional<std::size_t> stepped_prompt(const PromptListState& state, int by);
/// Sorts state.rows by state.order. Lines without the number that decides are last, in the order of the file.
void sort_rows(PromptListState& state);

} // namespace headscope::app
