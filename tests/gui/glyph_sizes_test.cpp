#include "app/state/screens/screen.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

// Text is sharp only where each pixel of the atlas falls on one pixel of the screen.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// The sides of textured triangles of the last frame that are longer or shorter on screen than in the atlas.
class Glyphs {
public:
    Glyphs() : atlas_(*ImGui::GetIO().Fonts) {
        const ImDrawData& lists = *ImGui::GetDrawData();
        for (int i = 0; i < lists.CmdListsCount; ++i)
            look(*lists.CmdLists[i]);
    }
    int stretched = 0, exact = 0;

private:
    void look(const ImDrawList& list) {
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback != nullptr || command.GetTexID() != atlas_.TexID)
                continue;
            for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
                const auto vertex = [&](unsigned corner) -> const ImDrawVert& {
                    const ImDrawIdx at = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + corner)];
                    return list.VtxBuffer[static_cast<int>(command.VtxOffset + at)];
                };
                const std::array corners{vertex(0), vertex(1), vertex(2)};
                if (std::ranges::none_of(corners, [&](const ImDrawVert& v) { return of_line(v); }))
                    for (std::size_t c = 0; c < 3; ++c)
                        compare(corners[c], corners[(c + 1) % 3]);
            }
        }
    }

    /// Returns true if it takes its color from the texture with which Dear ImGui draws lines and filled
    /// shapes.
    bool of_line(const ImDrawVert& v) const {
        return std::ranges::any_of(atlas_.CustomRects, [&](const ImFontAtlasCustomRect& rect) {
            const float x = v.uv.x * static_cast<float>(atlas_.TexWidth) - static_cast<float>(rect.X),
                        y = v.uv.y * static_cast<float>(atlas_.TexHeight) - static_cast<float>(rect.Y);
            return x >= 0 && y >= 0 && x <= static_cast<float>(rect.Width) &&
                   y <= static_cast<float>(rect.Height);
        });
    }

    void compare(const ImDrawVert& a, const ImDrawVert& b) {
        const float on_screen = std::hypot(a.pos.x - b.pos.x, a.pos.y - b.pos.y);
        const float in_atlas = std::hypot((a.uv.x - b.uv.x) * static_cast<float>(atlas_.TexWidth),
                                          (a.uv.y - b.uv.y) * static_cast<float>(atlas_.TexHeight));
        (std::abs(on_screen - in_atlas) < 0.05F ? exact : stretched) += 1;
    }

    const ImFontAtlas& atlas_;
};

void check_glyphs(Desk& desk, const std::string& where) {
    desk.settle();
    desk.driver.wait(2);
    const Glyphs glyphs;
    INFO(where);
    CHECK(glyphs.exact > 100);
    CHECK(glyphs.stretched == 0);
}

void check_stages(Desk& desk) {
    for (int group = 0; group < group_count; ++group) {
        const auto stage = static_cast<StageGroup>(group);
        if (!desk.view().step_strip.has(stage))
            continue;
        desk.act(GoTo{stage});
        if (!desk.program.canvas().grids.empty()) {
            const figure::Rect& area = desk.program.canvas().grids.front().area;
            const float scale = desk.driver.surface().scale();
            desk.driver.click((area.x + 4) * scale, (area.y + 4) * scale); // a number for the inspector
        }
        check_glyphs(desk, std::string(group_info(stage).label));
        desk.driver.key(GLFW_KEY_ESCAPE);
    }
    desk.act(GoTo{StageGroup::weights});
    for (const WeightsView way :
         {WeightsView::arcs, WeightsView::text, WeightsView::graph, WeightsView::heatmap}) {
        desk.act(ShowWeightsAs{way});
        check_glyphs(desk, "weights " + std::to_string(static_cast<int>(way)));
    }
}

} // namespace

TEST_CASE("every glyph on screen is drawn pixel for pixel", "[gui][fonts]") {
    const float scale = GENERATE(1.0F, 1.3F, 2.0F);
    CAPTURE(scale);
    SECTION("stages") {
        Desk desk("first-lesson", "", 1600 * scale, 1000 * scale, scale);
        check_glyphs(desk, "start");
        check_stages(desk);
        for (const LeftTab tab : {LeftTab::guide, LeftTab::tensors, LeftTab::heads, LeftTab::edit}) {
            desk.act(ShowTab{tab});
            check_glyphs(desk, "panel " + std::to_string(static_cast<int>(tab)));
        }
        desk.act(ShowHelp{true});
        check_glyphs(desk, "keys");
        desk.act(ShowHelp{false});
        desk.act(OpenPalette{});
        check_glyphs(desk, "palette");
    }
    SECTION("a lesson") {
        Desk desk("first-lesson", "", 1600 * scale, 1000 * scale, scale);
        desk.act(OpenLesson{"first-lesson"});
        for (int page = 0; page < 6; ++page) {
            check_glyphs(desk, "page " + std::to_string(page));
            desk.act(GoToPage{page + 1});
        }
        desk.act(Present{});
        check_glyphs(desk, "presentation");
    }
    SECTION("a checkpoint") {
        Desk desk("first-lesson", "", 1600 * scale, 1000 * scale, scale);
        desk.open(checkpoint::model_folder("pocket"), "Anna gave Tom the cup");
        check_stages(desk);
        for (const NamedScreen& screen : named_screens()) {
            desk.act(ShowScreen{screen.screen});
            desk.act(ShowEffects{screen.effects});
            check_glyphs(desk, std::string(screen.name));
        }
        desk.act(ShowTab{LeftTab::predictions});
        check_glyphs(desk, "predictions");
    }
}

} // namespace headscope::test
