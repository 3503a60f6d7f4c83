#include "app/state/preferences.h"

#include "core/base/error.h"
#include "core/base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

void read_float(const nlohmann::json& json, const char* key, float low, float high, float& into) {
    if (const auto at = json.find(key); at != json.end() && at->is_number())
        into = std::clamp(at->get<float>(), low, high);
}

void read_bool(const nlohmann::json& json, const char* key, bool& into) {
    if (const auto at = json.find(key); at != json.end() && at->is_boolean())
        into = at->get<bool>();
}

void read_choice(const nlohmann::json& json, const char* key, std::optional<bool>& into) {
    if (const auto at = json.find(key); at != json.end() && at->is_boolean())
        into = at->get<bool>();
}

} // namespace

std::string preferences_json(const ViewState& view) {
    nlohmann::json json{{"dark", view.dark},
                        {"zoom", view.zoom},
                        {"left_width", view.left_width},
                        {"inspector_width", view.inspector_width},
                        {"numbers", view.numbers},
                        {"same_scale", view.same_scale},
                        {"score_scale", static_cast<int>(view.attention.score_scale)},
                        {"colour_map", static_cast<int>(view.colour_map)},
                        {"speed", view.speed},
                        {"start_page", view.start_page}};
    if (!view.language.empty())
        json["language"] = view.language;
    if (view.manual_width)
        json["manual_width"] = *view.manual_width;
    if (view.lesson_width)
        json["lesson_width"] = *view.lesson_width;
    if (view.left_open)
        json["left_open"] = *view.left_open;
    if (view.inspector_open)
        json["inspector_open"] = *view.inspector_open;
    if (view.flash_changes)
        json["flash_changes"] = *view.flash_changes;
    if (view.motion)
        json["motion"] = *view.motion;
    return json.dump(2) + "\n";
}

void read_preferences(const std::string& text, ViewState& view) {
    nlohmann::json json;
    try {
        json = parse_json(text, "the preferences");
    } catch (const Error&) {
        return; // keep the defaults
    }
    if (!json.is_object())
        return;
    read_bool(json, "dark", view.dark);
    read_float(json, "zoom", 1, 2, view.zoom);
    read_float(json, "left_width", 280, 480, view.left_width);
    read_float(json, "inspector_width", 280, 420, view.inspector_width);
    if (json.contains("manual_width"))
        read_float(json, "manual_width", 280, 720, view.manual_width.emplace(400.0F));
    if (json.contains("lesson_width"))
        read_float(json, "lesson_width", 280, 480, view.lesson_width.emplace(400.0F));
    read_bool(json, "numbers", view.numbers);
    read_bool(json, "same_scale", view.same_scale);
    read_bool(json, "start_page", view.start_page);
    if (const auto at = json.find("language"); at != json.end() && at->is_string())
        view.language = at->get<std::string>();
    read_float(json, "speed", 0.25F, 8, view.speed);
    float map = static_cast<float>(view.colour_map);
    read_float(json, "colour_map", 0, 4, map);
    view.colour_map = static_cast<ColourMap>(static_cast<int>(map));
    auto scores = static_cast<float>(view.attention.score_scale);
    read_float(json, "score_scale", 0, 2, scores);
    view.attention.score_scale = static_cast<ScoreScale>(static_cast<int>(scores));
    read_choice(json, "left_open", view.left_open);
    read_choice(json, "inspector_open", view.inspector_open);
    read_choice(json, "flash_changes", view.flash_changes);
    read_choice(json, "motion", view.motion);
}

} // namespace headscope::app
