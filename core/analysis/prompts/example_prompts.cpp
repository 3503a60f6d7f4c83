#include "core/analysis/prompts/example_prompts.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <random>
#include <set>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::TextModel;

constexpr std::array<PromptTaskInfo, 3> prompt_task_table{{{PromptTask::ioi, "ioi"},
                                                           {PromptTask::greater_than, "greater-than"},
                                                           {PromptTask::induction, "induction"}}};

constexpr std::array example_people{"Mary",  "John",   "Anna", "Tom",  "Lucy", "Ben",   "Emma",
                                    "Peter", "Clara",  "Paul", "Jane", "Jack", "Alice", "Sam",
                                    "Kate",  "Daniel", "Sara", "Max",  "Nora", "Adam",  "Oscar",
                                    "Ella",  "Leo",    "Rosa", "Hugo", "Mia",  "Felix", "Lily"};
constexpr std::array example_places{"shop",   "market",   "park",   "school", "garden", "library", "station",
                                    "museum", "hospital", "church", "farm",   "beach",  "village", "castle"};
constexpr std::array example_things{"book", "letter", "ring",   "cup",  "lamp", "rope",  "coin",
                                    "bag",  "hat",    "drum",   "kite", "bell", "key",   "ball",
                                    "doll", "basket", "bottle", "card", "map",  "pencil"};
constexpr std::array example_events{"game", "story", "song", "visit", "snow", "rain"};

/// Draws the same numbers on every machine.
class ExampleDraw {
public:
    explicit ExampleDraw(std::uint64_t seed) : engine_(seed) {}
    /// Returns a number in [first, last].
    std::int64_t number(std::int64_t first, std::int64_t last) {
        return first + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(last - first + 1));
    }
    const std::string& word(const std::vector<std::string>& words) {
        return words[static_cast<std::size_t>(number(0, std::ssize(words) - 1))];
    }
    /// Returns `count` different words in a random order.
    std::vector<std::string> words(std::vector<std::string> from, std::int64_t count) {
        for (std::int64_t n = 0; n < count; ++n)
            std::swap(from[static_cast<std::size_t>(n)],
                      from[static_cast<std::size_t>(number(n, std::ssize(from) - 1))]);
        from.resize(static_cast<std::size_t>(count));
        return from;
    }

private:
    std::mt19937_64 engine_;
};

/// The token of a word as checkpoint::word_token finds it; nothing if the word is several tokens.
std::optional<std::int64_t> single_token(const TextModel& model, const std::string& word) {
    try {
        return checkpoint::word_token(model, word);
    } catch (const Error&) {
        return std::nullopt;
    }
}

std::vector<std::int64_t> tokens_of(const TextModel& model, const std::string& text) {
    return checkpoint::prompt_inputs(model, text).ids;
}

/// Draws prompts for one model.
class ExampleMaker {
public:
    ExampleMaker(const TextModel& model, std::uint64_t seed)
        : model_(model), draw_(seed), people_(known(example_people)), places_(known(example_places)),
          things_(known(example_things)) {}

    /// Returns true if the vocabulary has enough words for a task.
    bool can_make(PromptTask task) const {
        const bool list = things_.size() >= list_length && !people_.empty();
        return task == PromptTask::ioi         ? people_.size() >= 2 && !places_.empty() && !things_.empty()
               : task == PromptTask::induction ? list
                                               : true;
    }

    /// Nothing if the words that were drawn do not fit the model's tokens, or made a prompt before.
    std::optional<ExamplePrompt> make(PromptTask task) {
        auto made = task == PromptTask::ioi         ? ioi()
                    : task == PromptTask::induction ? induction()
                                                    : greater_than();
        if (!made || made_.contains(made->clean) ||
            tokens_of(model_, made->clean).size() != tokens_of(model_, made->corrupted).size())
            return std::nullopt;
        made_.insert(made->clean);
        return made;
    }

private:
    static constexpr std::size_t list_length = 6;

    std::vector<std::string> known(std::span<const char* const> words) const {
        std::vector<std::string> found;
        for (const char* const word : words)
            if (single_token(model_, word))
                found.emplace_back(word);
        return found;
    }

    ExampleToken token(const std::string& word) const {
        return {word, checkpoint::word_token(model_, word), true};
    }

    std::optional<ExamplePrompt> ioi() {
        static constexpr std::array<const char*, 4> forms{
            "When {0} and {1} went to the {2}, {3} gave a {4} to",
            "After {0} and {1} went to the {2}, {3} gave a {4} to",
            "While {0} and {1} were in the {2}, {3} gave a {4} to",
            "Then {0} and {1} went to the {2}. {3} gave a {4} to"};
        const char* const form = forms[static_cast<std::size_t>(draw_.number(0, std::ssize(forms) - 1))];
        const std::vector<std::string> names = draw_.words(people_, 2);
        const std::string place = draw_.word(places_), thing = draw_.word(things_);
        const auto giver = static_cast<std::size_t>(draw_.number(0, 1));
        const auto text = [&](const std::string& gives) {
            return fmt::format(fmt::runtime(form), names[0], names[1], place, gives, thing);
        };
        return ExamplePrompt{text(names[giver]), text(names[1 - giver]), token(names[1 - giver]),
                             token(names[giver])};
    }

    std::optional<ExamplePrompt> induction() {
        const std::string name = draw_.word(people_);
        std::vector<std::string> list = draw_.words(things_, list_length);
        const std::int64_t repeated = draw_.number(1, list_length - 2);
        const std::int64_t other = draw_.number(repeated + 1, list_length - 1);
        const auto text = [&] {
            std::string all = name + " read the list:", again = " Again:";
            for (std::size_t n = 0; n < list.size(); ++n) {
                all += " " + list[n] + (n + 1 < list.size() ? "," : ".");
                again += std::cmp_less(n, repeated) ? " " + list[n] + "," : "";
            }
            return all + again;
        };
        std::string& next = list[static_cast<std::size_t>(repeated)];
        std::string& against = list[static_cast<std::size_t>(other)];
        ExamplePrompt made{text(), {}, token(next), token(against)};
        std::swap(next, against);
        made.corrupted = text();
        return made;
    }

    /// The token of digits after a text; nothing if they are not one token there.
    std::optional<ExampleToken> digits_after(const std::string& text, const std::string& digits) const {
        const std::vector<std::int64_t> before = tokens_of(model_, text),
                                        after = tokens_of(model_, text + digits);
        if (after.size() != before.size() + 1 || !std::equal(before.begin(), before.end(), after.begin()))
            return std::nullopt;
        return ExampleToken{digits, after.back(), single_token(model_, digits) == after.back()};
    }

    std::optional<ExamplePrompt> greater_than() {
        const std::int64_t century = draw_.number(11, 18), begin = draw_.number(20, 88);
        const std::string event =
            example_events[static_cast<std::size_t>(draw_.number(0, std::ssize(example_events) - 1))];
        const auto text = [&](std::int64_t year) {
            return fmt::format("The {} lasted from the year {}{:02} to the year {}", event, century, year,
                               century);
        };
        const std::string clean = text(begin);
        if (made_.contains(clean))
            return std::nullopt;
        const std::int64_t later = draw_.number(begin + 1, 99), earlier = draw_.number(2, begin - 1);
        auto answer = digits_after(clean, fmt::format("{:02}", later)),
             against = digits_after(clean, fmt::format("{:02}", earlier));
        if (!answer || !against) { // tokens of one digit: the decade
            answer = digits_after(clean, std::to_string(draw_.number(begin / 10 + 1, 9)));
            against = digits_after(clean, std::to_string(draw_.number(0, begin / 10 - 1)));
        }
        if (!answer || !against)
            return std::nullopt;
        return ExamplePrompt{clean, text(1), *answer, *against};
    }

    const TextModel& model_;
    ExampleDraw draw_;
    std::vector<std::string> people_, places_, things_;
    std::set<std::string> made_; ///< clean prompts
};

} // namespace

std::span<const PromptTaskInfo> prompt_tasks() {
    return prompt_task_table;
}

std::vector<ExamplePrompt> example_prompts(const TextModel& model, PromptTask task, std::int64_t count,
                                           std::uint64_t seed) {
    constexpr int most_misses = 300; // draws in a row without a new prompt
    if (model.tokenizer == nullptr)
        fail_input(tr("example_prompts.no_tokenizer",
                      "{} has no tokenizer to write prompts for; name a model that has one", model.name()));
    if (count < 1)
        fail_input(
            tr("example_prompts.count", "the number of prompts is {}; it should be at least 1", count));
    ExampleMaker maker(model, seed);
    std::vector<ExamplePrompt> prompts;
    const bool possible = maker.can_make(task);
    for (int misses = 0; possible && misses < most_misses && std::ssize(prompts) < count; ++misses)
        if (auto made = maker.make(task)) {
            prompts.push_back(std::move(*made));
            misses = 0;
        }
    if (std::ssize(prompts) < count)
        fail_input(
            tr("example_prompts.few",
               "with the vocabulary of {}, {} different prompts of {} were found for this task; give a "
               "smaller count or another model",
               model.name(), prompts.size(), count));
    return prompts;
}

} // namespace headscope::analysis
