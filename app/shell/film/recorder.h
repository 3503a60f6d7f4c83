#pragma once

#include "app/commands/command.h"
#include "app/shell/gl/offscreen.h"
#include "app/shell/program.h"
#include "core/base/progress.h"

#include <string>
#include <vector>

namespace headscope::app {

/// What a film looks like.
struct FilmLook {
    int width = 1280, height = 800; ///< logical pixels, from 200 to 16384
    float scale = 1;                ///< pixels per logical pixel
    int fps = 20;                   ///< frames a second, 10 to 50
    double rest = 2;                ///< seconds that a picture rests, unless there is more to read
    int most_frames = 20'000;
};

/// What is said beside a picture that rests.
struct FilmText {
    std::string title;
    std::vector<std::string> paragraphs = {};
};

/// Where the pictures of a film go. All members throw Error.
class FilmWriter {
public:
    FilmWriter() = default;
    FilmWriter(const FilmWriter&) = delete;
    FilmWriter& operator=(const FilmWriter&) = delete;
    virtual ~FilmWriter() = default;
    /// Whether move() wants to be called.
    virtual bool shows_motion() const = 0;
    /// One frame of a motion.
    virtual void move(const Image& image) = 0;
    /// A picture that rests for some frames, at least one.
    virtual void rest(const Image& image, int frames, const FilmText& text) = 0;
    /// The bytes of the whole film. To be called once, at the end.
    virtual std::string finish() = 0;
};

/// Films a program: what is done to it, the motion that follows, and pictures that rest. The first picture is
/// the first that rests. `program` and `writer` have to outlive the recorder. For any
/// one thread, beside the window's.
class Recorder {
public:
    /// `progress`: cancels between two frames; null: nothing does. Throws Error(input) when `look` is out of
    /// its ranges, and as OffscreenWindow does.
    Recorder(Program& program, FilmWriter& writer, const FilmLook& look, Progress* progress = nullptr);

    /// Does what a user would have done, waits for the numbers and films what moves until it stands still.
    /// Throws Error(input) with what the program says where it cannot be done, or when the film gets more
    /// frames than look().most_frames.
    void act(const std::vector<Action>& actions);
    /// What is on screen rests for so long, at least one frame. Throws likewise.
    void rest(double seconds, const FilmText& text);
    /// As long as this takes to read at three words a second, from look().rest to 30 seconds.
    double reading_time(const FilmText& text) const;

    /// So many of the film's `all` parts are filmed.
    void report(int parts, int all);

    const FilmLook& look() const { return look_; }
    const AppState& state() const { return program_.state(); }

private:
    void count(int frames);

    Program& program_;
    FilmWriter& writer_;
    FilmLook look_;
    Progress* progress_;
    OffscreenWindow window_;
    int frames_ = 0; ///< of the film, so far
};

} // namespace headscope::app
