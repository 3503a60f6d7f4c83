#include "app/state/screens/screen.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

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

void check_glyphs(User& user, const std::string& where) {
    user.settle();
    user.driver.wait(2);
    const Glyphs glyphs;
    INFO(where);
    CHECK(glyphs.exact > 100);
    CHECK(glyphs.stretched == 0);
}

void check_stages(User& user) {
    for (int group = 0; group < group_count; ++group) {
        const auto stage = static_cast<StageGroup>(group);
        if (!user.view().step_strip.has(stage))
            continue;
        user.act(GoTo{stage});
        if (!user.program.canvas().grids.empty()) {
            const figure::Rect& area = user.program.canvas().grids.front().area;
            const float scale = user.driver.surface().scale();
            user.driver.click((area.x + 4) * scale, (area.y + 4) * scale); // a number for the inspector
        }
        check_glyphs(user, std::string(group_info(stage).label));
        user.driver.key(GLFW_KEY_ESCAPE);
    }
    user.act(GoTo{StageGroup::weights});
    for (const WeightsView way :
         {WeightsView::arcs, WeightsView::text, WeightsView::graph, WeightsView::heatmap}) {
        user.act(ShowWeightsAs{way});
        check_glyphs(user, "weights " + std::to_string(static_cast<int>(way)));
    }
}

} // namespace

TEST_CASE("every glyph on screen is drawn pixel for pixel", "[gui][fonts]") {
    const float scale = GENERATE(1.0F, 1.3F, 2.0F);
    CAPTURE(scale);
    SECTION("stages") {
        User user("first-lesson", "", 1600 * scale, 1000 * scale, scale);
        check_glyphs(user, "start");
        check_stages(user);
        for (const LeftTab tab : {LeftTab::guide, LeftTab::tensors, LeftTab::heads, LeftTab::edit}) {
            user.act(ShowTab{tab});
            check_glyphs(user, "panel " + std::to_string(static_cast<int>(tab)));
        }
        user.act(ShowHelp{true});
        check_glyphs(user, "keys");
        user.act(ShowHelp{false});
        user.act(OpenPalette{});
        check_glyphs(user, "palette");
    }
    SECTION("a lesson") {
        User user("first-lesson", "", 1600 * scale, 1000 * scale, scale);
        user.act(OpenLesson{"first-lesson"});
        for (int page = 0; page < 6; ++page) {
            check_glyphs(user, "page " + std::to_string(page));
            user.act(GoToPage{page + 1});
        }
        user.act(Present{});
        check_glyphs(user, "presentation");
    }
    SECTION("a checkpoint") {
        User user("first-lesson", "", 1600 * scale, 1000 * scale, scale);
        user.open(checkpoint::model_folder("pocket"), "Anna gave Tom the cup");
        check_stages(user);
        for (const NamedScreen& screen : named_screens()) {
            user.act(ShowScreen{screen.screen});
            user.act(ShowEffects{screen.effects});
            check_glyphs(user, std::string(screen.name));
        }
        user.act(ShowTab{LeftTab::predictions});
        check_glyphs(user, "predictions");
    }
}

} // namespace headscope::test
