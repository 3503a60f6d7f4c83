#pragma once

#include "app/commands/command.h"
#include "app/shell/gl/offscreen.h"
#include "app/shell/program.h"
#include "core/base/progress.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The format and the timing of a film.
struct FilmLook {
    int width = 1280, height = 800; ///< logical pixels, from 200 to 16384
    float scale = 1;                ///< pixels per logical pixel
    int fps = 20;                   ///< frames a second, 10 to 50
    double rest = 2;                ///< seconds that a picture is shown, unless its text needs longer
    int most_frames = 20'000;
};

/// The text next to a still picture.
struct FilmText {
    std::string title;
    std::vector<std::string> paragraphs = {};
};

/// The output of a film. All members throw Error.
class FilmWriter {
public:
    FilmWriter() = default;
    FilmWriter(const FilmWriter&) = delete;
    FilmWriter& operator=(const FilmWriter&) = delete;
    virtual ~FilmWriter() = default;
    /// Returns true if move() should be called.
    virtual bool shows_motion() const = 0;
    /// Adds one frame of a motion.
    virtual void move(const Image& image) = 0;
    /// Adds a still picture that is shown for a number of frames, at least one.
    virtual void rest(const Image& image, int frames, const FilmText& text) = 0;
    /// Returns the bytes of the whole film. Call once, at the end.
    virtual std::string finish() = 0;
};

/// Films a program: the actions, the motion that follows, and still pictures. The film starts with the first
/// still picture. `program` and `writer` must outlive the recorder. For any one thread, concurrent with the
/// window's.
class Recorder {
public:
    /// `progress`: can cancel between two frames; null: never cancelled. Throws Error(input) if `look` is out
    /// of range, and what OffscreenWindow throws.
    Recorder(Program& program, FilmWriter& writer, const FilmLook& look, Progress* progress = nullptr);

    /// Performs actions, waits for the numbers and films the motion until it ends. Throws Error(input) with
    /// the program's message if an action fails, or if the film exceeds look().most_frames.
    void act(const std::vector<Action>& actions);
    /// Scrolls the text of a lesson to its first open task if the task or its result would be out of sight.
    void show_task();
    /// Shows the current picture for `seconds`, at least one frame. Throws likewise.
    void rest(double seconds, const FilmText& text);
    /// Returns the reading time of a text at three words a second, from look().rest to 30 seconds.
    double reading_time(const FilmText& text) const;

    /// Reports progress: `parts` of `all` parts are filmed.
    void report(int parts, int all);

    /// Returns false if the film has only still pictures.
    bool shows_motion() const { return writer_.shows_motion(); }
    const FilmLook& look() const { return look_; }
    const AppState& state() const { return program_.state(); }

private:
    void count(int frames);

    Program& program_;
    FilmWriter& writer_;
    FilmLook look_;
    Progress* progress_;
    OffscreenWindow window_;
    int frames_ = 0; ///< number of frames so far
};

} // namespace headscope::app
