#include "app/draw/kit/theme.h"
#include "app/shell/film/writers.h"
#include "core/base/assets.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>

namespace headscope::app {

namespace {

/// Escapes text for HTML, including attribute values.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text::plain_text(text))
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    return out;
}

/// Base64 according to RFC 4648.
std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t b = 0; b < 3; ++b)
            three = three << 8U | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0U);
        for (std::size_t d = 0; d < 4; ++d)
            out += i + d <= bytes.size() ? digits[three >> (18 - 6 * d) & 0x3FU] : '=';
    }
    return out;
}

std::string css(figure::Color colour) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour & 0xFFU, colour >> 8 & 0xFFU,
                  colour >> 16 & 0xFFU);
    return text.data();
}

/// Returns the template with each {{name}} replaced.
std::string filled(const std::string& page, const std::map<std::string, std::string>& values) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t begin = 0; (begin = page.find("{{", at)) != std::string::npos;) {
        const std::size_t end = page.find("}}", begin);
        out += page.substr(at, begin - at) + values.at(page.substr(begin + 2, end - begin - 2));
        at = end + 2;
    }
    return out + page.substr(at);
}

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
