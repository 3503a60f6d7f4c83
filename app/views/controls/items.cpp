#include "app/views/controls/items.h"

#include "core/text/plain_text.h"

#include <imgui_stdlib.h>

#include <utility>

namespace headscope::app {

namespace {

bool observed(bool result, const std::string& label, Surface& surface) {
    if (ScreenObserver* const observer = surface.observer())
        observer->item(label);
    return result;
}

/// Converts text that is copied from or pasted into the one text input created during its lifetime. Dear
/// ImGui would drop line ends and tabs from pasted text, which joins the words around them.
class FieldClipboard {
public:
    explicit FieldClipboard(text::ControlCharacters controls);
    ~FieldClipboard();
    FieldClipboard(const FieldClipboard&) = delete;
    FieldClipboard& operator=(const FieldClipboard&) = delete;

private:
    static const char* paste(void* self);
    static void copy(void* self, const char* text);

    text::ControlCharacters controls_;
    const char* (*get_)(void*);
    void (*set_)(void*, const char*);
    void* data_;
    std::string pasted_;
};

FieldClipboard::FieldClipboard(text::ControlCharacters controls) : controls_(controls) {
    ImGuiIO& io = ImGui::GetIO();
    get_ = std::exchange(io.GetClipboardTextFn, paste);
    set_ = std::exchange(io.SetClipboardTextFn, copy);
    data_ = std::exchange(io.ClipboardUserData, this);
}

FieldClipboard::~FieldClipboard() {
    ImGuiIO& io = ImGui::GetIO();
    io.GetClipboardTextFn = get_;
    io.SetClipboardTextFn = set_;
    io.ClipboardUserData = data_;
}

const char* FieldClipboard::paste(void* self) {
    FieldClipboard& field = *static_cast<FieldClipboard*>(self);
    const char* const text = field.get_ == nullptr ? nullptr : field.get_(field.data_);
    if (text == nullptr)
        return nullptr;
    field.pasted_ = text::pasted_into_field(text, field.controls_);
    return field.pasted_.c_str();
}

void FieldClipboard::copy(void* self, const char* text) {
    const FieldClipboard& field = *static_cast<FieldClipboard*>(self);
    if (field.set_ != nullptr)
        field.set_(field.data_, text::from_field(text, field.controls_).c_str());
}

} // namespace

bool invisible_button(const std::string& label, const ImVec2& size, Surface& surface) {
    return observed(ImGui::InvisibleButton(label.c_str(), size), label, surface);
}

bool selectable(const std::string& label, bool selected, ImGuiSelectableFlags flags, Surface& surface) {
    return observed(ImGui::Selectable(label.c_str(), selected, flags), label, surface);
}

bool input_text(const std::string& label, const std::string& hint, std::string& text,
                ImGuiInputTextFlags flags, ImGuiInputTextCallback callback, void* data, Surface& surface,
                text::ControlCharacters controls) {
    if (ScreenObserver* const observer = surface.observer())
        observer->field(label, text);
    const FieldClipboard clipboard(controls);
    // Dear ImGui changes bytes that are not valid UTF-8.
    const std::string shown_before = text::plain_text(text);
    std::string shown = shown_before;
    const bool reported = observed(
        ImGui::InputTextWithHint(label.c_str(), hint.c_str(), &shown, flags, callback, data), label, surface);
    if (shown != shown_before)
        text = shown;
    return reported;
}

} // namespace headscope::app
