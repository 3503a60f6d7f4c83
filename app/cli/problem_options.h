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

/// What --gain asks for: "h=g", or "l.h=g" in a checkpoint.
struct GainChange {
    std::optional<std::int64_t> layer;
    std::int64_t head = 0;
    float factor = 1;
};
/// Throws Error(usage) for text of another form.
GainChange parse_gain(const std::string& text);

/// The options that say where a problem comes from and what to change in it, the same for every sub-command
/// that runs one. Lives as long as the App that it was added to.
class ProblemOptions {
public:
    /// With `needed` off, a call that names no problem gets the first lesson.
    void add_to(CLI::App& command, bool needed = true);
    /// The document that was asked for, its problem validated. Throws Error(usage) when the options
    /// contradict each other, Error(input) when what they name is at fault.
    app::DocumentPtr read() const;
    /// For make_engine.
    const std::string& device() const { return device_; }
    /// As given to --temperature, else 1.
    float temperature() const { return temperature_.value_or(1.0F); }
    /// As they were given to --gain.
    const std::vector<std::string>& gains() const { return gains_; }

private:
    /// What is wrong without a look at any file.
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

/// The options by which ProblemOptions names a problem do not go with `other`.
void exclude_problem(CLI::App& command, CLI::Option& other);

/// --device, for a command that runs an engine: auto, cpu, vulkan or vulkan:N; HEADSCOPE_DEVICE says it too.
void add_device_option(CLI::App& command, std::string& device);

/// The names of all presets, for help texts: "first-lesson, cat-sleeps, ...".
std::string preset_names();

} // namespace headscope::cli
