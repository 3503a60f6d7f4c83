#include "core/base/json.h"

#include "core/base/error.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace headscope {

namespace {

constexpr int max_depth = 64;

/// The part of a parser's message that says what is wrong: without its "[json.exception...]" and its source.
std::string reason(const nlohmann::json::exception& fault) {
    std::string text = fault.what();
    if (const auto bracket = text.find("] "); bracket != std::string::npos)
        text.erase(0, bracket + 2);
    if (const auto colon = text.find(": syntax error"); colon != std::string::npos)
        text.erase(colon, text.find(" - ", colon) == std::string::npos ? 0 : text.find(" - ", colon) - colon);
    constexpr std::size_t longest = 200;
    if (text.size() > longest)
        text = text.substr(0, longest) + " ...";
    return text;
}

} // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what) {
    using Event = nlohmann::json::parse_event_t;
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, Event event, nlohmann::json& value) {
        const bool opens = event == Event::object_start || event == Event::array_start;
        if (opens && depth >= max_depth)
            fail_input(what + " is nested more than " + std::to_string(max_depth) +
                       " levels deep; flatten it");
        if (event == Event::object_start)
            keys.emplace_back();
        else if (event == Event::object_end)
            keys.pop_back();
        else if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
            fail_input(what + " has the key \"" + value.get<std::string>() +
                       "\" twice in one object; keep one");
        return true;
    };
    try {
        return nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::exception& fault) {
        fail_input(what + " is not valid JSON: " + reason(fault) + "; correct it");
    }
}

} // namespace headscope
