#include "app/shell/gl/gl_surface.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace headscope::app {

void GlSurface::build(Ui& ui, int width, int height, float monitor_scale, double now,
                      const std::function<void()>& fill_input) {
    ImGuiIO& io = ImGui::GetIO();
    scale_ = monitor_scale * ui.zoom();
    const bool uploaded = io.Fonts->TexID != nullptr;
    if (fonts_.refresh(scale_) && uploaded) {
        ImGui_ImplOpenGL3_DestroyFontsTexture();
        ImGui_ImplOpenGL3_CreateFontsTexture();
        painted_.forget(); // the new texture may reuse the old name
    }
    io.FontDefault = fonts_.font(figure::Font::ui, 13);
    ImGui_ImplOpenGL3_NewFrame();
    // The back end's RGBA copy has been uploaded to the graphics device.
    IM_FREE(io.Fonts->TexPixelsRGBA32);
    io.Fonts->TexPixelsRGBA32 = nullptr;
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DisplayFramebufferScale = {1, 1};
    fill_input();
    ImGui::NewFrame();
    ui.frame(*this, now);
    ImGui::Render();
    upload_new_glyphs();
    textures_.end_frame();
    shaped_.end_frame();
}

void GlSurface::upload_new_glyphs() {
    const auto [first, end] = fonts_.take_changed_rows();
    if (first >= end)
        return;
    const ImFontAtlas& atlas = fonts_.atlas();
    const auto width = static_cast<std::size_t>(atlas.TexWidth);
    std::vector<std::uint32_t> rows(width * static_cast<std::size_t>(end - first));
    const unsigned char* const from = atlas.TexPixelsAlpha8 + width * static_cast<std::size_t>(first);
    std::transform(from, from + rows.size(), rows.begin(),
                   [](unsigned char alpha) { return IM_COL32(255, 255, 255, alpha); });
    GLint bound = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(reinterpret_cast<std::uintptr_t>(atlas.TexID)));
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, first, atlas.TexWidth, end - first, GL_RGBA, GL_UNSIGNED_BYTE,
                    rows.data());
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(bound));
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
