#include "app/lesson/progress.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <nlohmann/json.hpp>

namespace headscope::app {

std::filesystem::path course_progress_path(const std::filesystem::path& state_folder) {
    return state_folder.empty() ? state_folder : state_folder / "course.json";
}

std::map<std::string, LessonProgress> parse_progress(const std::string& path) {
    std::map<std::string, LessonProgress> all;
    const nlohmann::json file = parse_json_with_bytes(read_file(path), path);
    try {
        for (const auto& [id, entry] : file.items()) {
            LessonProgress progress;
            progress.furthest = entry.at("furthest").get<int>();
            progress.page = entry.at("page").get<int>();
            for (const auto& pair : entry.at("answers"))
                progress.answers[pair.at(0).get<int>()] = pair.at(1).get<int>();
            progress.done = entry.at("done").get<std::set<std::string>>();
            // Files of earlier versions have no such entry.
            const nlohmann::json given = entry.value("given", nlohmann::json::object());
            for (const auto& [question, answer] : given.items())
                progress.given[question] = {answer.at("answer").get<std::string>(),
                                            answer.at("shown").get<bool>()};
            all[id] = std::move(progress);
        }
    } catch (const nlohmann::json::exception&) {
        fail_input(tr("progress.not_progress",
                      "{} does not hold the progress of a learner; take course.json from the state folder of "
                      "Headscope",
                      path));
    }
    return all;
}

std::map<std::string, LessonProgress> read_progress(const std::filesystem::path& path) {
    std::error_code none;
    if (path.empty() || !std::filesystem::is_regular_file(path, none))
        return {};
    try {
        return parse_progress(path.string());
    } catch (const std::exception&) {
        return {}; // a damaged file loses only the progress
    }
}

void write_progress(const std::filesystem::path& path,
                    const std::map<std::string, LessonProgress>& progress) {
    if (path.empty())
        return;
    nlohmann::json file = nlohmann::json::object();
    for (const auto& [id, one] : progress) {
        nlohmann::json answers = nlohmann::json::array();
        for (const auto& [question, choice] : one.answers)
            answers.push_back({question, choice});
        nlohmann::json given = nlohmann::json::object();
        for (const auto& [question, answer] : one.given)
            given[question] = {{"answer", answer.text}, {"shown", answer.shown}};
        file[id] = {{"furthest", one.furthest},
                    {"page", one.page},
                    {"answers", std::move(answers)},
                    {"done", one.done},
                    {"given", std::move(given)}};
    }
    try {
        std::filesystem::create_directories(path.parent_path());
        write_file_atomically(path.string(), dump_json(file, 1) + "\n");
    } catch (const std::exception& fault) {
        fail_input(tr("progress.place_course_not_saved",
                      "your place in the course is not saved: {}; free some disk space, or make {} writable",
                      fault.what(), path.parent_path().string()));
    }
}

namespace {

/// Returns the first fault, and how to see the others.
std::string fault_summary(const std::vector<lesson::LessonError>& faults) {
    const std::string first =
        tr("progress.line", "Line {}: {}.", faults.front().line, faults.front().sentence);
    return faults.size() == 1 ? first
                              : first + " " +
                                    tr("progress.faults_all_headscope_lesson",
                                       "{} faults in all; headscope lesson check lists them.", faults.size());
}

/// Returns the file name, or the whole path if both files have the same name.
std::string listed_name(const std::string& path, const std::string& beside) {
    const auto name = [](const std::string& of) { return std::filesystem::path(of).filename().string(); };
    return name(path) == name(beside) ? path : name(path);
}

} // namespace

void list_lessons(CourseState& course, std::vector<lesson::FoundLesson> found) {
    course.lessons.clear();
    course.unlisted.clear();
    for (lesson::FoundLesson& one : found) {
        if (!one.hidden_by.empty())
            course.unlisted.push_back(
                {one.path,
                 tr("progress.same_id_listed_place", "{} has the same id, {}, and is listed instead.",
                    listed_name(one.hidden_by, one.path), one.parsed.lesson.id),
                 lesson::name_of(one)});
        else if (one.parsed.faults.empty())
            course.lessons.push_back(std::make_shared<const lesson::Lesson>(std::move(one.parsed.lesson)));
        else
            course.unlisted.push_back({one.path, fault_summary(one.parsed.faults), lesson::name_of(one)});
    }
}

} // namespace headscope::app
