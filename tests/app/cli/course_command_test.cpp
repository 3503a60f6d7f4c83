#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <nlohmann/json.hpp>
#include <string>

using namespace headscope;
using Catch::Contains;
using headscope::test::ProgramRun;
using headscope::test::run_program;
using headscope::test::TemporaryFolder;
using nlohmann::json;

namespace {

std::string own_lesson(const std::string& step) {
    return "---\nid: mine\ntitle: Mine\nnumber: 99\nminutes: 1\ndifficulty: beginner\npreset: "
           "first-lesson\n---\n" +
           step +
           "\n```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n- {text: c, why: d}\n"
           "- {text: e, why: f}\n```\n";
}

} // namespace

TEST_CASE("lesson check --course reports what the lessons have in common", "[cli][lesson]") {
    const ProgramRun run = run_program({"lesson", "check", "--course", "--json"});
    CAPTURE(run.err);
    CHECK(run.code == 0);
    const json report = json::parse(run.out);
    CHECK(report.at("lessons") == 19);
    CHECK(report.at("steps") > 100);
    CHECK(report.at("steps_without_task") == 0);
    CHECK(report.at("claims").is_number());
    for (const char* strategy : {"first", "second", "third", "longest", "shortest"}) {
        const json& blind = report.at("blind").at(strategy);
        CHECK(blind.at("right") <= blind.at("of"));
        CHECK(blind.at("chance") > 0.2);
    }
    CHECK(report.at("terms_before_introduction").empty());
}

TEST_CASE("lesson check --course fails for a fault of any lesson and for a step without a task",
          "[cli][lesson]") {
    const TemporaryFolder folder;
    const auto check = [&](const std::string& step) {
        write_file_atomically(folder.file("mine.md"), own_lesson(step));
        return run_program({"lesson", "check", "--course", "--lessons", folder.file("")});
    };
    const ProgramRun idle = check("## Idle\nA step with five words of text.\n");
    CHECK(idle.code == 1);
    CHECK_THAT(idle.err, Contains("1 step has no task"));
    CHECK_THAT(idle.out, Contains("mine.md:9: Idle") && Contains("always the longest"));
    const ProgramRun wrong =
        check("## Busy\nA step with five words of [[flux]].\n```claim\nsays: It is five.\nholds: T = 5\n"
              "```\n```question\nid: q\nkind: number\nquestion: Q\nanswer: 1\n```\n");
    CHECK(wrong.code == 1);
    CHECK_THAT(wrong.err, Contains("mine.md:12: the lesson says \"It is five.\"") && Contains("4 = 5") &&
                              Contains("mine.md:10: the glossary has no entry \"flux\""));
}

TEST_CASE("lesson check takes a file or --course", "[cli][lesson]") {
    CHECK(run_program({"lesson", "check"}).code == 2);
    CHECK(run_program({"lesson", "check", "a.md", "--course"}).code == 2);
    CHECK(run_program({"lesson", "check", "a.md", "--json"}).code == 2);
}

TEST_CASE("lesson worksheet writes a PDF or its solution, and refuses a lesson without tables",
          "[cli][lesson]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("sheet.pdf");
    const ProgramRun sheet = run_program({"lesson", "worksheet", "by-hand", "-o", out});
    CHECK(sheet.code == 0);
    const std::string empty = read_file(out);
    CHECK(empty.starts_with("%PDF-"));
    CHECK(run_program({"lesson", "worksheet", "by-hand", "--solution", "--language", "de", "-o", out}).code ==
          0);
    const std::string solved = read_file(out);
    CHECK(solved.starts_with("%PDF-"));
    CHECK(solved != empty);

    write_file_atomically(
        folder.file("mine.md"),
        "---\nid: mine\ntitle: Mine\nminutes: 1\ndifficulty: beginner\npreset: first-lesson\nsentence: a b c "
        "d e "
        "f g h i j k l\n---\n## Long\nA step with five words.\n```quiz\nquestion: Q\nchoices:\n- {text: a, "
        "why: b, right: true}\n- {text: c, why: d}\n- {text: e, why: f}\n```\n");
    const ProgramRun none =
        run_program({"lesson", "worksheet", "mine", "--lessons", folder.file(""), "-o", out});
    CHECK(none.code == 1);
    CHECK_THAT(none.err, Contains("has no table to fill in"));
    CHECK(read_file(out) == solved); // as it was
    const ProgramRun other = run_program({"lesson", "worksheet", "by-hand", "-o", folder.file("sheet.png")});
    CHECK(other.code == 1);
    CHECK_THAT(other.err, Contains(".pdf"));
}
