#include "app/cli/language_option.h"

#include "core/base/message.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace headscope::cli {

void add_language_option(CLI::App& command, std::string& language, const std::string& otherwise) {
    command
        .add_option("--language", language,
                    "language of the window and the lessons, such as de (default: " + otherwise + ")")
        ->each([](const std::string& chosen) { use_language(language_of_locale(chosen)); });
}

std::string desktop_language() {
    for (const char* const name : {"LC_ALL", "LC_MESSAGES", "LANG"})
        if (const char* const locale = std::getenv(name); locale != nullptr && *locale != '\0')
            return language_of_locale(locale);
    return "en";
}

} // namespace headscope::cli
