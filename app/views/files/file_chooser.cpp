#include "app/draw/kit/format.h"
#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/files/file_views.h"
#include "app/views/imgui_keys.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <ctime>

namespace headscope::app {

namespace {

namespace fs = std::filesystem;

constexpr float chooser_pad = 24, row_height = 28, places_width = 168;

/// The positions of the parts of the card.
struct Parts {
    figure::Rect card, shortcuts, preview, crumbs, list, field, message, foot;
};

Parts parts_of(const figure::Rect& card, const OpenChooser& open) {
    constexpr float preview_height = 158;
    Parts out;
    out.card = card;
    const float switches = switches_height(open, card);
    const float side = card.w >= 600 ? places_width : 0;
    const float x = card.x + chooser_pad + side, w = card.w - 2 * chooser_pad - side;
    out.shortcuts = {card.x + chooser_pad, card.y + 60, side, card.h - 60 - 2 * chooser_pad - 34};
    if (open.purpose == PathPurpose::picture && side > 0 && !collapses_picture_options(open, card)) {
        out.shortcuts.h -= preview_height + 12;
        out.preview = {out.shortcuts.x, out.shortcuts.bottom() + 12, side - 16, preview_height};
    }
    out.crumbs = {x, card.y + 60, w, 30};
    out.foot = {card.x + chooser_pad, card.bottom() - chooser_pad - 34, card.w - 2 * chooser_pad, 34};
    out.message = {x, out.foot.y - 64, w, 34};
    out.field = {x, out.message.y - 40 - switches, w, 34};
    out.list = {x, out.crumbs.bottom() + 8, w, out.field.y - 12 - out.crumbs.bottom() - 8};
    return out;
}

/// A clickable line, highlighted under the mouse. Logical pixels of the window.
bool link(const std::string& id, const std::string& text, const figure::Rect& area, bool strong,
          const ViewTools& tools) {
    const figure::Rect place = dialog_to_screen(area, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    const bool clicked = invisible_button(id, {place.w, place.h}, tools.surface);
    figure::Scene scene;
    if (ImGui::IsItemHovered())
        scene.add(figure::RectItem{.area = area, .fill = tools.theme.highlight, .radius = 4});
    tools.surface.need_glyphs(text);
    add_text(scene, {area.x + 8, figure::baseline_for(area.y + area.h / 2, 13)}, text,
             strong ? figure::Font::ui_semibold : figure::Font::ui, 13,
             strong ? tools.theme.ink : tools.theme.text);
    dialog_paint(scene, tools);
    return tools.focus.register_item(place) || clicked;
}

/// Lists the models on this machine, each with its sizes or the reason why it cannot run. Returns the chosen
/// path.
std::optional<std::string> models(const FileChooser& chooser, const figure::Rect& area,
                                  const ViewTools& tools) {
    const auto& offered = chooser.options().models;
    std::optional<std::string> chosen;
    float y = area.y;
    if (offered.empty() || area.h < 60 || area.w == 0)
        return chosen;
    dialog_text({area.x, y + 20}, tr("file_chooser.models_layers_heads", "Models, layers × heads"),
                figure::Font::ui, 12.5F, tools.theme.muted, tools);
    y += 30;
    for (const OfferedModel& model : offered) {
        if (y + 44 > area.bottom()) {
            dialog_text({area.x, y + 14}, tr("file_chooser.more", "and more"), figure::Font::ui, 12.5F,
                        tools.theme.muted, tools);
            break;
        }
        const std::string label =
            fitted(text::plain_text(model.label), figure::Font::ui, 13, area.w - 24, tools);
        const bool clicked =
            link("model " + model.path, label, {area.x - 8, y, area.w - 8, 28}, false, tools);
        if (ImGui::IsItemHovered())
            show_tip(text::plain_text(model.label) + "\n" + model.about, tools);
        dialog_text({area.x, y + 38}, fitted(model.line, figure::Font::ui, 11.5F, area.w - 8, tools),
                    figure::Font::ui, 11.5F, tools.theme.muted, tools);
        if (clicked)
            chosen = model.path;
        y += 48;
    }
    return chosen;
}

/// Lists the places. Returns the lower edge of the list.
float draw_shortcuts(FileChooser& chooser, const figure::Rect& area, const ViewTools& tools) {
    float y = area.y;
    for (const FolderShortcut& shortcut : chooser.options().shortcuts) {
        if (y + 28 > area.bottom() || area.w == 0)
            return y;
        const bool here = shortcut.folder == chooser.listing().folder;
        const std::string label =
            fitted(text::plain_text(shortcut.label), figure::Font::ui_semibold, 13, area.w - 32, tools);
        if (link("place " + shortcut.folder.string(), label, {area.x - 8, y, area.w - 8, 28}, here, tools)) {
            chooser.go(shortcut.folder);
            return y;
        }
        y += 30;
    }
    return y;
}

/// The row that leads to the dialog for models of the Hub. Returns its lower edge.
float hub_row(const OpenChooser& open, figure::Point at, const figure::Rect& area, const ViewTools& tools) {
    if (open.purpose != PathPurpose::open || at.y + 28 > area.bottom() || area.w == 0)
        return at.y;
    const std::string label =
        fitted(tr("file_chooser.hub", "From the Hub…"), figure::Font::ui_semibold, 13, area.w - 32, tools);
    if (link("hub", label, {at.x - 8, at.y, area.w - 8, 28}, false, tools)) {
        tools.send(CloseChooser{});
        tools.send(HubAction{HubAction::Kind::open});
    }
    return at.y + 30;
}

/// The folders of the path from the root; the last ones if there is no space for all.
void crumbs(FileChooser& chooser, const figure::Rect& area, const ViewTools& tools) {
    const fs::path folder = chooser.listing().folder;
    if (push_button("↑", {area.x, area.y, 34, 30}, ButtonLook::plain, tools,
                    tr("file_chooser.folder_above_backspace_alt", "The folder above (Backspace, Alt ↑)")))
        chooser.up();
    std::vector<fs::path> way;
    for (fs::path at = folder; way.empty() || at != way.back(); at = at.parent_path())
        way.push_back(at);
    const auto label = [](const fs::path& at) {
        return at.has_filename() ? text::plain_text(at.filename().string()) : std::string("/");
    };
    const auto width = [&](const fs::path& at) {
        return std::min(tools.measure(label(at), figure::Font::ui_semibold, 13), 200.0F) + 16;
    };
    float room = area.w - 44 - 20;
    std::size_t shown = 0;
    while (shown < way.size() && (shown == 0 || room >= width(way[shown]) + 10)) {
        room -= width(way[shown]) + 10;
        ++shown;
    }
    float x = area.x + 44;
    if (shown < way.size())
        x += dialog_text({x, figure::baseline_for(area.y + area.h / 2, 13)}, "…", figure::Font::ui, 13,
                         tools.theme.muted, tools) +
             6;
    for (std::size_t i = shown; i-- > 0;) {
        const float w = width(way[i]);
        if (link("crumb " + way[i].string(),
                 fitted(label(way[i]), figure::Font::ui_semibold, 13, w - 14, tools), {x, area.y, w, area.h},
                 i == 0, tools) &&
            i != 0) {
            chooser.go(way[i]);
            return;
        }
        x += w;
        if (i > 0 && way[i].has_filename())
            dialog_text({x + 1, figure::baseline_for(area.y + area.h / 2, 13)}, "/", figure::Font::ui, 13,
                        tools.theme.muted, tools);
        x += 10;
    }
}

void folder_icon(figure::Scene& scene, float x, float y, figure::Color color) {
    scene.add(figure::RectItem{.area = {x, y - 6, 7, 4}, .fill = color, .radius = 1.5F});
    scene.add(figure::RectItem{.area = {x, y - 4, 15, 10}, .fill = color, .radius = 1.5F});
}

void file_icon(figure::Scene& scene, float x, float y, figure::Color color) {
    scene.add(figure::RectItem{
        .area = {x + 2, y - 7, 11, 14}, .stroke = color, .stroke_width = 1.2F, .radius = 1.5F});
    for (const float line : {-2.5F, 0.5F, 3.5F})
        scene.add(figure::LineItem{{x + 5, y + line}, {x + 10, y + line}, color, 1});
}

/// One row of the list, `w` wide.
figure::Scene row_scene(const FileRow& row, bool chosen, float w, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    figure::Scene scene;
    const float middle = row_height / 2, baseline = figure::baseline_for(middle, 13);
    if (chosen) {
        scene.add(figure::RectItem{.area = {0, 0, w, row_height}, .fill = theme.highlight});
        scene.add(figure::RectItem{.area = {0, 0, 3, row_height}, .fill = theme.ink});
    }
    row.folder ? folder_icon(scene, 14, middle, theme.muted) : file_icon(scene, 14, middle, theme.muted);
    const bool columns_fit = w >= 380;
    const std::string name = text::plain_text(row.name);
    tools.surface.need_glyphs(name);
    add_text(scene, {38, baseline},
             fitted(name, figure::Font::ui_medium, 13, w - (columns_fit ? 240 : 50), tools),
             figure::Font::ui_medium, 13, theme.ink);
    if (!columns_fit)
        return scene;
    add_text(scene, {w - 130, baseline},
             row.checkpoint ? tr("file_chooser.checkpoint", "checkpoint")
             : row.folder   ? ""
                            : bytes_text(static_cast<std::int64_t>(row.bytes)),
             figure::Font::ui, 12.5F, theme.muted, figure::Align::right);
    add_text(scene, {w - 14, baseline}, date_text(row.modified, std::time(nullptr)), figure::Font::ui, 12.5F,
             theme.muted, figure::Align::right);
    return scene;
}

/// Lists the folder's content, or shows a message instead. Returns the index of the double-clicked row, or
/// -1.
int list(FileChooser& chooser, const figure::Rect& area, bool follow, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const Theme& theme = tools.theme;
    figure::Scene back;
    back.add(figure::RectItem{.area = area, .fill = theme.canvas, .stroke = theme.line2, .radius = 6});
    dialog_paint(back, tools);
    const FileListing& listing = chooser.listing();
    if (!listing.error.empty() || listing.rows.empty()) {
        const std::string what = listing.error.empty()
                                     ? tr("file_chooser.nothing_here_fits", "Nothing here that fits.")
                                     : text::plain_text(listing.error);
        dialog_paragraph({area.x + 16, area.y + 28}, area.w - 32, what, 13, 20,
                         listing.error.empty() ? theme.muted : theme.bad, tools);
        return -1;
    }
    ImGui::SetCursorScreenPos({origin.x + (area.x + 2) * scale, origin.y + (area.y + 4) * scale});
    ImGui::BeginChild("files", {(area.w - 4) * scale, (area.h - 8) * scale});
    const float width = ImGui::GetContentRegionAvail().x / scale;
    const float top = ImGui::GetCursorScreenPos().y, left = ImGui::GetCursorScreenPos().x;
    int entered = -1, clicked = -1;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(listing.rows.size()), row_height * scale);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const FileRow& row = listing.rows[static_cast<std::size_t>(i)];
            ImGui::PushID(i);
            const ImVec2 at{left, top + static_cast<float>(i) * row_height * scale};
            ImGui::SetCursorScreenPos(at);
            if (invisible_button(row.name, {width * scale, row_height * scale}, tools.surface))
                clicked = i;
            if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
                entered = i;
            paint(row_scene(row, i == chooser.row(), width, tools), at.x, at.y, tools.surface,
                  *ImGui::GetWindowDrawList());
            ImGui::PopID();
        }
    if (follow && chooser.row() >= 0) {
        const float y = static_cast<float>(chooser.row()) * row_height * scale;
        const float height = ImGui::GetWindowHeight();
        if (y < ImGui::GetScrollY())
            ImGui::SetScrollY(y);
        if (y + row_height * scale > ImGui::GetScrollY() + height)
            ImGui::SetScrollY(y + row_height * scale - height);
    }
    ImGui::EndChild();
    if (clicked >= 0)
        chooser.select(clicked);
    return entered;
}

/// Asks before replacing an existing file. Returns true while the question is shown. Sends the path once it
/// is confirmed.
bool replace_question(FileChooser& chooser, const Parts& parts, const ViewTools& tools) {
    if (chooser.replacing().empty())
        return false;
    const Theme& theme = tools.theme;
    const figure::Rect& bar = parts.message;
    figure::Scene scene;
    scene.add(figure::RectItem{.area = bar, .fill = theme.bad_back, .stroke = theme.bad, .radius = 6});
    dialog_paint(scene, tools);
    const float keep = button_width(tr("file_chooser.keep", "Keep it"), tools),
                replace = button_width(tr("file_chooser.replace", "Replace it"), tools);
    const std::string text =
        tr("file_chooser.already", "{} is already there.", text::plain_text(chooser.replacing()));
    dialog_text({bar.x + 12, figure::baseline_for(bar.y + bar.h / 2, 13)},
                fitted(text, figure::Font::ui, 13, bar.w - keep - replace - 36, tools), figure::Font::ui, 13,
                theme.ink, tools);
    if (push_button(tr("file_chooser.keep", "Keep it"),
                    {bar.right() - keep - replace - 9, bar.y + 3, keep, 28}, ButtonLook::plain, tools))
        chooser.keep();
    if (push_button(tr("file_chooser.replace", "Replace it"),
                    {bar.right() - replace - 3, bar.y + 3, replace, 28}, ButtonLook::primary, tools))
        if (const auto path = chooser.replace())
            tools.send(ChosenPath{*path});
    return true;
}

/// Shows why the last attempt failed, in as many lines as fit above the buttons. A tooltip shows the full
/// text.
void view_error(const std::string& error, const figure::Rect& area, const ViewTools& tools) {
    constexpr float size = 13, line = 18;
    constexpr std::size_t most = 3;
    std::vector<std::string> lines = wrapped_lines(error, figure::Font::ui, size, area.w, tools);
    const bool cut = lines.size() > most;
    if (cut) {
        lines.resize(most);
        lines.back() += " …";
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
        dialog_text({area.x, area.y + size + line * static_cast<float>(i)},
                    fitted(lines[i], figure::Font::ui, size, area.w, tools), figure::Font::ui, size,
                    tools.theme.bad, tools);
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const float scale = tools.surface.scale(), high = line * static_cast<float>(lines.size());
    ImGui::SetCursorScreenPos({origin.x + area.x * scale, origin.y + area.y * scale});
    ImGui::Dummy({area.w * scale, high * scale});
    if (cut && ImGui::IsItemHovered())
        show_tip(error, tools);
}

/// The buttons at the bottom. Returns true if the accepting one was pressed.
bool foot(OpenChooser& open, const figure::Rect& area, const ViewTools& tools) {
    FileChooser& chooser = open.chooser;
    const FileChooser::Options& options = chooser.options();
    if (chooser.new_folder()) {
        std::string name = *chooser.new_folder();
        const float make = button_width(tr("file_chooser.make", "Make it"), tools);
        const TextBox field = text_box("##folder", name, {area.x, area.y, 200, 34}, open.focus_folder, tools,
                                       tr("file_chooser.name_new_folder", "Name of the new folder").c_str());
        if (field.edited)
            chooser.type_new_folder(name);
        open.focus_folder = open.focus_folder && !field.active;
        if (push_button(tr("file_chooser.make", "Make it"), {area.x + 208, area.y, make, 34},
                        ButtonLook::plain, tools))
            chooser.make_new_folder();
    } else if (options.saving &&
               push_button(
                   tr("file_chooser.new_folder", "New folder…"),
                   {area.x, area.y, button_width(tr("file_chooser.new_folder", "New folder…"), tools), 34},
                   ButtonLook::plain, tools)) {
        chooser.begin_new_folder();
        open.focus_folder = true;
    }
    if (open.purpose == PathPurpose::picture && !chooser.new_folder()) {
        const std::string label = tr("file_chooser.copy_command", "Copy command");
        const float beside = button_width(tr("file_chooser.new_folder", "New folder…"), tools) + 8;
        if (push_button(label, {area.x + beside, area.y, button_width(label, tools), 34}, ButtonLook::plain,
                        tools,
                        tr("file_chooser.copy_command_tip",
                           "Copies the call of headscope render that draws this picture")))
            tools.send(CopyRenderCommand{});
    }
    const float accept = button_width(options.accept, tools),
                cancel = button_width(tr("common.cancel", "Cancel"), tools);
    if (push_button(tr("common.cancel", "Cancel"), {area.right() - accept - 8 - cancel, area.y, cancel, 34},
                    ButtonLook::plain, tools, "Esc"))
        tools.send(CloseChooser{});
    return push_button(options.accept, {area.right() - accept, area.y, accept, 34}, ButtonLook::primary,
                       tools, "Enter");
}

/// Arrow keys move through the list, whichever item has the keyboard. Returns true if one was pressed.
bool list_keys(FileChooser& chooser, bool field_is_empty) {
    const ImGuiIO& io = ImGui::GetIO();
    const auto pressed = [&](KeyName name) { return key_pressed(name); };
    if (io.KeyAlt && pressed(ImGuiKey_UpArrow)) {
        chooser.up();
        return true;
    }
    if (pressed(ImGuiKey_Backspace) && field_is_empty) {
        chooser.up();
        return true;
    }
    const std::pair<KeyName, int> steps[] = {
        {ImGuiKey_DownArrow, 1}, {ImGuiKey_UpArrow, -1}, {ImGuiKey_PageDown, 10}, {ImGuiKey_PageUp, -10}};
    for (const auto& [name, by] : steps)
        if (pressed(name)) {
            chooser.move(by);
            return true;
        }
    return false;
}

} // namespace

void view_file_chooser(OpenChooser& open, bool all_heads, const ViewTools& tools) {
    FileChooser& chooser = open.chooser;
    const figure::Rect card = begin_dialog("file chooser", 780, 600, tools);
    const Parts parts = parts_of(card, open);
    const Theme& theme = tools.theme;
    move_focus_with_tab(tools);
    // Read these keys before the text field consumes them.
    const bool field_was_empty = chooser.text().empty() && !chooser.new_folder();
    const bool enter = enter_pressed(), escape = escape_pressed(), on_ring = tools.focus.visible();

    dialog_text({card.x + chooser_pad, card.y + 40}, chooser.options().title, figure::Font::ui_semibold, 20,
                theme.ink, tools);
    std::optional<std::string> offered;
    int entered = -1;
    if (collapses_picture_options(open, card) && open.picture.instead_of_folder) {
        view_collapsed_picture_options(open, {card.x + chooser_pad, parts.crumbs.y}, all_heads, tools);
    } else {
        const float places = draw_shortcuts(chooser, parts.shortcuts, tools);
        const float below = hub_row(open, {parts.shortcuts.x, places}, parts.shortcuts, tools) + 14;
        offered = models(
            chooser, {parts.shortcuts.x, below, parts.shortcuts.w, parts.shortcuts.bottom() - below}, tools);
        crumbs(chooser, parts.crumbs, tools);
        entered = list(chooser, parts.list, open.follow_row, tools);
        open.follow_row = false;
    }

    std::string text = chooser.text();
    const bool keep_suffix = chooser.options().saving && has_suffix(text, chooser.suffix());
    const TextBox name =
        text_box("##name", text, parts.field, open.focus_name, tools,
                 (chooser.options().saving
                      ? tr("file_chooser.name_file", "Name of the file")
                      : tr("file_chooser.name_path_file_tab", "Name or path of the file; Tab completes it"))
                     .c_str(),
                 text.size() - (keep_suffix ? chooser.suffix().size() : 0),
                 [&](const std::string& typed) { return chooser.completion(typed); });
    open.focus_name = open.focus_name && !name.active;
    if (name.edited)
        chooser.type(text);
    view_switches(open, {parts.field.x, parts.field.bottom() + 12}, card, all_heads, tools);
    if (parts.preview.w > 0)
        view_picture_preview(open, parts.preview, tools);
    const bool asked = replace_question(chooser, parts, tools);
    if (!asked && !chooser.error().empty())
        view_error(text::plain_text(chooser.error()), parts.message, tools);
    else if (!asked && open.purpose == PathPurpose::picture && parts.preview.w == 0)
        view_picture_words(open, parts.message, tools);
    const bool accept = foot(open, parts.foot, tools);

    const bool typing = ImGui::GetIO().WantTextInput;
    if (list_keys(chooser, field_was_empty && (name.active || !typing))) {
        // The field shows the chosen name, selected so that typing replaces it.
        leave_field();
        open.focus_name = true;
        open.follow_row = true;
        tools.focus.clear();
    }
    if (entered >= 0)
        chooser.select(entered);
    if (enter && on_ring && !typing) {
        tools.focus.activate();
    } else if (enter && chooser.new_folder()) {
        chooser.make_new_folder();
        (chooser.new_folder() ? open.focus_folder : open.focus_name) = true;
    } else if (enter && !chooser.replacing().empty()) {
        if (const auto path = chooser.replace())
            tools.send(ChosenPath{*path});
    } else if ((enter || accept || entered >= 0) && !open.picture.wrong_width) {
        if (const auto path = chooser.accept())
            tools.send(ChosenPath{*path});
        leave_field();
        open.focus_name = true;
    }
    if (offered)
        tools.send(ChosenPath{*offered});
    if (escape && chooser.new_folder())
        chooser.drop_new_folder();
    else if (escape && !chooser.replacing().empty()) {
        chooser.keep();
        open.focus_name = true;
    } else if (escape)
        tools.send(CloseChooser{});
    end_dialog();
}

} // namespace headscope::app
