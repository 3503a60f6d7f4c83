#include "app/draw/effects/screens.h"

#include "app/commands/actions.h"
#include "app/draw/atlas/atlas.h"
#include "app/draw/effects/circuits.h"
#include "app/draw/effects/effects.h"
#include "app/draw/effects/patching_page.h"
#include "app/draw/effects/why.h"
#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

struct ScreenInfo {
    Screen screen;
    std::string_view label;  ///< on the switch; empty: opened from the stages
    std::string_view action; ///< the tooltip names its key
    std::string_view tip;
    Picture (*strip)(const DrawContext& context); ///< null: the strip of the stages
    Picture (*page)(const DrawContext& context);
    Picture (*inspector)(const DrawContext& context);
};

constexpr std::array screens{
    ScreenInfo{Screen::stages, translatable("Stages"), "stages screen",
               translatable("The walk through the model's numbers"), nullptr, nullptr, nullptr},
    ScreenInfo{Screen::atlas, translatable("Atlas"), "atlas screen",
               translatable("All heads by what they measurably do"), draw_atlas_strip, draw_atlas_page,
               draw_atlas_inspector},
    ScreenInfo{Screen::effects, translatable("Effects"), "effects screen",
               translatable("What every head does to the prediction"), draw_effects_strip, draw_effects_page,
               draw_effects_inspector},
    ScreenInfo{Screen::patching, translatable("Patching"), "patching screen",
               translatable("What of this prompt brings its answer back in another"), draw_patching_strip,
               draw_patching_page, draw_patching_inspector},
    ScreenInfo{Screen::circuits, translatable("Circuits"), "circuits screen",
               translatable("What a head does by its weights alone"), nullptr, draw_circuits_page,
               draw_circuits_inspector},
    ScreenInfo{Screen::why, "", "", "", nullptr, draw_why_page, draw_why_inspector},
    ScreenInfo{Screen::map, translatable("Map"), "map screen",
               translatable("The weights of the open head as a map of any length"), draw_long_map_strip,
               draw_long_map_page, draw_long_map_inspector},
};

const ScreenInfo& info_of(Screen screen) {
    return *std::ranges::find(screens, screen, &ScreenInfo::screen);
}

} // namespace

std::vector<Segment> screen_segments(const Document& document, const Shown& shown, const ViewState& view) {
    const Screen on = screen_of(shown, view);
    std::vector<Segment> segments;
    for (const ScreenInfo& info : screens)
        if (!info.label.empty() && has_screen(document, info.screen))
            segments.push_back({.label = tr(info.label),
                                .action = ShowScreen{info.screen},
                                .on = info.screen == (on == Screen::why ? Screen::stages : on),
                                .tip = with_key(tr(info.tip), info.action)});
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
