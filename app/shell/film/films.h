#pragma once

#include "app/shell/film/recorder.h"
#include "core/analysis/reading_options.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Films the steps of the strip from the first to the last; for a checkpoint, those before its layers, those
/// of the open layer and those after its layers. Each is shown for look().rest seconds. `reading`: options
/// for a checkpoint's weights at the weights step.
void film_stages(Recorder& recorder, const analysis::ReadingOptions& reading = {});

/// Films the Flow: the picture at rest, the story of the word and the head in focus, and the picture at rest
/// again. Without motion, each step is a still picture with its sentence.
void film_flow(Recorder& recorder);

/// Films a lesson: its opening, each step, each question with its right answer, the summary. Each is shown
/// for as long as its text takes to read. Tables are filled with the engine's numbers, and each gate is
/// opened with its own solution. Throws Error(input) if there is no lesson with this id.
void film_lesson(Recorder& recorder, const std::string& id);

/// One line of a script; see assets/manual/recording.md.
struct ScriptLine {
    int number = 0;   ///< from 1
    std::string verb; ///< "do", "rest", "caption", "stage" or "sentence"
    std::string rest; ///< for "do": the id of an action
};
/// Throws Error(input) with the path and the first invalid line.
std::vector<ScriptLine> parse_script(const std::string& text, const std::string& path);
/// Executes the lines. Throws Error(input) with the path and the line that failed.
void film_script(Recorder& recorder, const std::vector<ScriptLine>& lines, const std::string& path);

} // namespace headscope::app
