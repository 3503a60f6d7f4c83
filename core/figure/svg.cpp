#include "core/figure/svg.h"

#include "core/text/plain_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headscope::figure {
namespace {

std::string coordinate(double value) {
    std::array<char, 32> text{};
    // Hundredths of a pixel are finer than any screen; the shortest form keeps the file small.
    const double rounded = std::round(value * 100) / 100;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), rounded == 0 ? 0.0 : rounded).ptr;
    return {text.data(), end};
}

std::string attribute(std::string_view name, double value) {
    return ' ' + std::string(name) + "=\"" + coordinate(value) + '"';
}

/// `part`: the beginning of the name of the opacity; empty: the name of the color.
std::string colored(const std::string& name, Color color, const std::string& part = {}) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = ' ' + name + "=\"#";
    for (const int shift : {4, 0, 12, 8, 20, 16})
        text += digits[color >> shift & 0xFU];
    text += '"';
    if (color >> 24 != 255)
        text += attribute((part.empty() ? name : part) + "-opacity", static_cast<double>(color >> 24) / 255);
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text::plain_text(text)) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else
            out += c;
    }
    return out;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            out += i + j <= bytes.size() ? digits[group >> (18 - 6 * j) & 63U] : '=';
    }
    return out;
}

std::string_view font_attributes(Font font) {
    switch (font) {
    case Font::ui:
        return " class=\"u\"";
    case Font::ui_medium:
        return " class=\"u\" font-weight=\"500\"";
    case Font::ui_semibold:
        return " class=\"u\" font-weight=\"600\"";
    case Font::mono:
        return " class=\"m\"";
    case Font::mono_semibold:
        return " class=\"m\" font-weight=\"600\"";
    }
    return "";
}

std::string box(const Rect& r, double inset = 0) {
    return attribute("x", r.x + inset) + attribute("y", r.y + inset) +
           attribute("width", std::max(0.0, r.w - 2 * inset)) +
           attribute("height", std::max(0.0, r.h - 2 * inset));
}

std::string pair(Point p) {
    return coordinate(p.x) + ' ' + coordinate(p.y);
}

struct Writer {
    const TextMeasure& measure;
    const std::function<std::string(const GridItem&)>& grid_png;
    std::string out;
    int clips = 0, gradients = 0;
    bool clipped = false;

    void operator()(const RectItem& item) {
        const std::string corner = item.radius > 0 ? attribute("rx", item.radius) : " class=\"s\"";
        if (is_visible(item.fill))
            out += "<rect" + box(item.area) + corner + colored("fill", item.fill) + "/>\n";
        if (is_visible(item.stroke) && item.stroke_width > 0) {
            const double inset = item.stroke_width / 2;
            const std::string inner =
                item.radius > 0 ? attribute("rx", std::max(0.0, item.radius - inset)) : " class=\"s\"";
            out += "<rect" + box(item.area, inset) + inner + " fill=\"none\"" +
                   colored("stroke", item.stroke) + attribute("stroke-width", item.stroke_width) + "/>\n";
        }
    }
    void operator()(const LineItem& item) {
        const bool straight = item.from.x == item.to.x || item.from.y == item.to.y;
        if (is_visible(item.color))
            out += "<path" + std::string(straight ? " class=\"s\"" : "") + " d=\"M" + pair(item.from) + 'L' +
                   pair(item.to) + '"' + colored("stroke", item.color) +
                   attribute("stroke-width", item.width) + "/>\n";
    }
    void operator()(const CurveItem& item) {
        if (is_visible(item.color))
            out += "<path fill=\"none\" d=\"M" + pair(item.from) + 'C' + pair(item.control_from) + ' ' +
                   pair(item.control_to) + ' ' + pair(item.to) + '"' + colored("stroke", item.color) +
                   attribute("stroke-width", item.width) + "/>\n";
    }
    void operator()(const PolygonItem& item) {
        if (item.points.size() < 3 || !is_visible(item.fill))
            return;
        out += "<polygon points=\"";
        for (const Point& point : item.points)
            out += pair(point) + ' ';
        out.back() = '"';
        out += colored("fill", item.fill) + "/>\n";
    }
    void operator()(const BandItem& item) {
        if (!is_drawn(item))
            return;
        std::string fill = colored("fill", item.colors.front());
        if (std::ranges::any_of(item.colors, [&](Color color) { return color != item.colors.front(); }))
            fill = " fill=\"url(#" + gradient(item) + ")\"";
        out += "<path d=\"M" + pair(item.edge.front());
        for (std::size_t i = 1; i < item.edge.size(); ++i)
            out += 'L' + pair(item.edge[i]);
        for (std::size_t i = item.other_edge.size(); i-- > 0;)
            out += 'L' + pair(item.other_edge[i]);
        out += "Z\"" + fill + "/>\n";
    }
    void operator()(const TextItem& item) {
        if (item.text.empty() || !is_visible(item.color))
            return;
        constexpr std::array<std::string_view, 3> anchors = {"", " text-anchor=\"middle\"",
                                                             " text-anchor=\"end\""};
        out += "<text" + attribute("x", item.at.x) + attribute("y", item.at.y) +
               std::string(font_attributes(item.font)) + attribute("font-size", item.size) +
               colored("fill", item.color);
        out += anchors[static_cast<std::size_t>(item.align)];
        out += attribute("textLength", measure(item.text, item.font, item.size));
        if (item.angle != 0)
            out += " transform=\"rotate(" + coordinate(item.angle) + ' ' + pair(item.at) + ")\"";
        out += '>' + escaped(item.text) + "</text>\n";
    }
    void operator()(const GridItem& item) {
        if (item.cols < 1 || item.rows < 1 || !item.pixels || item.area.w <= 0 || item.area.h <= 0)
            return;
        out += "<image" + box(item.area) +
               " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
               "xlink:href=\"data:image/png;base64," +
               base64(grid_png(item)) + "\"/>\n";
    }
    void operator()(const ClipItem& item) {
        unclip();
        if (item.area.w <= 0 || item.area.h <= 0)
            return;
        const std::string id = 'c' + std::to_string(++clips);
        out += "<clipPath id=\"" + id + "\"><rect" + box(item.area) + "/></clipPath>\n<g clip-path=\"url(#" +
               id + ")\">\n";
        clipped = true;
    }
    /// Writes the gradient of a band and returns its id.
    std::string gradient(const BandItem& band) {
        const std::string id = 'g' + std::to_string(++gradients);
        const Point &a = band.edge.front(), &b = band.other_edge.front(), &c = band.edge.back(),
                    &d = band.other_edge.back();
        out += "<linearGradient id=\"" + id + "\" gradientUnits=\"userSpaceOnUse\"" +
               attribute("x1", (a.x + b.x) / 2) + attribute("y1", (a.y + b.y) / 2) +
               attribute("x2", (c.x + d.x) / 2) + attribute("y2", (c.y + d.y) / 2) + ">";
        const std::vector<float> stops = gradient_stops(band);
        for (std::size_t i = 0; i < stops.size(); ++i)
            if (i == 0 || i + 1 == stops.size() || band.colors[i] != band.colors[i - 1] ||
                band.colors[i] != band.colors[i + 1])
                out += "<stop" + attribute("offset", stops[i]) +
                       colored("stop-color", band.colors[i], "stop") + "/>";
        out += "</linearGradient>\n";
        return id;
    }
    void unclip() {
        if (clipped)
            out += "</g>\n";
        clipped = false;
    }
};

} // namespace

std::string draw_svg(const Scene& scene, Color background, float paper_scale, const TextMeasure& measure,
                     const std::function<std::string(const GridItem&)>& grid_png) {
    Writer writer{measure, grid_png, {}};
    const std::string width = coordinate(scene.width), height = coordinate(scene.height);
    writer.out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                 "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"" +
                 coordinate(scene.width * paper_scale) + "\" height=\"" +
                 coordinate(scene.height * paper_scale) + "\" viewBox=\"0 0 " + width + ' ' + height +
                 "\">\n<style>text{white-space:pre}.s{shape-rendering:crispEdges}"
                 ".u{font-family:Inter,'DejaVu Sans',sans-serif}"
                 ".m{font-family:'JetBrains Mono','DejaVu Sans Mono',monospace}</style>\n";
    writer(RectItem{{0, 0, scene.width, scene.height}, background});
    for (const SceneItem& item : scene.items)
        std::visit(writer, item);
    writer.unclip();
    return std::move(writer.out) + "</svg>\n";
}

} // namespace headscope::figure
