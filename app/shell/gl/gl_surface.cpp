#include "app/shell/gl/gl_surface.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

namespace headscope::app {

void GlSurface::build(Ui& ui, int width, int height, float monitor_scale, double now,
                      const std::function<void()>& fill_input) {
    ImGuiIO& io = ImGui::GetIO();
    scale_ = monitor_scale * ui.zoom();
    const bool uploaded = io.Fonts->TexID != nullptr;
    if (fonts_.refresh(scale_) && uploaded) {
        ImGui_ImplOpenGL3_DestroyFontsTexture();
        ImGui_ImplOpenGL3_CreateFontsTexture();
        painted_.forget(); // the new texture may have the old one's name
    }
    io.FontDefault = fonts_.font(figure::Font::ui, 13);
    ImGui_ImplOpenGL3_NewFrame();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DisplayFramebufferScale = {1, 1};
    fill_input();
    ImGui::NewFrame();
    ui.frame(*this, now);
    ImGui::Render();
    textures_.end_frame();
    shaped_.end_frame();
}

void GlSurface::paint(ImU32 background) {
    ImDrawData& lists = *ImGui::GetDrawData();
    const ImVec4 clear = ImGui::ColorConvertU32ToFloat4(background);
    glViewport(0, 0, static_cast<int>(lists.DisplaySize.x), static_cast<int>(lists.DisplaySize.y));
    glClearColor(clear.x, clear.y, clear.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(&lists);
    painted_.keep(lists, background);
}

} // namespace headscope::app
