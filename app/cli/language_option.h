#pragma once

#include <string>

namespace CLI {
class App;
}

namespace headscope::cli {

/// Adds --language: the language of the lessons, and of the window if the program has a catalog for it. Other
/// languages, such as one that only the user's own lessons have, leave the window in English. The value is
/// stored in `language`, which must outlive the parsing. The language of the program's messages is set as
/// soon as the option is parsed. otherwise: the language without the option, for the help.
void add_language_option(CLI::App& command, std::string& language, const std::string& otherwise = "en");

/// Returns the language of the environment: the first of LC_ALL, LC_MESSAGES and LANG that is not empty, as
/// in setlocale(3).
std::string desktop_language();

} // namespace headscope::cli
