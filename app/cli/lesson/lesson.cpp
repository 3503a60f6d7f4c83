#include "app/cli/subcommands.h"
#include "app/shell/handout/handout.h"
#include "app/shell/handout/worksheet.h"
#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/course/course_report.h"
#include "core/figure/figure.h"
#include "core/lesson/check.h"
#include "core/lesson/library.h"
#include "core/text/plain_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace headscope::cli {

namespace {

struct LessonOptions {
    std::string folder, language = "en", file, name, out;
    std::vector<std::string> sentences;
    std::optional<std::string> sentence;
    bool json = false, course = false, solution = false;
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

/// Checks and plays a lesson. Returns its faults in the order of their lines.
std::vector<lesson::LessonError> faults_of(const lesson::ParsedLesson& parsed, lesson::LessonTally& tally) {
    std::vector<lesson::LessonError> faults = parsed.faults;
    for (const auto& found : {lesson::check_lesson(parsed.lesson, *engine::make_engine("cpu"), &tally),
                              course::unknown_terms(parsed.lesson)})
        faults.insert(faults.end(), found.begin(), found.end());
    std::ranges::stable_sort(faults, {}, &lesson::LessonError::line);
    return faults;
}

/// Checks and plays a lesson; throws Error if the lesson has a fault.
lesson::LessonTally play(const lesson::ParsedLesson& parsed, const std::string& path) {
    lesson::LessonTally tally;
    if (const std::vector<lesson::LessonError> faults = faults_of(parsed, tally); !faults.empty())
        report(path, faults);
    return tally;
}

nlohmann::json place_json(const course::LessonPlace& place) {
    if (place.lesson.empty())
        return nullptr;
    return {{"lesson", place.lesson}, {"file", place.path}, {"line", place.line}};
}

nlohmann::json course_json(const course::CourseReport& report) {
    nlohmann::json blind = nlohmann::json::object(), terms = nlohmann::json::array(),
                   idle = nlohmann::json::array();
    for (const course::BlindStrategy& one : report.blind)
        blind[one.name] = {{"right", one.right}, {"of", one.of}, {"chance", one.chance}};
    for (const course::StepWithoutTask& step : report.without_task) {
        idle.push_back(place_json(step.place));
        idle.back()["title"] = step.title;
    }
    for (const course::EarlyTerm& term : report.early_terms) {
        terms.push_back(place_json(term.used));
        terms.back()["term"] = term.term;
        terms.back()["introduced"] = place_json(term.introduced);
    }
    return {{"lessons", report.lessons},
            {"steps", report.steps},
            {"steps_without_task", report.without_task.size()},
            {"steps_without_task_at", std::move(idle)},
            {"blind", std::move(blind)},
            {"terms_before_introduction", std::move(terms)},
            {"claims", report.claims}};
}

std::string course_text(const course::CourseReport& report) {
    const auto at = [](const course::LessonPlace& place) {
        return place.path + ":" + std::to_string(place.line);
    };
    std::ostringstream out;
    out << report.lessons << " lessons, " << report.steps << " steps, " << report.claims << " claims\n\n"
        << "Steps without a task: " << report.without_task.size() << '\n';
    for (const course::StepWithoutTask& step : report.without_task)
        out << "  " << at(step.place) << ": " << step.title << '\n';
    out << "\nQuestions answered without reading them (guessing: "
        << static_cast<int>(std::lround(100 * report.blind.front().chance)) << " % right)\n";
    for (const course::BlindStrategy& one : report.blind)
        out << "  always the " << one.name << ": " << one.right << " of " << one.of << " right, "
            << static_cast<int>(std::lround(100 * one.rate())) << " %\n";
    out << "\nTerms of the glossary before their introduction: " << report.early_terms.size() << '\n';
    for (const course::EarlyTerm& term : report.early_terms)
        out << "  " << term.term << ": used in " << at(term.used) << ", "
            << (term.introduced.lesson.empty() ? "never introduced" : "introduced in " + at(term.introduced))
            << '\n';
    return out.str();
}

/// Checks all lessons of the course, in English, and what they have in common.
void check_course(const LessonOptions& options) {
    std::vector<lesson::FoundLesson> found =
        lesson::find_lessons(lesson::lesson_folders(options.folder), "en");
    std::erase_if(found, [](const lesson::FoundLesson& one) {
        return !one.hidden_by.empty() || (one.parsed.faults.empty() && one.parsed.lesson.number < 0);
    });
    int faults = 0;
    std::vector<const lesson::Lesson*> lessons;
    for (const lesson::FoundLesson& one : found) {
        lesson::LessonTally tally;
        for (const lesson::LessonError& fault : faults_of(one.parsed, tally)) {
            std::cerr << text::plain_text(one.path + ":" + std::to_string(fault.line) + ": " + fault.sentence)
                      << '\n';
            ++faults;
        }
        if (one.parsed.faults.empty())
            lessons.push_back(&one.parsed.lesson);
    }
    const course::CourseReport report = course::course_report(lessons);
    if (options.json)
        print(course_json(report));
    else
        write_file_atomically("-", course_text(report));
    std::vector<std::string> exceeded = course::exceeded_limits(report);
    if (faults > 0)
        exceeded.push_back(std::to_string(faults) + (faults == 1 ? " fault is" : " faults are") +
                           " listed above");
    if (!exceeded.empty())
        fail_input("the course is not ready: " + joined(exceeded, std::identity(), "; "));
}

void check(const LessonOptions& options) {
    if (options.course)
        return check_course(options);
    play(lesson::parse_lesson(read_file(options.file, lesson::largest_lesson), options.file), options.file);
    write_file_atomically("-", text::plain_text(options.file) + ": no faults\n");
}

nlohmann::json reading_json(const lesson::Lesson& lesson) {
    nlohmann::json out = nlohmann::json::array();
    for (const lesson::Reference& one : lesson.reading) {
        std::string why;
        for (const lesson::Span& span : one.why)
            why += span.text;
        out.push_back({{"title", one.title},
                       {"by", one.by},
                       {"year", one.year},
                       {"where", one.where},
                       {"url", one.url},
                       {"level", one.level},
                       {"why", why}});
    }
    return out;
}

/// Returns the lesson with the id `options.name`. Throws Error(input) with all ids if there is none.
lesson::FoundLesson find_named(const LessonOptions& options) {
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
    return *one;
}

void play_named(const LessonOptions& options) {
    const lesson::FoundLesson one = find_named(options);
    const lesson::LessonTally tally = play(one.parsed, one.path);
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
                                    {"words", tally.words},
                                    {"step_questions", tally.step_questions},
                                    {"claims", tally.claims},
                                    {"reading", reading_json(one.parsed.lesson)}});
    }
    std::ostringstream out;
    out << text::plain_text(options.name) << ": played to its end: " << tally.steps << " steps, "
        << tally.questions << " questions, " << tally.values << " live values, " << tally.quoted
        << " quoted numbers that agree with the engine, " << tally.targets << " targets, " << tally.gates
        << " gates closed before and open after their solution, " << tally.tables << " tables, "
        << tally.step_questions << " questions in steps that take the right answer and refuse wrong ones, "
        << tally.claims << " claims, " << tally.formulas << " formulas, " << tally.panels << " panels, "
        << tally.changes << " changes that no quoted number contradicts, " << tally.words << " words\n";
    write_file_atomically("-", out.str());
}

/// Writes the handout. Its own words are in the lesson's language.
void write_handout(const LessonOptions& options) {
    const lesson::FoundLesson one = find_named(options);
    if (!one.parsed.faults.empty())
        report(one.path, one.parsed.faults);
    use_language(language_of_locale(one.parsed.lesson.language));
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
    write_file_atomically(options.out, app::handout_page(one.parsed.lesson, options.sentences, *engine));
}

/// Writes the worksheet or its solution. Its own words are in the lesson's language.
void write_worksheet(const LessonOptions& options) {
    if (options.out != "-" && figure::figure_format(options.out) != figure::FigureFormat::pdf)
        fail_input("a worksheet is a PDF; give the output a name that ends in .pdf");
    const lesson::FoundLesson one = find_named(options);
    if (!one.parsed.faults.empty())
        report(one.path, one.parsed.faults);
    use_language(language_of_locale(one.parsed.lesson.language));
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
    write_file_atomically(
        options.out, app::worksheet_pdf(app::make_worksheet(one.parsed.lesson, options.sentence, *engine),
                                        options.solution));
}

} // namespace

void add_lesson(CLI::App& program) {
    const auto options = std::make_shared<LessonOptions>();
    CLI::App* lesson = program.add_subcommand("lesson", "list, check or play lessons without a window");
    lesson->require_subcommand(1);
    CLI::App* listing = lesson->add_subcommand("list", "list all lessons");
    CLI::App* checking =
        lesson->add_subcommand("check", "list the faults of a lesson file, by line, or of the whole course");
    CLI::App* playing = lesson->add_subcommand(
        "play", "run a lesson to its end and check every target, gate and quoted number");
    CLI::App* handing_out = lesson->add_subcommand(
        "handout", "write a lesson as one page of HTML for a class, with its maps, tables and questions");
    CLI::App* printing = lesson->add_subcommand(
        "worksheet", "write the tables and questions of a lesson as a PDF, or their solution");
    for (CLI::App* command : {listing, playing, handing_out, printing}) {
        command->add_option("--lessons", options->folder, "a folder with more lessons");
        command->add_option("--language", options->language, "language of the translation, such as de")
            ->capture_default_str();
    }
    for (CLI::App* command : {listing, playing})
        command->add_flag("--json", options->json, "machine-readable output");
    for (CLI::App* command : {playing, handing_out, printing})
        command->add_option("NAME", options->name, "the id of a lesson")->required();
    CLI::Option* file = checking->add_option("FILE", options->file, "a lesson, .md");
    CLI::Option* all = checking->add_flag(
        "--course", options->course,
        "check all lessons of the course, and what they have in common: tasks, questions and terms");
    checking->add_flag("--json", options->json, "with --course: machine-readable output")->needs(all);
    checking
        ->add_option("--lessons", options->folder,
                     "with --course: a folder with lessons, which replace those with the same id")
        ->needs(all);
    file->excludes(all);
    checking->callback([options, file, all] {
        if (file->count() + all->count() == 0)
            throw CLI::RequiredError("FILE or --course");
        check(*options);
    });
    handing_out
        ->add_option("--sentence", options->sentences,
                     "a sentence for the maps in addition to the lesson's own; may be repeated")
        ->allow_extra_args(false);
    handing_out->add_option("-o,--output", options->out, "the .html file to write, - for standard output")
        ->required();
    printing->add_flag("--solution", options->solution, "write the solution");
    printing->add_option("--sentence", options->sentence,
                         "a sentence in place of the lesson's; tables and questions about words that it does "
                         "not have are left out");
    printing->add_option("-o,--output", options->out, "the .pdf file to write, - for standard output")
        ->required();
    add_lesson_results(*lesson);
    listing->callback([options] { list(*options); });
    playing->callback([options] { play_named(*options); });
    printing->callback([options] { write_worksheet(*options); });
    handing_out->callback([options] { write_handout(*options); });
}

} // namespace headscope::cli
