#include "tests/gui/support/screen.h"

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

headscope::figure::Rect rect_of(const ImRect& box) {
    return {box.Min.x, box.Min.y, box.GetWidth(), box.GetHeight()};
}

class ScreenRecorder final : public headscope::app::ScreenObserver {
public:
    void item(const std::string& label) override {
        const ImGuiWindow* const window = ImGui::GetCurrentWindowRead();
        drawing.items.push_back({ImGui::GetItemID(), label, window->Name,
                                 rect_of({ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}),
                                 rect_of(window->ClipRect)});
    }
    void field(const std::string& label, const std::string& text) override { drawing.fields[label] = text; }
    void text(const std::string& text, float x, float y, const ImDrawList& list) override {
        const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
        drawing.texts.push_back({text, x, y, x >= low.x && x <= high.x && y >= low.y && y <= high.y});
    }
};

} // namespace

namespace headscope::test {

using namespace headscope::app;

ScreenObserver& screen_recorder() {
    static ScreenRecorder recorder;
    return recorder;
}

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

std::string screen_text() {
    std::string all;
    for (const ScreenText& text : drawn.texts)
        if (text.visible)
            all += text.text + " ";
    return all;
}

std::string field_text(const std::string& label) {
    const auto found = drawn.fields.find(label);
    return found == drawn.fields.end() ? "" : found->second;
}

} // namespace headscope::test
