#include "app/cli/subcommands.h"
#include "app/lesson/progress.h"
#include "app/lesson/results.h"
#include "core/base/file.h"
#include "core/base/user_folders.h"
#include "core/lesson/library.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

namespace headscope::cli {

namespace {

struct ResultsOptions {
    std::vector<std::string> files;
    std::string out = "-", language = "en";
    std::optional<std::string> folder;
};

/// "anna" for anna/course.json and for anna.json.
std::string learner_of(const std::string& file) {
    const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
    return (path.filename() == "course.json" ? path.parent_path().filename() : path.stem()).string();
}

void write_results(const ResultsOptions& options) {
    std::vector<app::LearnerResults> learners;
    for (const std::string& file : options.files)
        learners.push_back({learner_of(file), app::parse_progress(file)});
    const std::filesystem::path own = app::course_progress_path(program_folder(UserFolder::state));
    if (learners.empty() && !own.empty() && std::filesystem::exists(own))
        learners.push_back({"", app::parse_progress(own.string())});
    app::CourseState course;
    app::list_lessons(course, lesson::find_lessons(lesson::lesson_folders(options.folder), options.language));
    write_file_atomically(options.out, app::results_csv(course.lessons, learners));
}

} // namespace

void add_lesson_results(CLI::App& lesson) {
    const auto options = std::make_shared<ResultsOptions>();
    CLI::App* command = lesson.add_subcommand("results", "write the answers of learners as a CSV table");
    command->add_option(
        "FILE", options->files,
        "course.json of a learner's state folder (default: your own); the name of its folder, "
        "or another file name, stands for the learner");
    command->add_option("-o,--output", options->out, "the file to write (default: standard output)");
    command->add_option("--lessons", options->folder, "a folder with more lessons");
    command->add_option("--language", options->language, "language of the texts, such as de")
        ->capture_default_str();
    command->callback([options] { write_results(*options); });
}

} // namespace headscope::cli
