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
    /// Called for a fence. The returned block replaces the fence; nullopt inserts nothing.
    std::function<std::optional<LessonBlock>(const Fence& fence)> fence;
    /// Converts a link's target to Span::link. If absent, a link is plain text.
    std::function<std::string(std::string_view target)> link = {};
    bool live_values = true; ///< {{...}} is a live value and [[...]] a term; else both are text
};

/// Reads Markdown with md4c (CommonMark, with tables). `first_line` is the line number of the start of the
/// text. A picture is replaced by its caption, as emphasized text.
void read_markdown(std::string_view text, int first_line, const MarkdownSink& sink,
                   std::vector<LessonError>& faults);

/// The spans of one line of text.
Spans read_spans(std::string_view text, int line, std::vector<LessonError>& faults);

} // namespace headscope::lesson
