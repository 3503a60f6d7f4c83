#pragma once

#include "app/shell/film/recorder.h"
#include "core/analysis/reading_options.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Goes through the stops of the strip, from the first to the last; of a checkpoint through those before its
/// layers, those of the open layer and those after its layers. Each rests for look().rest. `reading`: how a
/// checkpoint's weights are read at the stop that shows them.
void film_stages(Recorder& recorder, const analysis::ReadingOptions& reading = {});

/// Plays a lesson: its opening, each step, each question with its right answer, the summary. Each rests for
/// as long as its text takes to read. Tables are filled in with the engine's numbers, and each gate is opened
/// by its own solution. Throws Error(input) when there is no lesson with this id.
void film_lesson(Recorder& recorder, const std::string& id);

/// One line of a script, which assets/manual/recording.md describes.
struct ScriptLine {
    int number = 0;   ///< from 1
    std::string verb; ///< "do", "rest", "caption", "stage" or "sentence"
    std::string rest; ///< of "do": the id of an action
};
/// Throws Error(input) that names the path and the first line that is none.
std::vector<ScriptLine> parse_script(const std::string& text, const std::string& path);
/// Does what the lines say. Throws Error(input) that names the path and the line that cannot be done.
void film_script(Recorder& recorder, const std::vector<ScriptLine>& lines, const std::string& path);

} // namespace headscope::app
