#include "app/draw/kit/theme.h"

#include "core/base/assets.h"
#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using Vec3 = std::array<float, 3>;

float linear_from_srgb(float c) {
    return c <= 0.04045F ? c / 12.92F : std::pow((c + 0.055F) / 1.055F, 2.4F);
}

float srgb_from_linear(float c) {
    return c <= 0.0031308F ? 12.92F * c : 1.055F * std::pow(c, 1.0F / 2.4F) - 0.055F;
}

Vec3 linear(figure::Color color) {
    // Cached for all 256 values of a channel, because text_on() needs them for every cell.
    static const std::array<float, 256> channels = [] {
        std::array<float, 256> out{};
        for (std::size_t c = 0; c < out.size(); ++c)
            out[c] = linear_from_srgb(static_cast<float>(c) / 255.0F);
        return out;
    }();
    return {channels[color & 0xFFU], channels[color >> 8 & 0xFFU], channels[color >> 16 & 0xFFU]};
}

Vec3 times(const std::array<Vec3, 3>& m, const Vec3& v) {
    Vec3 out{};
    for (std::size_t row = 0; row < 3; ++row)
        out[row] = m[row][0] * v[0] + m[row][1] * v[1] + m[row][2] * v[2];
    return out;
}

// The Oklab matrices: linear sRGB to cone responses, their cube roots to Lab, and the inverses.
constexpr std::array<Vec3, 3> lms_from_rgb{{{0.4122214708F, 0.5363325363F, 0.0514459929F},
                                            {0.2119034982F, 0.6806995451F, 0.1073969566F},
                                            {0.0883024619F, 0.2817188376F, 0.6299787005F}}};
constexpr std::array<Vec3, 3> lab_from_lms{{{0.2104542553F, 0.7936177850F, -0.0040720468F},
                                            {1.9779984951F, -2.4285922050F, 0.4505937099F},
                                            {0.0259040371F, 0.7827717662F, -0.8086757660F}}};
constexpr std::array<Vec3, 3> lms_from_lab{{{1.0F, 0.3963377774F, 0.2158037573F},
                                            {1.0F, -0.1055613458F, -0.0638541728F},
                                            {1.0F, -0.0894841775F, -1.2914855480F}}};
constexpr std::array<Vec3, 3> rgb_from_lms{{{4.0767416621F, -3.3077115913F, 0.2309699292F},
                                            {-1.2684380046F, 2.6097574011F, -0.3413193965F},
                                            {-0.0041960863F, -0.7034186147F, 1.7076147010F}}};

Vec3 oklab(figure::Color color) {
    Vec3 lms = times(lms_from_rgb, linear(color));
    for (float& c : lms)
        c = std::cbrt(c);
    return times(lab_from_lms, lms);
}

figure::Color from_oklab(const Vec3& lab) {
    Vec3 lms = times(lms_from_lab, lab);
    for (float& c : lms)
        c = c * c * c;
    const Vec3 out = times(rgb_from_lms, lms);
    const auto byte = [&](std::size_t i) {
        return static_cast<figure::Color>(
            std::lround(255.0F * std::clamp(srgb_from_linear(std::max(out[i], 0.0F)), 0.0F, 1.0F)));
    };
    return 0xFF000000U | byte(2) << 16 | byte(1) << 8 | byte(0);
}

figure::Color parse_color(const std::string& hex) {
    return figure::rgb(static_cast<std::uint32_t>(std::stoul(hex.substr(1), nullptr, 16)));
}

Ramp parse_ramp(const nlohmann::json& stops) {
    std::vector<figure::Color> colors;
    for (const auto& stop : stops)
        colors.push_back(parse_color(stop.get<std::string>()));
    return make_ramp(colors);
}

Theme parse_theme(const nlohmann::json& tokens, bool dark) {
    const char* name = dark ? "dark" : "light";
    const auto& colors = tokens.at("theme").at(name);
    const auto get = [&](const char* key) { return parse_color(colors.at(key).get<std::string>()); };
    Theme out;
    out.dark = dark;
    out.canvas = get("canvas");
    out.panel = get("panel");
    out.raise = get("raise");
    out.line = get("line");
    out.line2 = get("line2");
    out.ink = get("ink");
    out.text = get("text");
    out.muted = get("muted");
    out.highlight = get("hl");
    out.good = get("good");
    out.bad = get("bad");
    out.good_back = get("goodbg");
    out.bad_back = get("badbg");
    out.cell = get("cell");
    out.pointer = get("pointer");
    const auto& heads = tokens.at("head").at(name);
    for (std::size_t h = 0; h < out.heads.size(); ++h) {
        out.heads[h].colour = parse_color(heads.at(h).at("colour").get<std::string>());
        out.heads[h].tint = parse_color(heads.at(h).at("tint").get<std::string>());
        out.heads[h].ramp = parse_ramp(heads.at(h).at("ramp"));
    }
    out.head_background = parse_ramp(tokens.at("ramp").at("score").at(name));
    out.order = parse_ramp(tokens.at("ramp").at("order").at(name));
    out.neutral = parse_ramp(tokens.at("ramp").at("neutral").at(name));
    out.diverging = parse_ramp(tokens.at("ramp").at("diverging").at(name).at("stops"));
    out.viridis = parse_ramp(tokens.at("map").at("viridis"));
    out.cividis = parse_ramp(tokens.at("map").at("cividis"));
    out.magma = parse_ramp(tokens.at("map").at("magma"));
    out.no_head = {out.muted, out.cell, out.neutral};
    return out;
}

std::array<Theme, 2> load_themes() {
    try {
        const auto tokens = nlohmann::json::parse(asset("theme/tokens.json"));
        return {parse_theme(tokens, false), parse_theme(tokens, true)};
    } catch (const std::exception& fault) {
        throw Error(ErrorKind::internal, std::string("theme/tokens.json cannot be read: ") + fault.what());
    }
}

float luminance(figure::Color color) {
    const Vec3 rgb_linear = linear(color);
    return 0.2126F * rgb_linear[0] + 0.7152F * rgb_linear[1] + 0.0722F * rgb_linear[2];
}

} // namespace

figure::Color ramp_color(const Ramp& ramp, float t) {
    return ramp[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0F, 1.0F) * 255.0F))];
}

Ramp make_ramp(std::span<const figure::Color> stops) {
    Ramp out{};
    const auto last = static_cast<float>(stops.size() - 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const float place = static_cast<float>(i) / 255.0F * last;
        const auto lower = std::min(static_cast<std::size_t>(place), stops.size() - 2);
        const float share = place - static_cast<float>(lower);
        const Vec3 a = oklab(stops[lower]), b = oklab(stops[lower + 1]);
        Vec3 mix{};
        for (std::size_t c = 0; c < 3; ++c)
            mix[c] = std::lerp(a[c], b[c], share);
        out[i] = from_oklab(mix);
    }
    return out;
}

float contrast(figure::Color a, figure::Color b) {
    const float la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05F) / (std::min(la, lb) + 0.05F);
}

figure::Color text_on(figure::Color cell) {
    // If white is below 4.5, pure black is above; a lighter black would not reach it on all of these colors.
    constexpr figure::Color white = figure::rgb(0xFFFFFF), black = figure::rgb(0x000000);
    return contrast(white, cell) >= 4.5F ? white : black;
}

const HeadColours& Theme::head(std::int64_t h, std::int64_t H) const {
    return H <= coloured_heads ? heads[static_cast<std::size_t>(h)] : no_head;
}

const Ramp& Theme::heat(std::int64_t h, std::int64_t H, ColourMap map) const {
    switch (map) {
    case ColourMap::head:
        return head(h, H).ramp;
    case ColourMap::neutral:
        return neutral;
    case ColourMap::viridis:
        return viridis;
    case ColourMap::cividis:
        return cividis;
    case ColourMap::magma:
        return magma;
    }
    return neutral;
}

const Theme& theme(bool dark) {
    static const std::array<Theme, 2> themes = load_themes();
    return themes[dark ? 1 : 0];
}

} // namespace headscope::app
