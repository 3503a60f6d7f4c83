#include "app/cli/serve/scene_request.h"

#include "core/base/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using nlohmann::json;

float length_of(const json& value) {
    const auto number = value.get<double>();
    if (!std::isfinite(number) || std::abs(number) > 10.0 * figure::largest_png_side)
        fail_input("a scene has the length " + value.dump() + "; lengths are logical pixels");
    return static_cast<float>(number);
}

/// Parses six or, with an opacity, eight hexadecimal digits.
figure::Color color_of(std::string_view digits) {
    std::uint32_t hex = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hex, 16);
    if (error != std::errc() || end != digits.data() + digits.size() ||
        (digits.size() != 6 && digits.size() != 8))
        fail_input("a scene has the color " + std::string(digits) + "; write RRGGBB or RRGGBBAA");
    return digits.size() == 6 ? figure::rgb(hex) : figure::rgb(hex >> 8U, hex & 0xFFU);
}

figure::Color color_of(const json& item, const char* name) {
    const auto found = item.find(name);
    return found == item.end() ? 0 : color_of(found->get<std::string>());
}

figure::Rect area_of(const json& value) {
    if (value.size() != 4)
        fail_input("an area of a scene is a list of left, top, width and height");
    return {length_of(value.at(0)), length_of(value.at(1)), length_of(value.at(2)), length_of(value.at(3))};
}

figure::TextItem text_of_scene(const json& item) {
    const std::string font = item.value("font", "ui"), align = item.value("align", "left");
    return {.at = {length_of(item.at("x")), length_of(item.at("y"))},
            .text = item.at("text").get<std::string>(),
            .font = font == "mono"   ? figure::Font::mono
                    : font == "bold" ? figure::Font::ui_semibold
                                     : figure::Font::ui,
            .size = std::clamp(length_of(item.value("size", json(13))), 1.0F, 200.0F),
            .color = color_of(item, "color"),
            .align = align == "center"  ? figure::Align::center
                     : align == "right" ? figure::Align::right
                                        : figure::Align::left,
            .angle = length_of(item.value("angle", json(0)))};
}

figure::GridItem grid_of(const json& item) {
    const auto cols = item.at("cols").get<int>(), rows = item.at("rows").get<int>();
    const auto digits = item.at("cells").get<std::string>();
    if (cols < 1 || rows < 1 || cols > figure::largest_png_side || rows > figure::largest_png_side ||
        digits.size() != std::size_t{6} * static_cast<std::size_t>(cols) * static_cast<std::size_t>(rows))
        fail_input("a grid of a scene has cols times rows cells of six hexadecimal digits");
    auto cells = std::make_shared<std::vector<figure::Color>>();
    for (std::size_t at = 0; at < digits.size(); at += 6)
        cells->push_back(color_of(std::string_view(digits).substr(at, 6)));
    return {.area = area_of(item.at("grid")), .cols = cols, .rows = rows, .pixels = std::move(cells)};
}

void add_item(figure::Scene& scene, const json& item) {
    if (item.contains("text"))
        scene.add(text_of_scene(item));
    else if (item.contains("grid"))
        scene.add(grid_of(item));
    else
        scene.add(figure::RectItem{.area = area_of(item.at("rect")),
                                   .fill = color_of(item, "fill"),
                                   .stroke = color_of(item, "stroke")});
}

} // namespace

figure::Scene read_scene(const json& described) {
    try {
        figure::Scene scene;
        scene.width = length_of(described.at("width"));
        scene.height = length_of(described.at("height"));
        constexpr auto most = static_cast<float>(figure::largest_png_side);
        if (scene.width < 1 || scene.height < 1 || scene.width > most || scene.height > most)
            fail_input("a scene has 1 to " + std::to_string(figure::largest_png_side) +
                       " logical pixels per side");
        for (const json& item : described.at("items"))
            add_item(scene, item);
        return scene;
    } catch (const json::exception&) {
        fail_input("a scene is not as described: an object with width, height and items, each with text, "
                   "rect or grid");
    }
}

} // namespace headscope::cli
