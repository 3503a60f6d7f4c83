#include "core/lesson/expression.h"
#include "core/lesson/formula.h"
#include "core/lesson/markdown.h"
#include "core/lesson/parse.h"
#include "core/manual/glossary.h"
#include "core/manual/manual.h"
#include "tests/fuzz/target.h"

#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace headscope;

namespace {

const fuzz::Registered lesson_target({.name = "lesson", .read = [](std::string_view bytes) {
                                          for (const lesson::LessonError& fault :
                                               lesson::parse_lesson(bytes, "fuzz.md").faults)
                                              fuzz::require(fault.line >= 1 && !fault.sentence.empty());
                                      }});

const fuzz::Registered expression_target({.name = "expression", .read = [](std::string_view bytes) {
                                              fuzz::accepted(
                                                  [&] { lesson::Expression::parse(bytes).targets(); });
                                          }});

const fuzz::Registered formula_target({.name = "formula", .read = [](std::string_view bytes) {
                                           fuzz::accepted([&] { lesson::parse_formula(bytes); });
                                       }});

/// Reads text as in lessons, with live values, and as in the manual, with links from its words to the
/// glossary.
void read_text(std::string_view bytes, bool live_values) {
    std::set<std::string> met;
    const lesson::MarkdownSink sink{
        .section = [](const lesson::Spans&, int line) { fuzz::require(line >= 1); },
        .block =
            [&](const lesson::LessonBlock& block, int) {
                if (const auto* paragraph = std::get_if<lesson::Paragraph>(&block))
                    fuzz::require(manual::plain(manual::with_terms(paragraph->spans, met)) ==
                                  manual::plain(paragraph->spans));
            },
        .fence =
            [](const lesson::Fence& fence) {
                fuzz::require(fence.line >= 1);
                return lesson::LessonBlock(lesson::CodeBlock{.language = fence.word, .text = fence.text});
            },
        .link = [](std::string_view target) { return std::string(target); },
        .live_values = live_values};
    std::vector<lesson::LessonError> faults;
    lesson::read_markdown(bytes, 1, sink, faults);
    for (const lesson::LessonError& fault : faults)
        fuzz::require(fault.line >= 1 && !fault.sentence.empty());
}

const fuzz::Registered markdown_target({.name = "markdown", .read = [](std::string_view bytes) {
                                            read_text(bytes, true);
                                            read_text(bytes, false);
                                        }});

} // namespace
