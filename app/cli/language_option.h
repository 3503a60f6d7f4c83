#pragma once

#include <string>

namespace CLI {
class App;
}

namespace headscope::cli {

/// Adds --language: of the lessons, and of the window's sentences where the program has a catalogue for the
/// language. Others, such as a language that only lessons of one's own have, leave the sentences English.
/// `language` is given its value; it must outlive the parsing. Which sentences the program makes is chosen as
/// soon as the option is read. otherwise: the language without the option, for the help.
void add_language_option(CLI::App& command, std::string& language, const std::string& otherwise = "en");

/// Of the environment: the first of LC_ALL, LC_MESSAGES and LANG that is not empty, as setlocale(3) reads
/// them.
std::string desktop_language();

} // namespace headscope::cli
