#include "app/cli/subcommands.h"
#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/lesson/check.h"
#include "core/lesson/library.h"
#include "core/text/plain_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

namespace headscope::cli {

namespace {

struct LessonOptions {
    std::string folder, language = "en", file, name;
    bool json = false;
};

void print(const nlohmann::json& out) {
    write_file_atomically("-", dump_json(out, 2) + '\n');
}

void list(const LessonOptions& options) {
    const std::vector<lesson::FoundLesson> found =
        lesson::find_lessons(lesson::lesson_folders(options.folder), options.language);
    if (options.json) {
        nlohmann::json out = nlohmann::json::array();
        for (const lesson::FoundLesson& one : found) {
            const lesson::Lesson& lesson = one.parsed.lesson;
            if (one.parsed.faults.empty() && one.hidden_by.empty())
                out.push_back({{"id", lesson.id},
                               {"title", lesson.title},
                               {"language", lesson.language},
                               {"difficulty", lesson.difficulty},
                               {"minutes", lesson.minutes},
                               {"steps", lesson.steps.size()},
                               {"questions", lesson.quiz.size()}});
        }
        return print(out);
    }
    std::string out;
    for (const lesson::FoundLesson& one : found) {
        const lesson::Lesson& lesson = one.parsed.lesson;
        if (!one.hidden_by.empty())
            out += text::plain_text(one.path + ": not listed, " + one.hidden_by + " has the same id, " +
                                    lesson.id) +
                   '\n';
        else if (one.parsed.faults.empty())
            out += text::plain_text(lesson.id + ": " + lesson.title) + " (" + std::to_string(lesson.minutes) +
                   " min, " + std::to_string(lesson.steps.size()) + " steps, " +
                   std::to_string(lesson.quiz.size()) + " questions)\n";
        else
            out += text::plain_text(one.path + ": not usable, see headscope lesson check " + one.path) + '\n';
    }
    write_file_atomically("-", out);
}

[[noreturn]] void report(const std::string& path, const std::vector<lesson::LessonError>& faults) {
    constexpr std::size_t most_listed = 100;
    for (const lesson::LessonError& fault : std::span(faults).first(std::min(most_listed, faults.size())))
        std::cerr << text::plain_text(path + ":" + std::to_string(fault.line) + ": " + fault.sentence)
                  << '\n';
    fail_input(path + " has " + std::to_string(faults.size()) + (faults.size() == 1 ? " fault" : " faults") +
               (faults.size() > most_listed ? ", the first of which are listed above; correct them"
                                            : "; correct what is listed above"));
}

/// Checks and plays a lesson; throws Error if the lesson has a fault.
lesson::LessonTally play(const lesson::ParsedLesson& parsed, const std::string& path) {
    lesson::LessonTally tally;
    std::vector<lesson::LessonError> faults = parsed.faults;
    const std::vector<lesson::LessonError> found =
        lesson::check_lesson(parsed.lesson, *engine::make_engine("cpu"), &tally);
    faults.insert(faults.end(), found.begin(), found.end());
    std::ranges::stable_sort(faults, {}, &lesson::LessonError::line);
    if (!faults.empty())
        report(path, faults);
    return tally;
}

void check(const LessonOptions& options) {
    play(lesson::parse_lesson(read_file(options.file, lesson::largest_lesson), options.file), options.file);
    write_file_atomically("-", text::plain_text(options.file) + ": no faults\n");
}

void play_named(const LessonOptions& options) {
    const std::vector<lesson::FoundLesson> found =
        lesson::find_lessons(lesson::lesson_folders(options.folder), options.language);
    const auto usable = [](const lesson::FoundLesson& lesson) {
        return lesson.hidden_by.empty() && lesson.parsed.faults.empty();
    };
    const auto named = [&](const lesson::FoundLesson& lesson) {
        return lesson.hidden_by.empty() && lesson::name_of(lesson) == options.name;
    };
    auto one =
        std::ranges::find_if(found, [&](const auto& lesson) { return usable(lesson) && named(lesson); });
    if (one == found.end()) // its faults will be reported
        one = std::ranges::find_if(found, named);
    if (one == found.end()) {
        std::string names;
        for (const lesson::FoundLesson& lesson : found)
            if (usable(lesson))
                names += (names.empty() ? "" : ", ") + lesson.parsed.lesson.id;
        fail_input("there is no lesson \"" + options.name + "\"; there are " + names);
    }
    const lesson::LessonTally tally = play(one->parsed, one->path);
    if (options.json) {
        return print(nlohmann::json{{"id", options.name},
                                    {"steps", tally.steps},
                                    {"questions", tally.questions},
                                    {"values", tally.values},
                                    {"quoted", tally.quoted},
                                    {"targets", tally.targets},
                                    {"gates", tally.gates},
                                    {"tables", tally.tables},
                                    {"formulas", tally.formulas},
                                    {"panels", tally.panels},
                                    {"changes", tally.changes},
                                    {"words", tally.words}});
    }
    std::ostringstream out;
    out << text::plain_text(options.name) << ": played to its end: " << tally.steps << " steps, "
        << tally.questions << " questions, " << tally.values << " live values, " << tally.quoted
        << " quoted numbers that agree with the engine, " << tally.targets << " targets, " << tally.gates
        << " gates closed before and open after their solution, " << tally.tables << " tables, "
        << tally.formulas << " formulas, " << tally.panels << " panels, " << tally.changes
        << " changes that no quoted number contradicts, " << tally.words << " words\n";
    write_file_atomically("-", out.str());
}

} // namespace

void add_lesson(CLI::App& program) {
    const auto options = std::make_shared<LessonOptions>();
    CLI::App* lesson = program.add_subcommand("lesson", "list, check or play lessons without a window");
    lesson->require_subcommand(1);
    CLI::App* listing = lesson->add_subcommand("list", "list all lessons");
    CLI::App* checking = lesson->add_subcommand("check", "list the faults of a lesson file, by line");
    CLI::App* playing = lesson->add_subcommand(
        "play", "run a lesson to its end and check every target, gate and quoted number");
    for (CLI::App* command : {listing, playing}) {
        command->add_option("--lessons", options->folder, "a folder with more lessons");
        command->add_option("--language", options->language, "language of the translation, such as de")
            ->capture_default_str();
        command->add_flag("--json", options->json, "machine-readable output");
    }
    checking->add_option("FILE", options->file, "a lesson, .md")->required();
    playing->add_option("NAME", options->name, "the id of a lesson")->required();
    listing->callback([options] { list(*options); });
    checking->callback([options] { check(*options); });
    playing->callback([options] { play_named(*options); });
}

} // namespace headscope::cli
