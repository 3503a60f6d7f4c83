#include "app/shell/handout/worksheet.h"
#include "core/base/error.h"
#include "core/lesson/check.h"
#include "core/lesson/library.h"
#include "core/lesson/questions/step_tasks.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace headscope;
using Catch::Contains;

namespace {

lesson::Lesson worksheet_lesson(const std::string& id, const std::string& language = "en") {
    for (const lesson::FoundLesson& found : lesson::find_lessons({}, language))
        if (found.parsed.lesson.id == id)
            return found.parsed.lesson;
    FAIL("no lesson " << id);
    return {};
}

app::Worksheet sheet_of(const lesson::Lesson& lesson, const std::optional<std::string>& sentence = {}) {
    return app::make_worksheet(lesson, sentence, *engine::make_engine("cpu"));
}

} // namespace

TEST_CASE("a worksheet has the tables and questions of its lesson", "[handout][worksheet]") {
    for (const char* const id : {"by-hand", "first-lesson", "what-attention-is"}) {
        INFO(id);
        const lesson::Lesson lesson = worksheet_lesson(id);
        const app::Worksheet sheet = sheet_of(lesson);
        std::size_t questions = lesson.quiz.size(), tables = 1; // one row by hand
        for (const lesson::Step& step : lesson.steps) {
            const std::size_t asked = lesson::questions_of(step.blocks).size();
            questions += asked;
            tables += lesson::tasks_with_ids(step.blocks).size() - asked;
        }
        CHECK(sheet.questions.size() == questions);
        CHECK(sheet.tables.size() == tables);
        for (const app::PaperQuestion& question : sheet.questions) {
            INFO(question.text);
            CHECK_FALSE(question.text.empty());
            CHECK_FALSE(question.answer.empty());
        }
    }
}

TEST_CASE("the row by hand of a worksheet adds up", "[handout][worksheet]") {
    const app::HandTable table = sheet_of(worksheet_lesson("first-lesson")).tables.back();
    REQUIRE(table.columns.size() == 3);
    double powers = 0, weights = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        powers += table.cells[3 * row + 1].value;
        weights += table.cells[3 * row + 2].value;
    }
    CHECK(weights == Approx(1).margin(1e-5));
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        CHECK(table.cells[3 * row + 2].value == Approx(table.cells[3 * row + 1].value / powers).margin(1e-5));
}

TEST_CASE("a worksheet for another sentence has the tables that it can have", "[handout][worksheet]") {
    const lesson::Lesson lesson = worksheet_lesson("first-lesson");
    const app::Worksheet sheet = sheet_of(lesson, "The dog ran down");
    CHECK(sheet.sentence == "The dog ran down");
    const app::HandTable& row = sheet.tables.back();
    CHECK(row.rows == std::vector<std::string>{"The", "dog", "ran", "down"});
    CHECK_THROWS_WITH(sheet_of(lesson, "a a a a a a a a a a a a"), Contains("no table for the sentence"));
}

TEST_CASE("a lesson without a table has no worksheet", "[handout][worksheet]") {
    lesson::Lesson lesson = worksheet_lesson("first-lesson");
    lesson.scene.sentence = "one two three four five six seven eight nine ten eleven twelve";
    lesson.steps.resize(1);
    lesson.steps.front().blocks.clear();
    lesson.steps.front().scene = {};
    lesson.quiz.clear();
    CHECK_THROWS_WITH(sheet_of(lesson), Contains("has no table to fill in"));
}

TEST_CASE("every lesson with a table prints its worksheet and its solution", "[handout][worksheet]") {
    const std::string language = GENERATE("en", "de");
    int printed = 0;
    for (const lesson::FoundLesson& found : lesson::find_lessons({}, language)) {
        INFO(found.parsed.lesson.id);
        try {
            const app::Worksheet sheet = sheet_of(found.parsed.lesson);
            for (const bool solution : {false, true}) {
                const std::string pdf = app::worksheet_pdf(sheet, solution);
                CHECK(pdf.starts_with("%PDF-1.4"));
                CHECK(pdf == app::worksheet_pdf(sheet, solution)); // the same bytes each time
                CHECK(pdf.find("/MediaBox [ 0 0 595") != std::string::npos);
                CHECK(pdf.find("/FontFile") != std::string::npos);
                CHECK(pdf.find("/ToUnicode") != std::string::npos); // the text can be selected
            }
            ++printed;
        } catch (const Error& fault) {
            CHECK_THAT(fault.what(), Contains("has no table to fill in"));
        }
    }
    CHECK(printed >= 10);
}
