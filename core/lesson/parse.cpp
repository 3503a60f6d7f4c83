#include "core/lesson/parse.h"

#include "core/base/message.h"
#include "core/lesson/directives.h"
#include "core/text/plain_text.h"

#include <algorithm>

namespace headscope::lesson {

namespace {

constexpr std::string_view rule = "---\n";

std::string plain_text(const Spans& spans) {
    std::string out;
    for (const Span& span : spans)
        out += span.text;
    return out;
}

class Assembly {
public:
    explicit Assembly(ParsedLesson& out) : lesson_(out.lesson), faults_(out.faults) {}

    MarkdownSink sink() {
        return {.section = [this](Spans title, int line) { begin_step(plain_text(title), line); },
                .block = [this](LessonBlock block, int line) { add(std::move(block), line); },
                .fence = [this](const Fence& fence) { return read(fence); }};
    }

private:
    void begin_step(std::string title, int line) {
        Step step;
        step.title = std::move(title);
        step.line = line;
        lesson_.steps.push_back(std::move(step));
    }

    bool outside(int line, const std::string& fault) {
        if (!lesson_.steps.empty())
            return false;
        faults_.push_back({line, fault});
        return true;
    }

    void add(LessonBlock block, int line) {
        if (!outside(line, tr("parse.text_stands_before_first",
                              "there is text before the first step; begin a step with \"## Title\"")))
            lesson_.steps.back().blocks.push_back(std::move(block));
    }

    template<class Found>
    std::optional<LessonBlock> placed(std::optional<Found> found) {
        return found ? std::optional<LessonBlock>(std::move(*found)) : std::nullopt;
    }

    std::optional<LessonBlock> read(const Fence& fence) {
        if (fence.word == "quiz") {
            if (auto question = read_question(fence, faults_))
                lesson_.quiz.push_back(std::move(*question));
            return {};
        }
        if (outside(fence.line, tr("parse.block_stands_before_first",
                                   "there is a block before the first step; begin a step with \"## Title\"")))
            return {};
        if (fence.word == "step") {
            lesson_.steps.back().scene = read_scene(fence, faults_);
            return {};
        }
        if (fence.word == "gate")
            return placed(read_gate(fence, faults_));
        if (fence.word == "fill")
            return placed(read_fill(fence, faults_));
        if (fence.word == "show")
            return placed(read_show(fence, faults_));
        if (fence.word == "question")
            return placed(read_step_question(fence, faults_));
        if (fence.word == "claim")
            return placed(read_claim(fence, faults_));
        if (fence.word == "panel")
            return placed(read_panel(fence, faults_));
        if (fence.word == "formula")
            return FormulaBlock{.tex = fence.text, .line = fence.line};
        return CodeBlock{.language = fence.word, .text = fence.text};
    }

    Lesson& lesson_;
    std::vector<LessonError>& faults_;
};

/// Removes CR, and replaces invalid UTF-8 and control characters with U+FFFD, because messages and fonts
/// cannot show them.
std::string with_plain_lines(std::string_view text, std::vector<LessonError>& faults) {
    std::string given(text), out;
    std::erase(given, '\r');
    int number = 1;
    for (std::size_t begin = 0; begin < given.size(); ++number) {
        const std::size_t end = std::min(given.find('\n', begin), given.size());
        const std::string line = given.substr(begin, end - begin);
        std::string without_tabs = line;
        std::ranges::replace(without_tabs, '\t', ' ');
        const std::string plain = text::plain_text(without_tabs);
        if (plain != without_tabs)
            faults.push_back(
                {number, tr("parse.line_bytes_no_text",
                            "the line has bytes that are not UTF-8 text; save the file as UTF-8")});
        out += plain == without_tabs ? line : plain;
        if (end < given.size())
            out += '\n';
        begin = end + 1;
    }
    return out;
}

} // namespace

ParsedLesson parse_lesson(std::string_view given, const std::string& path) {
    ParsedLesson out;
    const std::string text = with_plain_lines(given, out.faults);
    out.lesson.path = path;
    std::string_view body = text;
    int line = 1;
    const auto end = body.starts_with(rule) ? body.find("\n---\n", rule.size() - 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
        out.faults.push_back({1, tr("parse.front_matter_missing_begin",
                                    "the front matter is missing; begin the file with ---, lines such as id: "
                                    "masks, and --- again")});
    } else {
        read_front_matter(body.substr(rule.size(), end + 1 - rule.size()), 2, out.lesson, out.faults);
        line += static_cast<int>(std::ranges::count(body.substr(0, end + 5), '\n'));
        body.remove_prefix(end + 5);
    }
    read_markdown(body, line, Assembly(out).sink(), out.faults);
    // Removes steps that contain only the heading of the quiz.
    std::erase_if(out.lesson.steps, [&](const Step& step) {
        return step.blocks.empty() && step.scene.line == 0 && !out.lesson.quiz.empty() &&
               &step == &out.lesson.steps.back();
    });
    if (out.lesson.steps.empty())
        out.faults.push_back(
            {line, tr("parse.lesson_no_step_begin", "the lesson has no step; begin one with \"## Title\"")});
    if (out.lesson.quiz.empty())
        out.faults.push_back(
            {line, tr("parse.lesson_no_quiz_add", "the lesson has no quiz; add a ```quiz block at the end")});
    std::ranges::stable_sort(out.faults, {}, &LessonError::line);
    return out;
}

} // namespace headscope::lesson
