#pragma once

#include "core/lesson/lesson.h"
#include "core/lesson/parse.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

/// A fenced block of the file.
struct Fence {
    std::string word; ///< after the backticks: "gate", "quiz", "python", ...
    std::string text;
    int line = 0; ///< line of its first line of text
};

/// The functions that read_markdown calls for each part of a text.
struct MarkdownSink {
    std::function<void(Spans title, int line)> section; ///< a heading of level 2
    /// Every block at the top level, with the line of its first word.
    std::function<void(LessonBlock block, int line)> block;
    /// Called for a fence. The block that it returns takes the fence's place; nullopt puts nothing there.
    std::function<std::optional<LessonBlock>(const Fence& fence)> fence;
    /// What is kept of a link's target, see Span::link. Absent: a link is its text.
    std::function<std::string(std::string_view target)> link = {};
    bool live_values = true; ///< {{...}} is a live value; else it is text
};

/// Reads Markdown through md4c (CommonMark, with tables). `first_line` is the line number where the text
/// begins. Of a picture its caption is kept, as emphasised text.
void read_markdown(std::string_view text, int first_line, const MarkdownSink& sink,
                   std::vector<LessonFault>& faults);

/// The spans of one line of text.
Spans read_spans(std::string_view text, int line, std::vector<LessonFault>& faults);

} // namespace headscope::lesson
