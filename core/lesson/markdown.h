#pragma once

#include "core/lesson/lesson.h"
#include "core/lesson/parse.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

/// A fenced block as it stands in the file.
struct Fence {
    std::string word; ///< after the backticks: "gate", "quiz", "python", ...
    std::string text;
    int line = 0; ///< of its first line of text
};

/// What a Markdown text is read into.
struct MarkdownSink {
    std::function<void(Spans title, int line)> section; ///< a heading of level 2
    std::function<void(LessonBlock block)> block;       ///< at the top level
    /// A fence; what it returns stands in its place, nothing when it is no part of the text.
    std::function<std::optional<LessonBlock>(const Fence& fence)> fence;
};

/// Reads a text through md4c (CommonMark, with tables). `first_line` is the number of its first line.
void read_markdown(std::string_view text, int first_line, const MarkdownSink& sink,
                   std::vector<LessonFault>& faults);

/// The spans of one line of text.
Spans read_spans(std::string_view text, int line, std::vector<LessonFault>& faults);

} // namespace headscope::lesson
