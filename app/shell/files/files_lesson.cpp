#include "app/lesson/step_writer.h"
#include "app/shell/files/files.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/lesson/library.h"

#include <imgui.h>

namespace headscope::app {

void Files::write_lesson_step(bool append) {
    if (!append) {
        const std::string step = lesson_step({*state_.document, state_.view, state_.model});
        ImGui::SetClipboardText(step.c_str());
        return say(tr("files_lesson.copied",
                      "Copied a step of a lesson that shows this view; paste it into the file"));
    }
    const std::string path = state_.course.open == nullptr ? "" : state_.course.open->path;
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
        fail_input(tr("files_lesson.not_own",
                      "The lessons of the program cannot be changed; open a lesson file of your own."));
    const std::string text = with_step(read_file(path, lesson::largest_lesson),
                                       lesson_step({*state_.document, state_.view, state_.model}));
    if (const lesson::ParsedLesson parsed = lesson::parse_lesson(text, path); !parsed.faults.empty())
        fail_input(tr("files_lesson.faulty", "Nothing was written, because the lesson has a fault. {}:{}: {}",
                      file_name(path), parsed.faults.front().line, parsed.faults.front().sentence));
    write_file_atomically(path, text);
    say(tr("files_lesson.appended", "Added a step that shows this view to {}", file_name(path)));
}

} // namespace headscope::app
