#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace headscope::cli {

// Each adds one sub-command, which runs while the arguments are parsed and throws Error when it cannot do
// what was asked. A new one is a file beside these and a line in cli.cpp.

void add_trace(CLI::App& program);
void add_export(CLI::App& program);
void add_devices(CLI::App& program);
void add_render(CLI::App& program);
void add_bench(CLI::App& program);
void add_model(CLI::App& program);
void add_tokenize(CLI::App& program);
void add_lesson(CLI::App& program);
void add_heads(CLI::App& program);

/// The options of the window itself, for a call without a sub-command. Returns what opens it.
std::function<int()> add_window(CLI::App& program);

} // namespace headscope::cli
