#include "app/draw/effects/screens.h"

#include "app/commands/actions.h"
#include "app/draw/atlas/atlas.h"
#include "app/draw/effects/circuits.h"
#include "app/draw/effects/effects.h"
#include "app/draw/effects/patching_page.h"
#include "app/draw/effects/why.h"
#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

struct ScreenInfo {
    Screen screen;
    const char* label;  ///< on the switch; empty: reached from the stages
    const char* action; ///< whose key the tip names
    const char* tip;
    Picture (*strip)(const DrawContext& context); ///< null: that of the stages
    Picture (*page)(const DrawContext& context);
    Picture (*inspector)(const DrawContext& context);
};

constexpr std::array screens{
    ScreenInfo{Screen::stages, "Stages", "stages screen", "The walk through the model's numbers", nullptr,
               nullptr, nullptr},
    ScreenInfo{Screen::atlas, "Atlas", "atlas screen", "All heads by what they measurably do",
               draw_atlas_strip, draw_atlas_page, draw_atlas_inspector},
    ScreenInfo{Screen::effects, "Effects", "effects screen", "What every head does to the prediction",
               draw_effects_strip, draw_effects_page, draw_effects_inspector},
    ScreenInfo{Screen::patching, "Patching", "patching screen",
               "What of this prompt brings its answer back in another", draw_patching_strip,
               draw_patching_page, draw_patching_inspector},
    ScreenInfo{Screen::circuits, "Circuits", "circuits screen", "What a head does by its weights alone",
               nullptr, draw_circuits_page, draw_circuits_inspector},
    ScreenInfo{Screen::why, "", "", "", nullptr, draw_why_page, draw_why_inspector},
    ScreenInfo{Screen::map, "Map", "map screen", "The weights of the open head as a map of any length",
               draw_long_map_strip, draw_long_map_page, draw_long_map_inspector},
};

const ScreenInfo& info_of(Screen screen) {
    return *std::ranges::find(screens, screen, &ScreenInfo::screen);
}

} // namespace

std::vector<Segment> screen_segments(const Document& document, const Shown& shown, const ViewState& view) {
    const Screen on = screen_of(shown, view);
    std::vector<Segment> segments;
    for (const ScreenInfo& info : screens)
        if (*info.label != '\0' && has_screen(document, info.screen))
            segments.push_back({.label = info.label,
                                .action = ViewChange(AttentionChange(ShowScreen{info.screen})),
                                .on = info.screen == (on == Screen::why ? Screen::stages : on),
                                .tip = with_key(info.tip, info.action)});
    return segments;
}

bool has_strip(Screen screen) {
    return info_of(screen).strip != nullptr;
}

Picture draw_screen_strip(Screen screen, const DrawContext& context) {
    return info_of(screen).strip(context);
}

Picture draw_screen(Screen screen, const DrawContext& context) {
    return info_of(screen).page(context);
}

Picture draw_screen_inspector(Screen screen, const DrawContext& context) {
    return info_of(screen).inspector(context);
}

} // namespace headscope::app
