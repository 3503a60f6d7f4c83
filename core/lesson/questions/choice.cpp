#include "core/lesson/questions/choice.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace headscope::lesson {

namespace {

/// FNV-1a. std::hash may differ between machines.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return hash;
}

/// SplitMix64 (Steele et al. 2014).
std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

} // namespace

std::vector<std::size_t> shuffled(std::string_view seed, std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t state = hash_of(seed);
    // std::shuffle may differ between standard libraries.
    for (std::size_t left = count; left > 1; --left)
        std::swap(order[left - 1], order[next_random(state) % left]);
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
