#include "app/draw/kit/theme.h"
#include "app/shell/film/writers.h"
#include "app/shell/page/html.h"
#include "core/base/assets.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

using html::base64, html::css, html::escaped, html::filled;

class PageWriter final : public FilmWriter {
public:
    PageWriter(const FilmPage& page, const FilmLook& look)
        : title_(escaped(page.title)), language_(escaped(page.language)), dark_(page.dark), look_(look) {}

    bool shows_motion() const override { return false; }
    void move(const Image&) override {}

    void rest(const Image& image, int frames, const FilmText& text) override {
        const std::string number = std::to_string(++steps_), name = escaped(text.title);
        body_ += "<section class=\"step\" id=\"step-" + number + "\" data-ms=\"" +
                 std::to_string(frames * 1000 / look_.fps) + "\">\n<h2>" + name +
                 "</h2>\n<img alt=\"Headscope: " + name + "\" width=\"" + std::to_string(look_.width) +
                 "\" height=\"" + std::to_string(look_.height) + "\" src=\"data:image/png;base64," +
                 base64(png_bytes(image)) + "\">\n";
        for (const std::string& paragraph : text.paragraphs)
            body_ += "<p>" + escaped(paragraph) + "</p>\n";
        body_ += "</section>\n";
    }

    std::string finish() override {
        const Theme& colours = theme(dark_);
        return filled(asset("film/page.html"),
                      {{"language", language_},
                       {"title", title_},
                       {"scheme", dark_ ? "dark" : "light"},
                       {"width", std::to_string(look_.width)},
                       {"canvas", css(colours.canvas)},
                       {"raise", css(colours.raise)},
                       {"line", css(colours.line2)},
                       {"ink", css(colours.ink)},
                       {"text", css(colours.text)},
                       {"steps", std::to_string(steps_)},
                       {"steps word", escaped(tr("page_writer.steps", "Steps"))},
                       {"seen words", escaped(tr("page_writer.steps_seen", "Steps seen"))},
                       {"back word", escaped(tr("common.back", "Back"))},
                       {"play word", escaped(tr("common.play", "Play"))},
                       {"pause word", escaped(tr("common.pause", "Pause"))},
                       {"next word", escaped(tr("common.next_2", "Next"))},
                       // The page's script inserts the numbers.
                       {"place words", escaped(tr("common.of_2", "{} of {}", "$at", "$all"))},
                       {"body", body_}});
    }

private:
    std::string title_, language_, body_;
    bool dark_;
    FilmLook look_;
    int steps_ = 0;
};

} // namespace

std::unique_ptr<FilmWriter> page_writer(const FilmPage& page, const FilmLook& look) {
    return std::make_unique<PageWriter>(page, look);
}

std::unique_ptr<FilmWriter> film_writer(FilmFormat format, const FilmPage& page, const FilmLook& look) {
    return format == FilmFormat::html ? page_writer(page, look) : video_writer(format, look);
}

std::string film_title(const AppState& state, const std::string& lesson) {
    if (lesson.empty())
        return state.document->is_checkpoint() || state.sentence.empty() ? state.document->title
                                                                         : state.sentence;
    for (const auto& one : state.course.lessons)
        if (one->id == lesson)
            return one->title;
    return lesson;
}

} // namespace headscope::app
