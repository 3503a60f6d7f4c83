#include "app/shell/control/named_actions.h"
#include "app/shell/film/films.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <sstream>

namespace headscope::app {

namespace {

[[noreturn]] void fail_line(const std::string& path, int line, const std::string& sentence) {
    fail_input(path + ":" + std::to_string(line) + ": " + sentence);
}

constexpr std::string_view script_blanks = " \t\r";

double seconds_of(const std::string& text, double usual) {
    if (text.empty())
        return usual;
    const auto seconds = number_of<double>(text);
    if (!seconds || !(*seconds > 0 && *seconds <= 600))
        fail_input(tr("script_film.no_number_seconds_0",
                      "\"{}\" is not a number of seconds from 0 to 600; write for example rest 1.5", text));
    return *seconds;
}

ScriptLine parse_line(const std::string& line, int number) {
    const auto found = std::ranges::find_if(
        actions(), [&](const ActionInfo& row) { return row.id == line && can_name(row); });
    if (found != actions().end())
        return {number, "do", line};
    const auto gap = std::min(line.find_first_of(" \t"), line.size());
    ScriptLine parsed{number, line.substr(0, gap),
                      std::string(trimmed(std::string_view(line).substr(gap), script_blanks))};
    if (parsed.verb == "rest") {
        seconds_of(parsed.rest, 0);
        return parsed;
    }
    for (const char* verb : {"caption", "stage", "sentence"})
        if (parsed.verb == verb && !parsed.rest.empty())
            return parsed;
    fail_input(tr("script_film.neither_rest_caption_text",
                  "\"{}\" is neither rest, caption TEXT, stage NAME, sentence TEXT nor an action that can be "
                  "filmed; see the manual's page on films",
                  line));
}

class ScriptFilm {
public:
    explicit ScriptFilm(Recorder& recorder) : recorder_(recorder) {}

    void play(const ScriptLine& line) {
        rested_ = line.verb == "rest";
        if (rested_)
            rest(seconds_of(line.rest, recorder_.look().rest));
        else if (line.verb == "caption")
            caption_ = line.rest;
        else if (line.verb == "stage")
            recorder_.act(go_to_stage(recorder_.state(), line.rest));
        else if (line.verb == "sentence")
            recorder_.act(type_sentence(recorder_.state(), line.rest));
        else
            recorder_.act(named_action(recorder_.state(), line.rest));
    }

    /// Ends the film with a still picture.
    void end() {
        if (!rested_)
            rest(recorder_.look().rest);
    }

private:
    void rest(double seconds) {
        FilmText text{tr(group_info(recorder_.state().view.group).title)};
        if (!caption_.empty())
            text.paragraphs.push_back(caption_);
        recorder_.rest(seconds, text);
    }

    Recorder& recorder_;
    std::string caption_;
    bool rested_ = false; ///< the last line was a still picture
};

} // namespace

std::vector<ScriptLine> parse_script(const std::string& text, const std::string& path) {
    std::vector<ScriptLine> lines;
    std::istringstream in(text);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        line = std::string(trimmed(line, script_blanks));
        if (line.empty() || line.starts_with('#'))
            continue;
        try {
            lines.push_back(parse_line(line, number));
        } catch (const Error& fault) {
            fail_line(path, number, fault.what());
        }
    }
    if (lines.empty())
        fail_input(tr("script_film.no_line_something_see",
                      "{} has no line with an action; see the manual's page on films", path));
    return lines;
}

void film_script(Recorder& recorder, const std::vector<ScriptLine>& lines, const std::string& path) {
    recorder.act({}); // initial content of the film
    ScriptFilm film(recorder);
    for (const ScriptLine& line : lines)
        try {
            film.play(line);
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::input)
                throw;
            fail_line(path, line.number, fault.what());
        }
    film.end();
}

} // namespace headscope::app
