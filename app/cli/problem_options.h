#pragma once

#include "app/state/document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace headscope::cli {

/// The value of --gain: "h=g", "l.h=g" for a checkpoint, "cross:l.h=g" for an encoder-decoder.
struct GainChange {
    std::string stack; ///< "encoder", "decoder", "cross" or empty
    std::optional<std::int64_t> layer;
    std::int64_t head = 0;
    float factor = 1;
};
/// Throws Error(input) for text of another format.
GainChange parse_gain(const std::string& text);

/// The options that specify and change an attention input, shared by every subcommand that runs one. Must
/// live as long as the App that has the options.
class ProblemOptions {
public:
    /// If `needed` is false, a call without an attention input uses the first lesson.
    void add_to(CLI::App& command, bool needed = true);
    /// Builds the document, with a validated problem. Throws Error(usage) if the options contradict each
    /// other, Error(input) if their values are invalid.
    app::DocumentPtr read() const;
    /// The device for make_engine.
    const std::string& device() const { return device_; }
    /// The value of --temperature, else 1.
    float temperature() const { return temperature_.value_or(1.0F); }
    /// The value of --seed.
    const std::optional<std::uint64_t>& seed() const { return seed_; }
    /// The values of --gain.
    const std::vector<std::string>& gains() const { return gains_; }

private:
    /// Checks everything that does not require a file.
    void check_usage() const;
    project::Recipe from_sentence() const;
    project::Recipe from_case() const;
    project::Recipe from_project() const;
    std::vector<float> changed_gains(const Problem& problem) const;

    std::optional<std::string> sentence_, kv_sentence_, preset_, case_path_, project_path_, weights_path_,
        mask_;
    std::optional<std::int64_t> H_, Hkv_;
    std::optional<std::uint64_t> seed_;
    std::optional<float> temperature_;
    std::vector<std::string> gains_; ///< "h=g"
    std::string device_ = "auto";
    bool needed_ = true;
};

/// Makes `other` exclude the options that specify an attention input.
void exclude_problem(CLI::App& command, CLI::Option& other);

/// Adds --device, for a command that runs an engine: auto, cpu, vulkan or vulkan:N. The environment variable
/// HEADSCOPE_DEVICE sets it as well.
void add_device_option(CLI::App& command, std::string& device);

/// For a command that only runs on the CPU: prints a note if --device names another device. Throws
/// Error(machine) if this machine does not have it.
void run_on_processor(const std::string& device);

/// The names of all presets, for help texts: "first-lesson, cat-sleeps, ...".
std::string preset_names();

} // namespace headscope::cli
