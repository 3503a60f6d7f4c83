#pragma once

namespace CLI {
class App;
}

namespace headscope::cli {

// Each function adds one command of `headscope model`.

void add_model_check(CLI::App& model);
void add_model_list(CLI::App& model);
void add_model_remove(CLI::App& model);

} // namespace headscope::cli
