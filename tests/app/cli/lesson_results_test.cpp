#include "app/lesson/progress.h"
#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace headscope;
using Catch::Contains;
using headscope::test::ProgramRun;
using headscope::test::run_program;
using headscope::test::TemporaryFolder;

namespace {

const char* const lesson_with_tasks = R"(---
id: mine
title: Mine
minutes: 1
difficulty: beginner
preset: first-lesson
---
## One
A step with five words of text.
```question
id: weight of cat
kind: number
question: Which weight, "exactly", gets **cat**?
answer: weights[0][sat, cat]
```
```question
id: order
kind: order
question: Sort them.
items:
- {text: big, value: 2}
- {text: small, value: 1}
```
```fill
id: row
task: Fill it in.
cells: weights[0][sat, :]
```
```question
id: later
kind: choice
question: Which one?
choices:
- {text: a, why: b, right: true}
- {text: c, why: d}
- {text: e, why: f}
```
```quiz
question: Q
choices:
- {text: "yes, always", why: b, right: true}
- {text: never, why: d}
- {text: sometimes, why: f}
```
```quiz
question: R
choices:
- {text: a, why: b, right: true}
- {text: c, why: d}
- {text: e, why: f}
```
)";

} // namespace

TEST_CASE("the answers of learners are written as a table", "[cli][lesson]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("mine.md"), lesson_with_tasks);
    app::LessonProgress anna;
    anna.given["weight of cat"] = {"0.86", false};
    anna.given["order"] = {"1, 2", true};
    anna.done = {"weight of cat", "order", "row"};
    anna.answers = {{0, 0}, {1, 2}};
    app::write_progress(folder.file("anna/course.json"), {{"mine", anna}});
    app::write_progress(folder.file("ben.json"), {{"mine", {}}, {"a lesson that is gone", anna}});
    const std::string out = folder.file("results.csv");
    const ProgramRun run = run_program({"lesson", "results", folder.file("anna/course.json"),
                                        folder.file("ben.json"), "--lessons", folder.file(""), "-o", out});
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK(
        read_file(out) ==
        "learner,lesson,part,kind,id,text,answer,result\r\n"
        "anna,mine,step 1,question,weight of cat,\"Which weight, \"\"exactly\"\", gets cat?\",0.86,right\r\n"
        "anna,mine,step 1,question,order,Sort them.,big > small,shown\r\n"
        "anna,mine,step 1,question,later,Which one?,,open\r\n"
        "anna,mine,step 1,table,row,Fill it in.,,right\r\n"
        "anna,mine,quiz 1,quiz,,Q,\"yes, always\",right\r\n"
        "anna,mine,quiz 2,quiz,,R,e,wrong\r\n"
        "ben,mine,step 1,question,weight of cat,\"Which weight, \"\"exactly\"\", gets cat?\",,open\r\n"
        "ben,mine,step 1,question,order,Sort them.,,open\r\n"
        "ben,mine,step 1,question,later,Which one?,,open\r\n"
        "ben,mine,step 1,table,row,Fill it in.,,open\r\n"
        "ben,mine,quiz 1,quiz,,Q,,open\r\n"
        "ben,mine,quiz 2,quiz,,R,,open\r\n");
}

TEST_CASE("files that hold no progress are refused by name", "[cli][lesson]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("other.json"), "{\"a\": {\"b\": 1}}");
    const ProgramRun other = run_program({"lesson", "results", folder.file("other.json")});
    CHECK(other.code == 1);
    CHECK_THAT(other.err, Contains("other.json does not hold the progress of a learner"));
    const ProgramRun missing = run_program({"lesson", "results", folder.file("none.json")});
    CHECK(missing.code == 1);
    CHECK_THAT(missing.err, Contains("none.json"));
}
