#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope {

/// A problem as the command line asked for it.
struct ChosenProblem {
    Problem problem;                        ///< validated
    std::vector<std::string> head_roles;    ///< of a preset, one per head; empty otherwise
    std::vector<std::string> feature_names; ///< of a preset, one per column of x; empty otherwise
    std::string device;                     ///< for make_engine
};

/// The options that say where a problem comes from and what to change in it, the same for every sub-command
/// that runs one. Lives as long as the App that it was added to.
class ProblemOptions {
public:
    void add_to(CLI::App& command);
    /// Throws Error(usage) when the options contradict each other, Error(input) when what they name is at
    /// fault.
    ChosenProblem read() const;

private:
    /// What is wrong without a look at any file.
    void check_usage() const;
    ChosenProblem from_sentence() const;
    Problem from_case() const;
    void change_gains(Problem& problem) const;

    struct Gain {
        std::int64_t head;
        float factor;
    };
    static Gain parse_gain(const std::string& text);

    std::optional<std::string> sentence_, preset_, case_path_, weights_path_, mask_;
    std::optional<std::int64_t> H_, Hkv_;
    std::optional<std::uint64_t> seed_;
    std::optional<float> temperature_;
    std::vector<std::string> gains_; ///< "h=g"
    std::string device_ = "auto";
};

} // namespace headscope
