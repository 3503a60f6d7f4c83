#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace headscope::cli {

// Each function adds one subcommand. The subcommand runs while the arguments are parsed, and throws Error if
// it fails. A new subcommand is a file in this folder and a line in cli.cpp.

void add_trace(CLI::App& program);
void add_export(CLI::App& program);
void add_devices(CLI::App& program);
void add_render(CLI::App& program);
void add_record(CLI::App& program);
void add_model(CLI::App& program);
void add_tokenize(CLI::App& program);
void add_lesson(CLI::App& program);
void add_lesson_results(CLI::App& lesson); ///< a subcommand of `lesson`
void add_heads(CLI::App& program);
void add_generate(CLI::App& program);
void add_get(CLI::App& program);
void add_explain(CLI::App& program);
void add_patch(CLI::App& program);
void add_map(CLI::App& program);
void add_survey(CLI::App& program);
void add_prompts(CLI::App& program);
void add_diff(CLI::App& program);
void add_serve(CLI::App& program);
void add_edit(CLI::App& program);

/// Adds the options of the window, for a call without a subcommand. Returns the function that opens the
/// window.
std::function<int()> add_window(CLI::App& program);

} // namespace headscope::cli
