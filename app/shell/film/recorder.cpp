#include "app/shell/film/recorder.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

namespace headscope::app {

namespace {

/// Checks a look and returns it, for the constructor.
const FilmLook& checked(const FilmLook& look) {
    if (look.fps < 10 || look.fps > 50)
        fail_input(tr("recorder.film_frames_second_cant",
                      "a film of {} frames a second can't be made; give 10 to 50 (--fps)", look.fps));
    if (!(look.rest >= 0.1 && look.rest <= 60))
        fail_input(tr("recorder.picture_cant_rest_seconds",
                      "a picture can't rest for {} seconds; give 0.1 to 60 (--rest)",
                      fmt::format("{}", look.rest)));
    if (look.most_frames < 1)
        fail_input(tr("recorder.film_least_one_frame",
                      "a film has at least one frame; give a larger --frames-limit"));
    return look;
}

} // namespace

Recorder::Recorder(Program& program, FilmWriter& writer, const FilmLook& look, Progress* progress)
    : program_(program), writer_(writer), look_(checked(look)), progress_(progress),
      window_(program, look.width, look.height, look.scale) {}

void Recorder::count(int frames) {
    frames_ += frames;
    if (frames_ > look_.most_frames)
        fail_input(tr("recorder.film_gets_more_frames",
                      "the film would have more than {} frames; film less, lower --fps or --rest, or raise "
                      "--frames-limit",
                      look_.most_frames));
}

void Recorder::act(const std::vector<Action>& actions) {
    for (const Action& action : actions)
        program_.act(action);
    const bool filmed = writer_.shows_motion() && frames_ > 0;
    // Motion that is not filmed uses the longest time step that animations accept.
    const float step = filmed ? 1.0F / static_cast<float>(look_.fps) : 0.1F;
    // Layout and glyphs need some frames after the last motion.
    constexpr int still_frames = 3;
    int unseen = 0; // motion frames that are not in the film; limits a program that never stops
    for (int still = 0; still < still_frames || window_.incomplete();) {
        program_.settle();
        if (!program_.state().error.empty())
            fail_input(program_.state().error);
        if (progress_ != nullptr)
            progress_->check();
        window_.draw(step);
        const bool moves = program_.animating();
        still = moves ? 0 : still + 1;
        if (moves && filmed) {
            count(1);
            writer_.move(window_.picture());
        } else if (++unseen > look_.most_frames) {
            count(unseen);
        }
    }
}

void Recorder::show_task() {
    program_.state().requests.to_task = true;
    act({}); // the first frame scrolls
}

void Recorder::rest(double seconds, const FilmText& text) {
    const int frames = std::max(1, static_cast<int>(std::lround(seconds * look_.fps)));
    count(frames);
    writer_.rest(window_.picture(), frames, text);
}

void Recorder::report(int parts, int all) {
    if (progress_ != nullptr)
        progress_->report(static_cast<float>(parts) / static_cast<float>(std::max(all, 1)));
}

double Recorder::reading_time(const FilmText& text) const {
    constexpr double words_a_second = 3, longest = 30;
    std::ptrdiff_t words = 0;
    for (const std::string& paragraph : text.paragraphs) {
        std::istringstream in(paragraph);
        words += std::distance(std::istream_iterator<std::string>(in), {});
    }
    return std::clamp(static_cast<double>(words) / words_a_second, look_.rest, std::max(look_.rest, longest));
}

} // namespace headscope::app
