#include "app/cli/cli.h"

#include "app/cli/project_arguments.h"
#include "app/cli/serve/kept_model.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/parse.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/tensor/free_buffers.h"
#include "core/text/plain_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace headscope::cli {

namespace {

constexpr int wrong_usage = 2, internal_fault = 4;

/// Prints the sentence as one line of valid text, regardless of the bytes in the names of files and tensors.
int report(const CLI::App& program, const std::string& sentence, int code) {
    if (!KeptModel::exists()) // else the program answers further requests
        stop_watching_memory();
    std::cerr << program.get_name() << ": " << text::plain_text(sentence) << '\n';
    return code;
}

/// Returns the error for the value of an option whose type CLI11 calls INT, UINT or FLOAT; empty if it is
/// valid. CLI11 itself accepts -1 and 2^64 for an unsigned number, and an empty value for any number.
std::string number_fault(std::string_view type, const std::string& text) {
    const std::string given = '"' + text + '"';
    if (type.starts_with("UINT")) {
        constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
        return number_of<std::uint64_t>(text)
                   ? ""
                   : given + " is not a whole number from 0 to " + std::to_string(largest);
    }
    if (type.starts_with("INT"))
        return number_of<std::int64_t>(text) ? "" : given + " is not a whole number such as 12";
    const auto number = number_of<double>(text);
    const bool finite = number && std::abs(*number) <= std::numeric_limits<float>::max();
    return finite ? "" : given + " is not a finite number such as 0.5";
}

/// Returns true for options and arguments that name a file or a folder.
bool names_file(const CLI::Option& option) {
    static const std::vector<std::string> names{
        "output",    "case", "weights", "project",  "model",     "inputs",    "text-file", "texts",
        "tokenizer", "PATH", "patch",   "haystack", "attention", "reference", "script",    "report",
        "control",   "file", "FILE",    "DIR",      "prompts",   "A",         "B",         "parameters"};
    return std::ranges::find(names, option.get_single_name()) != names.end();
}

/// Returns true for options that name a token by its word.
bool names_word(const CLI::Option& option) {
    static const std::vector<std::string> names{"token", "against", "answer"};
    return std::ranges::find(names, option.get_single_name()) != names.end();
}

/// Checks the numbers, words and file names of every option of every command before CLI11 converts them.
void check_values(CLI::App& command) {
    for (CLI::Option* const option : command.get_options()) {
        const std::string type = option->get_type_name();
        if (names_word(*option))
            option->check([](const std::string& text) {
                return text.empty() ? "the word is empty; give one, such as Mary" : "";
            });
        if (names_file(*option))
            option->check([](const std::string& text) {
                return text.empty() ? "the name is empty; name a file or a folder" : "";
            });
        if (type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT"))
            option->check([type](const std::string& text) { return number_fault(type, text); });
    }
    for (CLI::App* const inner : command.get_subcommands([](CLI::App*) { return true; }))
        check_values(*inner);
}

/// Collects the names of all options with a list value.
void add_lists(const CLI::App& command, std::vector<std::string>& names) {
    for (const CLI::Option* const option : command.get_options())
        if (option->get_delimiter() == ',')
            names.push_back("--" + option->get_single_name());
    for (const CLI::App* const inner : command.get_subcommands([](const CLI::App*) { return true; }))
        add_lists(*inner, names);
}

/// Rejects a list with an empty entry, such as 1,,2, which CLI11 skips.
void check_lists(const CLI::App& program, int argc, char** argv) {
    std::vector<std::string> names;
    add_lists(program, names);
    for (int at = 1; at < argc; ++at) {
        const std::string word = argv[at], name = word.substr(0, word.find('='));
        if (std::ranges::find(names, name) == names.end())
            continue;
        const std::string list = name != word    ? word.substr(name.size() + 1)
                                 : at + 1 < argc ? argv[at + 1]
                                                 : "";
        if (list.starts_with(',') || list.ends_with(',') || list.find(",,") != std::string::npos)
            fail_input(name + " " + list + " has an empty entry; write for example 1,2,3");
    }
}

/// Returns the bytes of a size such as 4GB. CLI11 itself accepts -1 and 2^64.
std::string bytes_of_size(const std::string& text) {
    static const CLI::AsSizeValue read(true);
    std::string bytes = text;
    try {
        if (number_of<std::uint64_t>(text.substr(0, text.find_first_not_of("0123456789"))) &&
            read(bytes).empty())
            return bytes;
    } catch (const CLI::ValidationError&) {
    } // an unknown unit, or too large
    throw CLI::ValidationError('"' + text + "\" is not a valid size (for example 4GB or 1500MB)");
}

void add_memory(CLI::App& command) {
    command
        .add_option_function<std::uint64_t>("--memory", &limit_memory,
                                            "the most memory that the whole process may use, such as 4GB; "
                                            "more is refused (default: the free memory minus a margin)")
        ->transform(bytes_of_size)
        ->type_name("SIZE")
        ->group("Machine");
}

/// Adds all options and subcommands. Returns the action of a call without a subcommand.
std::function<int()> add_commands(CLI::App& program) {
    program.require_subcommand(0, 1);
    add_trace(program);
    add_export(program);
    add_heads(program);
    add_generate(program);
    add_explain(program);
    add_patch(program);
    add_map(program);
    add_survey(program);
    add_prompts(program);
    add_diff(program);
    add_devices(program);
    add_render(program);
    add_record(program);
    add_model(program);
    add_get(program);
    add_tokenize(program);
    add_lesson(program);
    add_edit(program);
    add_serve(program);
    std::function<int()> open_window = add_window(program);
    add_memory(program);
    for (const char* const name : {"trace", "export", "heads", "generate", "explain", "patch", "edit", "map",
                                   "survey", "diff", "render", "record", "serve"})
        add_memory(*program.get_subcommand(name));
    add_memory(*program.get_subcommand("model")->get_subcommand("check"));
    // Called after all options are read and before the command starts.
    program.parse_complete_callback([&program] {
        if (!program.get_subcommands().empty() && memory_is_limited()) {
            enable_prompt_memory_release();
            enforce_memory_limit();
        }
    });
    return open_window;
}

/// Returns the edit distance of two words: the number of letters to insert, delete or replace.
std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

/// Returns true if the first word is for the window: the name of a file or of a packaged model.
bool is_for_window(const std::string& word) {
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    std::error_code none;
    return word.find_first_not_of(letters) != std::string::npos || std::filesystem::exists(word, none) ||
           checkpoint::is_packaged(word);
}

/// Returns the error for a word in the place of a command, such as `explian`; empty if there is none.
std::string unknown_command(const CLI::App& program, int argc, char** argv) {
    const CLI::App* command = &program;
    std::string called;
    for (int at = 1; at < argc && argv[at][0] != '-' && argv[at][0] != '\0'; ++at) {
        const std::string word = argv[at];
        const auto all = command->get_subcommands([](const CLI::App*) { return true; });
        if (all.empty())
            return "";
        const auto apart = [&](const CLI::App* one) { return edit_distance(word, one->get_name()); };
        const CLI::App* const nearest = *std::ranges::min_element(all, {}, apart);
        if (apart(nearest) > 0) {
            if (called.empty() && is_for_window(word))
                return "";
            const std::string none = "there is no command \"" + called + word + '"';
            const bool alike = 3 * apart(nearest) <= word.size() + 1;
            return alike ? none + "; the nearest is \"" + called + nearest->get_name() + '"' : none;
        }
        command = nearest;
        called += word + " ";
    }
    return "";
}

/// Returns the command that was called, such as that of `headscope model check`.
const CLI::App& called_command(const CLI::App& program) {
    const auto used = program.get_subcommands();
    return used.empty() ? program : called_command(*used.front());
}

/// Returns its name, for an error message that refers to its help.
std::string command_of(const CLI::App& program) {
    const auto used = program.get_subcommands();
    return program.get_name() + (used.empty() ? "" : " " + command_of(*used.front()));
}

/// Returns the name of an option that the command does not have; empty if there is none.
std::string unknown_option(const CLI::App& command) {
    const auto words = command.remaining();
    const auto unknown = std::ranges::find_if(words, [](const auto& word) { return word.starts_with("--"); });
    return unknown == words.end() ? "" : *unknown;
}

/// Returns "; the nearest is --text", if an option of the command has a similar name, or the remedy for a
/// value that needs no option; else empty.
std::string nearest_option(const std::string& unknown, const CLI::App& command) {
    const auto is_named = [](const CLI::Option* option) { return option->nonpositional(); };
    auto options = command.get_options();
    const auto unnamed = std::ranges::find_if(options, [&](const CLI::Option* option) {
        return !is_named(option) && "--" + option->get_single_name() == unknown;
    });
    if (unnamed != options.end())
        return "; write its value alone, without " + unknown;
    std::erase_if(options, std::not_fn(is_named));
    if (options.empty())
        return "";
    const auto name = [](const CLI::Option* option) { return "--" + option->get_single_name(); };
    const auto apart = [&](const CLI::Option* option) { return edit_distance(unknown, name(option)); };
    const CLI::Option* const nearest = *std::ranges::min_element(options, {}, apart);
    return 3 * apart(nearest) <= unknown.size() - 1 ? "; the nearest is " + name(nearest) : "";
}

/// Returns the sentence for an error. An option that the command does not have explains all others: its value
/// is then taken for a sentence or a file.
std::string sentence_of(const CLI::ParseError& fault, const CLI::App& command) {
    if (const std::string unknown = unknown_option(command); !unknown.empty()) {
        const bool lists_them = dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr;
        return (lists_them ? fault.what() : "The following argument was not expected: " + unknown) +
               nearest_option(unknown, command);
    }
    if (dynamic_cast<const CLI::RequiredError*>(&fault) == nullptr)
        return fault.what();
    const auto options = command.get_options();
    const auto missing = std::ranges::find_if(
        options, [](const auto* option) { return option->get_required() && option->count() == 0; });
    return fault.what() + (missing == options.end() ? "" : ": " + (*missing)->get_description());
}

int parse_and_run(CLI::App& program, const std::function<int()>& without_command, int argc, char** argv) {
    try {
        check_lists(program, argc, argv);
        program.parse(argc, argv);
        if (!program.get_subcommands().empty())
            return 0;
        const std::string unknown = unknown_command(program, argc, argv);
        return unknown.empty()
                   ? without_command()
                   : report(program, unknown + "; see " + program.get_name() + " --help", wrong_usage);
    } catch (const CLI::Success& help) {
        std::ostringstream text;
        program.exit(help, text, text);
        write_file_atomically("-", text.str());
        return 0;
    } catch (const CLI::ParseError& fault) {
        const std::string unknown = unknown_command(program, argc, argv);
        // The other errors are about options that are unknown, missing or exclude each other.
        const bool value = unknown.empty() && unknown_option(called_command(program)).empty() &&
                           (dynamic_cast<const CLI::ValidationError*>(&fault) != nullptr ||
                            dynamic_cast<const CLI::ConversionError*>(&fault) != nullptr);
        return report(program,
                      (unknown.empty() ? sentence_of(fault, called_command(program)) : unknown) + "; see " +
                          command_of(program) + " --help",
                      value ? exit_code(ErrorKind::input) : wrong_usage);
    }
}

/// Flushes standard output: earlier output may still be pending, and the disk may be full.
int after_printing(const CLI::App& program, int code) {
    if (std::cout.flush() || code != 0)
        return code;
    return report(program, "cannot write standard output; free some space or send it elsewhere",
                  exit_code(ErrorKind::input));
}

} // namespace

int exit_code(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::input:
    case ErrorKind::cancelled:
        return 1;
    case ErrorKind::usage:
        return wrong_usage;
    case ErrorKind::machine:
        return 3;
    case ErrorKind::internal:
        break;
    }
    return internal_fault;
}

int run_command_line(int argc, char** argv) {
    CLI::App program("See, step through and edit multi-head attention", "headscope");
    return run_command_line(program, add_commands, argc, argv);
}

int run_command_line(CLI::App& program, const std::function<std::function<int()>(CLI::App&)>& add, int argc,
                     char** argv) {
    // A file beyond a limit (ulimit -f) then fails like a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        program.set_version_flag("--version", program.get_name() + " " HEADSCOPE_VERSION);
        program.footer(
            "Exit codes: 0 done, 1 a text, number, name or file cannot be used, 2 options are unknown, "
            "missing or exclude each other, 3 this machine lacks something that was asked for, 4 "
            "internal fault.");
        const std::function<int()> without_command = add(program);
        check_values(program);
        std::vector<std::string> words = with_checkpoint_project(program, {argv + 1, argv + argc});
        std::vector<char*> called{argv[0]};
        std::ranges::transform(words, std::back_inserter(called),
                               [](std::string& word) { return word.data(); });
        return after_printing(
            program, parse_and_run(program, without_command, static_cast<int>(called.size()), called.data()));
    } catch (const Error& fault) {
        return report(program, fault.what(), exit_code(fault.kind()));
    } catch (const std::bad_alloc&) {
        return report(program, "this machine has too little free memory for the problem; make it smaller",
                      exit_code(ErrorKind::machine));
    } catch (const std::exception& fault) {
        return report(program, std::string("internal fault: ") + fault.what() + "; please report it",
                      internal_fault);
    }
}

} // namespace headscope::cli
