#include "app/state/files/hub_dialog.h"

#include "app/draw/kit/format.h"
#include "app/views/dialog.h"
#include "app/views/files/file_views.h"
#include "app/views/imgui_keys.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using HubStep = HubDialog::Step;

constexpr float hub_width = 600, hub_pad = 28, hub_line = 20, hub_text = 13, hub_button = 34;
constexpr float hub_content = 188; ///< height between the field and the buttons

std::string hub_bytes(std::uint64_t bytes) {
    return bytes_text(static_cast<std::int64_t>(bytes));
}

std::string intro_words() {
    return tr(
        "hub_dialog.intro",
        "Enter the name of a model on the Hugging Face Hub, such as openai-community/gpt2. A branch, tag "
        "or commit can follow after @. A model that is on this machine already opens at once. Nothing is "
        "downloaded before you agree, and never code.");
}

/// "https://huggingface.co" is shown as huggingface.co.
std::string server_name(const HubDialog& hub) {
    const std::size_t scheme = hub.server.find("://");
    return text::plain_text(scheme == std::string::npos ? hub.server : hub.server.substr(scheme + 3));
}

/// Draws a paragraph. Returns the baseline of the next line.
float hub_paragraph(const std::string& text, float y, const figure::Rect& area, figure::Color color,
                    const ViewTools& tools) {
    return dialog_paragraph({area.x, y}, area.w, text, hub_text, hub_line, color, tools);
}

/// Lists files with their sizes, as many as fit.
void list_files(const std::vector<hub::ListedFile>& files, const figure::Rect& area, const ViewTools& tools) {
    const auto fit = static_cast<std::size_t>(std::max(area.h / hub_line, 0.0F));
    const std::size_t shown = files.size() <= fit ? files.size() : fit - std::min<std::size_t>(fit, 1);
    float y = area.y + 14;
    for (std::size_t i = 0; i < shown; ++i, y += hub_line) {
        const float size = dialog_text({area.right(), y}, hub_bytes(files[i].size), figure::Font::ui, 12.5F,
                                       tools.theme.muted, tools, figure::Align::right);
        dialog_text(
            {area.x, y},
            fitted(text::plain_text(files[i].name), figure::Font::ui, 12.5F, area.w - size - 16, tools),
            figure::Font::ui, 12.5F, tools.theme.text, tools);
    }
    if (const std::size_t more = files.size() - shown; more > 0 && fit > 0)
        dialog_text({area.x, y},
                    tr_n("hub_dialog.more_files", "and {} more file", "and {} more files",
                         static_cast<std::int64_t>(more), more),
                    figure::Font::ui, 12.5F, tools.theme.muted, tools);
}

/// The files of a download, their size, and the free space.
void draw_plan(const HubDialog& hub, const figure::Rect& area, const ViewTools& tools) {
    const hub::DownloadPlan& plan = hub.plan;
    constexpr std::size_t short_commit = 8;
    const auto count = static_cast<std::int64_t>(plan.files.size());
    std::string summary =
        tr_n("hub_dialog.plan", "{} (commit {}): {} file, {}.", "{} (commit {}): {} files, {}.", count,
             hub::model_label(plan.model), plan.commit.substr(0, short_commit), count, hub_bytes(plan.bytes));
    if (plan.missing < plan.bytes)
        summary += " " + tr("hub_dialog.there_already", "{} of them are on this machine already.",
                            hub_bytes(plan.bytes - plan.missing));
    float y = hub_paragraph(summary, area.y + 14, area, tools.theme.ink, tools);
    const std::string folder = text::plain_text(hub.cache);
    y = plan.fits()
            ? hub_paragraph(tr("hub_dialog.free", "{} are free in {}.", hub_bytes(plan.free), folder), y,
                            area, tools.theme.text, tools)
            : hub_paragraph(
                  tr("hub_dialog.too_little",
                     "Only {} are free in {}: free some space, or choose another folder with HF_HOME.",
                     hub_bytes(plan.free), folder),
                  y, area, tools.theme.bad, tools);
    if (!hub.error.empty())
        y = hub_paragraph(text::plain_text(hub.error), y + 6, area, tools.theme.bad, tools);
    y += 8 - 14;
    list_files(plan.files, {area.x, y, area.w, area.bottom() - y}, tools);
}

std::string progress_words(const HubDialog& hub) {
    const hub::DownloadState& got = hub.received;
    const auto whole = static_cast<double>(std::max<std::uint64_t>(got.of_bytes, 1));
    const double part = static_cast<double>(got.bytes) / whole;
    std::string words = tr("hub_dialog.progress", "{} %, {} of {}", static_cast<int>(100 * part),
                           hub_bytes(got.bytes), hub_bytes(got.of_bytes));
    if (hub.bytes_per_second > 0) {
        const double left =
            static_cast<double>(got.of_bytes - std::min(got.bytes, got.of_bytes)) / hub.bytes_per_second;
        const double minutes = left / 60;
        words += ", " +
                 tr("hub_dialog.rate", "{}/s", hub_bytes(static_cast<std::uint64_t>(hub.bytes_per_second))) +
                 ", " +
                 (minutes < 2 ? tr("file_dialogs.about_s_left", "about {} s left", std::lround(left))
                              : tr("hub_dialog.minutes_left", "about {} min left", std::lround(minutes)));
    }
    return words;
}

void draw_progress(const HubDialog& hub, const figure::Rect& area, const ViewTools& tools) {
    const hub::DownloadState& got = hub.received;
    const Theme& theme = tools.theme;
    dialog_text({area.x, area.y + 14},
                fitted(tr("hub_dialog.downloading", "Downloading {}", hub::model_label(hub.plan.model)),
                       figure::Font::ui_semibold, 13.5F, area.w, tools),
                figure::Font::ui_semibold, 13.5F, theme.ink, tools);
    const auto whole = static_cast<float>(std::max<std::uint64_t>(got.of_bytes, 1));
    const figure::Rect track{area.x, area.y + 30, area.w, 6};
    figure::Scene scene;
    scene.add(figure::RectItem{.area = track, .fill = theme.line, .radius = 3});
    scene.add(figure::RectItem{
        .area = {track.x, track.y, track.w * std::min(static_cast<float>(got.bytes) / whole, 1.0F), track.h},
        .fill = theme.ink,
        .radius = 3});
    dialog_paint(scene, tools);
    dialog_text({area.x, area.y + 58}, progress_words(hub), figure::Font::ui, hub_text, theme.text, tools);
    if (!got.pause.empty())
        hub_paragraph(tr("hub_dialog.waiting", "{}; waiting", text::plain_text(got.pause)), area.y + 80, area,
                      theme.text, tools);
    else
        dialog_text({area.x, area.y + 80},
                    fitted(text::plain_text(got.file), figure::Font::ui, 12.5F, area.w, tools),
                    figure::Font::ui, 12.5F, theme.muted, tools);
}

void draw_content(const HubDialog& hub, const figure::Rect& area, const ViewTools& tools) {
    switch (hub.step) {
    case HubStep::naming:
        if (!hub.error.empty())
            hub_paragraph(text::plain_text(hub.error), area.y + 14, area, tools.theme.bad, tools);
        return;
    case HubStep::finding:
        hub_paragraph(tr("hub_dialog.asking", "Asking {} for its files…", server_name(hub)), area.y + 14,
                      area, tools.theme.text, tools);
        return;
    case HubStep::found:
        return draw_plan(hub, area, tools);
    case HubStep::downloading:
        return draw_progress(hub, area, tools);
    }
}

/// The field for the name; while work goes on, the name alone.
void name_field(HubDialog& hub, const figure::Rect& area, const ViewTools& tools) {
    if (hub.is_working()) {
        figure::Scene scene;
        scene.add(figure::RectItem{.area = area, .stroke = tools.theme.line2, .radius = 6});
        dialog_paint(scene, tools);
        dialog_text({area.x + 10, figure::baseline_for(area.y + area.h / 2, hub_text)},
                    fitted(text::plain_text(hub.name), figure::Font::ui, hub_text, area.w - 20, tools),
                    figure::Font::ui, hub_text, tools.theme.muted, tools);
        return;
    }
    const TextBox field =
        text_box("##model", hub.name, area, hub.focus_name, tools,
                 tr("hub_dialog.hint", "owner/name or owner/name@revision").c_str(), hub.name.size());
    hub.focus_name = hub.focus_name && !field.active;
    if (field.edited)
        tools.send(HubAction{HubAction::Kind::edit});
}

} // namespace

void view_hub_dialog(HubDialog& hub, const ViewTools& tools) {
    using Kind = HubAction::Kind;
    const float text_width = hub_width - 2 * hub_pad;
    const auto intro_lines = static_cast<float>(
        wrapped_lines(intro_words(), figure::Font::ui, hub_text, text_width, tools).size());
    constexpr float head = 62, around = 12 + hub_button + 12 + 12 + hub_button + hub_pad;
    const float wanted = head + intro_lines * hub_line + around + hub_content;
    const figure::Rect card = begin_dialog("hub", hub_width, wanted, tools);
    move_focus_with_tab(tools);
    // Read these keys before the text field consumes them.
    const bool enter = enter_pressed(), escape = escape_pressed();
    const bool on_ring = tools.focus.visible() && !ImGui::GetIO().WantTextInput;
    if (enter && on_ring)
        tools.focus.activate();

    const figure::Rect inside{card.x + hub_pad, card.y, card.w - 2 * hub_pad, card.h};
    dialog_text({inside.x, card.y + 44}, tr("hub_dialog.title", "Open from the Hub"),
                figure::Font::ui_semibold, 20, tools.theme.ink, tools);
    float y = card.y + head;
    if (card.h >= wanted) // in a low window, the space is needed for the rest
        y = hub_paragraph(intro_words(), y + 14, inside, tools.theme.text, tools) - 14;
    name_field(hub, {inside.x, y + 12, inside.w, hub_button}, tools);
    const float foot = card.bottom() - hub_pad - hub_button, top = y + 12 + hub_button + 12;
    draw_content(hub, {inside.x, top, inside.w, foot - 12 - top}, tools);

    const bool found = hub.step == HubStep::found;
    const std::string accept = !found                              ? tr("hub_dialog.find", "Find")
                               : hub.plan.missing < hub.plan.bytes ? tr("hub_dialog.continue", "Continue")
                                                                   : tr("hub_dialog.download", "Download");
    const bool can_accept = !hub.is_working() && (!found || hub.plan.fits());
    float right = inside.right();
    bool accepted = false;
    if (can_accept) {
        const float width = button_width(accept, tools);
        accepted = push_button(accept, {right - width, foot, width, hub_button}, ButtonLook::primary, tools,
                               "Enter");
        right -= width + 8;
    }
    const float cancel = button_width(tr("common.cancel", "Cancel"), tools);
    const bool cancelled =
        push_button(tr("common.cancel", "Cancel"), {right - cancel, foot, cancel, hub_button},
                    ButtonLook::plain, tools, "Esc");
    if (cancelled || escape)
        tools.send(HubAction{Kind::close});
    else if (can_accept && (accepted || (enter && !on_ring)))
        tools.send(HubAction{found ? Kind::download : Kind::find, hub.name});
    end_dialog();
}

} // namespace headscope::app
