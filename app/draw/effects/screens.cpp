#include "app/draw/effects/screens.h"

#include "app/commands/actions.h"
#include "app/draw/atlas/atlas.h"
#include "app/draw/effects/circuits.h"
#include "app/draw/effects/effects.h"
#include "app/draw/effects/patching_page.h"
#include "app/draw/effects/why.h"
#include "app/draw/flow/flow_page.h"
#include "app/draw/flow/model_flow.h"
#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"
#include "app/draw/panels/panels.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

struct ScreenInfo {
    Screen screen;
    Message label;           ///< on the switch; empty: opened from the stages
    std::string_view action; ///< the tooltip names its key
    Message tip;
    Picture (*strip)(const DrawContext& context); ///< null: the strip of the stages
    Picture (*page)(const DrawContext& context);
    Picture (*inspector)(const DrawContext& context);
};

constexpr std::array screens{
    ScreenInfo{Screen::flow, translatable("common.flow", "Flow"), "flow screen",
               translatable("screens.whole_attention_one", "The whole attention as one picture"), nullptr,
               draw_flow_page, draw_model_flow_inspector},
    ScreenInfo{Screen::stages, translatable("common.stages", "Stages"), "stages screen",
               translatable("screens.walk_through_models_numbers", "The model's numbers, stage by stage"),
               nullptr, nullptr, nullptr},
    ScreenInfo{Screen::atlas, translatable("common.atlas", "Atlas"), "atlas screen",
               translatable("screens.all_heads_measurably_2", "All heads by measured behavior"),
               draw_atlas_strip, draw_atlas_page, draw_atlas_inspector},
    ScreenInfo{Screen::effects, translatable("common.effects", "Effects"), "effects screen",
               translatable("screens.every_head_prediction_2", "The effect of every head on the prediction"),
               draw_effects_strip, draw_effects_page, draw_effects_inspector},
    ScreenInfo{Screen::patching, translatable("common.patching", "Patching"), "patching screen",
               translatable("screens.prompt_brings_answer_back",
                            "Activations of this prompt, patched into another: which recover the answer?"),
               draw_patching_strip, draw_patching_page, draw_patching_inspector},
    ScreenInfo{Screen::circuits, translatable("common.circuits", "Circuits"), "circuits screen",
               translatable("screens.head_weights_alone_2", "The behavior of a head by its parameters alone"),
               nullptr, draw_circuits_page, draw_circuits_inspector},
    ScreenInfo{Screen::why, {}, "", {}, nullptr, draw_score_terms, draw_score_terms_inspector},
    ScreenInfo{
        Screen::map, translatable("common.map", "Map"), "map screen",
        translatable("screens.weights_open_head_map", "The weights of the open head as a map of any length"),
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
