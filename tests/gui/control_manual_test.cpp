#include "app/shell/control/open_question.h"
#include "app/shell/control/requests/requests.h"
#include "app/shell/report/report_fields.h"
#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// The tables of assets/manual/automation.md, against those that the program works with. With
// HEADSCOPE_WRITE_MANUAL in the environment, the test writes them into the page instead.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::string table_row(const std::vector<std::string_view>& cells) {
    std::string row = "|";
    for (const std::string_view cell : cells)
        row += " " + std::string(cell) + " |";
    return row + "\n";
}

std::string code(std::string_view text) {
    return "`" + std::string(text) + "`";
}

std::string table_of_requests(const RequestSection& section) {
    std::string table = table_row({"request", "value", "effect"}) + table_row({"---", "---", "---"});
    for (const Request& request : section.rows) {
        const std::string id = code(request.id);
        table += table_row({id, request.value.empty() ? "none" : request.value, request.effect});
    }
    return table;
}

template<class Source>
std::string table_of_fields(const std::vector<ReportField<Source>>& fields) {
    std::string table = table_row({"field", "type", "meaning"}) + table_row({"---", "---", "---"});
    for (const ReportField<Source>& field : fields) {
        const std::string name = code(field.name);
        table += table_row({name, field.type, field.meaning});
    }
    return table;
}

std::string table_of_questions() {
    std::string table = table_row({"kind", "answers", "meaning"}) + table_row({"---", "---", "---"});
    for (const QuestionKind& kind : question_kinds()) {
        const std::string name = code(kind.kind);
        table += table_row({name, kind.choices, kind.meaning});
    }
    return table;
}

/// Returns the page with another first table below a heading. Fails the test if there is no such table.
std::string with_table(const std::string& page, const std::string& heading, const std::string& table) {
    INFO(heading);
    const std::size_t at = page.find("\n" + heading + "\n");
    REQUIRE(at != std::string::npos);
    const std::size_t begin = page.find("\n|", at) + 1;
    REQUIRE(begin != 0);
    std::size_t end = begin;
    while (page.compare(end, 1, "|") == 0)
        end = page.find('\n', end) + 1;
    return page.substr(0, begin) + table + page.substr(end);
}

} // namespace

TEST_CASE("the manual has the program's tables of requests, questions and fields of a report",
          "[control][manual]") {
    const std::string path = test_data("/../../assets/manual/automation.md"), page = read_file(path);
    std::string expected = page;
    for (const RequestSection& section : request_sections())
        expected = with_table(expected, "### " + std::string(section.title), table_of_requests(section));
    expected = with_table(expected, "## A question", table_of_questions());
    expected = with_table(expected, "## A report", table_of_fields(report_fields()));
    expected = with_table(expected, "## A matrix", table_of_fields(grid_fields()));
    if (std::getenv("HEADSCOPE_WRITE_MANUAL") != nullptr)
        write_file_atomically(path, expected);
    else
        CHECK(page == expected);
}

} // namespace headscope::test
