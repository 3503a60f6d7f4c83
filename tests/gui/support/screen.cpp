#include "tests/gui/support/screen.h"

#include "app/views/surface.h"

#include <imgui_internal.h>

#include <algorithm>
#include <unordered_map>

namespace {

using headscope::test::ScreenItem;
using headscope::test::ScreenText;

struct Frame {
    std::vector<ScreenItem> items;
    std::vector<ScreenText> texts;
    std::unordered_map<std::string, std::string> fields;
};
Frame drawing, drawn;
std::unordered_map<ImGuiID, std::string> labels;

headscope::figure::Rect rect_of(const ImRect& box) {
    return {box.Min.x, box.Min.y, box.GetWidth(), box.GetHeight()};
}

} // namespace

// The link step sends calls of ImGui::ItemAdd, ImGuiWindow::GetID, ImGui::InputText and headscope::app::paint
// here.
extern "C" bool __real__ZN5ImGui7ItemAddERK6ImRectjPS1_i(const ImRect& box, ImGuiID id, const ImRect* nav,
                                                         int flags);
extern "C" bool __wrap__ZN5ImGui7ItemAddERK6ImRectjPS1_i(const ImRect& box, ImGuiID id, const ImRect* nav,
                                                         int flags) {
    if (id != 0) {
        const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
        const auto label = labels.find(id);
        drawing.items.push_back({id, label == labels.end() ? "" : label->second, window->Name, rect_of(box),
                                 rect_of(window->ClipRect)});
    }
    return __real__ZN5ImGui7ItemAddERK6ImRectjPS1_i(box, id, nav, flags);
}

extern "C" ImGuiID __real__ZN11ImGuiWindow5GetIDEPKcS1_(ImGuiWindow* window, const char* text,
                                                        const char* end);
extern "C" ImGuiID __wrap__ZN11ImGuiWindow5GetIDEPKcS1_(ImGuiWindow* window, const char* text,
                                                        const char* end) {
    const ImGuiID id = __real__ZN11ImGuiWindow5GetIDEPKcS1_(window, text, end);
    labels[id] = end == nullptr ? std::string(text) : std::string(text, end);
    return id;
}

extern "C" bool
__real__ZN5ImGui9InputTextEPKcPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiPFiP26ImGuiInputTextCallbackDataEPv(
    const char* label, std::string* text, int flags, ImGuiInputTextCallback callback, void* data);
extern "C" bool
__wrap__ZN5ImGui9InputTextEPKcPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiPFiP26ImGuiInputTextCallbackDataEPv(
    const char* label, std::string* text, int flags, ImGuiInputTextCallback callback, void* data) {
    drawing.fields[label] = *text;
    return __real__ZN5ImGui9InputTextEPKcPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiPFiP26ImGuiInputTextCallbackDataEPv(
        label, text, flags, callback, data);
}

extern "C" void __real__ZN9headscope3app5paintERKNS_6figure5SceneEffRNS0_7SurfaceER10ImDrawList(
    const headscope::figure::Scene& scene, float x, float y, headscope::app::Surface& surface,
    ImDrawList& list);
extern "C" void __wrap__ZN9headscope3app5paintERKNS_6figure5SceneEffRNS0_7SurfaceER10ImDrawList(
    const headscope::figure::Scene& scene, float x, float y, headscope::app::Surface& surface,
    ImDrawList& list) {
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    for (const headscope::figure::SceneItem& item : scene.items)
        if (const auto* text = std::get_if<headscope::figure::TextItem>(&item)) {
            const float at_x = x + text->at.x * surface.scale(), at_y = y + text->at.y * surface.scale();
            const bool visible = at_x >= low.x && at_x <= high.x && at_y >= low.y && at_y <= high.y;
            drawing.texts.push_back({text->text, at_x, at_y, visible});
        }
    __real__ZN9headscope3app5paintERKNS_6figure5SceneEffRNS0_7SurfaceER10ImDrawList(scene, x, y, surface,
                                                                                    list);
}

namespace headscope::test {

using namespace headscope::app;

void begin_recording() {
    drawing = {};
}

void end_recording() {
    std::swap(drawing, drawn);
}

const std::vector<ScreenItem>& screen_items() {
    return drawn.items;
}

const std::vector<ScreenText>& screen_texts() {
    return drawn.texts;
}

bool screen_shows(std::string_view part) {
    return std::ranges::any_of(drawn.texts, [&](const ScreenText& text) {
        return text.visible && text.text.find(part) != std::string::npos;
    });
}

std::string field_text(const std::string& label) {
    const auto found = drawn.fields.find(label);
    return found == drawn.fields.end() ? "" : found->second;
}

} // namespace headscope::test
