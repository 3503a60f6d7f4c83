// Runs a fuzz target without libFuzzer: every file of a folder, then a fixed number of random changes of
// them. The same seed gives the same inputs on every machine.
//     fuzz_tests mask FOLDER ITERATIONS [SEED]

#include "tests/fuzz/target.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

namespace {

using headscope::fuzz::Target;

/// Pieces of the formats that changes of single bytes rarely make.
constexpr std::array<std::string_view, 24> pieces{"{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  ",",
                                                  ":",
                                                  "null",
                                                  "true",
                                                  "-1",
                                                  "0",
                                                  "1e999",
                                                  "0.5",
                                                  "65536",
                                                  "4294967296",
                                                  "9223372036854775807",
                                                  "18446744073709551615",
                                                  "\"shape\":",
                                                  "\"dtype\":\"F64\"",
                                                  "\"data_offsets\":[0,0]",
                                                  "\"kind\":\"explicit\"",
                                                  "\"allowed\":",
                                                  "\"window\":",
                                                  "\"add\":"};

class Mutator {
public:
    Mutator(const Target& target, std::uint64_t seed) : target_(target), random_(seed) {}

    std::string changed(const std::vector<std::string>& inputs) {
        std::string text = inputs[below(inputs.size())];
        for (std::size_t changes = 1 + below(4); changes > 0; --changes)
            change(text, inputs);
        if (below(2) == 0)
            target_.repair(text);
        return text;
    }

private:
    /// Returns a number in [0, count); std::uniform_int_distribution differs between standard libraries.
    std::size_t below(std::size_t count) {
        return static_cast<std::size_t>(random_() % std::max<std::size_t>(count, 1));
    }

    void change(std::string& text, const std::vector<std::string>& inputs) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = 1 + below(8);
        switch (below(7)) {
        case 0:
            if (at < text.size())
                text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << below(8)));
            break;
        case 1:
            if (at < text.size())
                text[at] = static_cast<char>(below(256));
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:
            text.insert(at, text.substr(below(text.size() + 1), length));
            break;
        case 4:
            text.insert(at, pieces[below(pieces.size())]);
            break;
        case 5:
            text.replace(at, std::min(length, text.size() - at), pieces[below(pieces.size())]);
            break;
        default: {
            const std::string& other = inputs[below(inputs.size())];
            text = text.substr(0, at) + other.substr(below(other.size() + 1));
        }
        }
    }

    const Target& target_;
    std::mt19937_64 random_;
};

std::vector<std::string> read_folder(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths(std::filesystem::directory_iterator(folder), {});
    std::ranges::sort(paths);
    std::vector<std::string> inputs;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::cerr << "usage: " << argv[0] << " TARGET FOLDER ITERATIONS [SEED]\n";
        return 2;
    }
    const Target& target = headscope::fuzz::find_target(argv[1]);
    const auto inputs = read_folder(argv[2]);
    if (inputs.empty()) {
        std::cerr << argv[2] << " holds no files\n";
        return 1;
    }
    for (const std::string& input : inputs)
        target.read(input);
    Mutator mutator(target, argc > 4 ? std::stoull(argv[4]) : 1);
    const auto iterations = std::stoll(argv[3]);
    for (long long i = 0; i < iterations; ++i)
        target.read(mutator.changed(inputs));
    std::cout << inputs.size() << " files and " << iterations
              << " changes of them were read without a fault\n";
    return 0;
}
