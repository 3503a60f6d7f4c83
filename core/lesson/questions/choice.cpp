#include "core/lesson/questions/choice.h"

#include "core/base/stable_hash.h"
#include "core/text/random_numbers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headscope::lesson {

std::vector<std::size_t> shuffled(std::string_view seed, std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    text::RandomNumbers numbers(stable_hash(seed));
    // std::shuffle may differ between standard libraries.
    for (std::size_t left = count; left > 1; --left)
        std::swap(order[left - 1], order[numbers.next() % left]);
    return order;
}

std::string order_seed(const std::string& lesson_id, const std::string& question) {
    return lesson_id + '/' + question;
}

std::vector<std::size_t> screen_order(std::string_view seed, const std::vector<QuizChoice>& choices) {
    std::vector<std::size_t> order = shuffled(seed, choices.size());
    std::stable_partition(order.begin(), order.end(), [&](std::size_t c) { return !choices[c].last; });
    return order;
}

} // namespace headscope::lesson
