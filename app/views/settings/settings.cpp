#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/panels/engine_panel.h"
#include "app/views/dialog.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <cmath>

namespace headscope::app {

namespace {

constexpr float settings_width = 680, settings_pad = 28, setting_height = 42, heading_height = 40;
constexpr float control_left = 190;

/// One choice of a setting and the action that it sends.
struct Offered {
    std::string label;
    bool on;
    Action action;
};

/// A row of the dialog. Its choices send the same actions as keys, switches and lists elsewhere.
struct Setting {
    std::string caption; ///< a heading if there are no choices
    std::vector<Offered> choices = {};
    std::string note = {}; ///< next to the choices, if there is space
};

Setting on_off(const std::string& caption, bool on, const std::function<ViewChange(bool)>& change,
               const std::string& note) {
    return {caption,
            {{tr("settings.on", "on"), on, change(true)}, {tr("common.off", "off"), !on, change(false)}},
            note};
}

std::vector<Offered> colour_maps(const ViewState& view) {
    constexpr std::pair<Message, ColourMap> maps[] = {
        {translatable("common.head_5", "by head"), ColourMap::head},
        {translatable("common.neutral", "neutral"), ColourMap::neutral},
        {untranslated("viridis"), ColourMap::viridis},
        {untranslated("cividis"), ColourMap::cividis},
        {untranslated("magma"), ColourMap::magma}};
    std::vector<Offered> offered;
    for (const auto& [name, map] : maps)
        offered.push_back({tr(name), view.colour_map == map, SetColourMap{map}});
    return offered;
}

std::vector<Offered> score_scales(const ViewState& view) {
    constexpr std::pair<Message, ScoreScale> scales[] = {
        {translatable("settings.own_each_row", "own for each row"), ScoreScale::row},
        {translatable("settings.own_each", "own for each"), ScoreScale::head},
        {translatable("settings.same_all_heads", "same for all heads"), ScoreScale::all}};
    std::vector<Offered> offered;
    for (const auto& [name, scale] : scales)
        offered.push_back({tr(name), view.attention.score_scale == scale, SetScoreScale{scale}});
    return offered;
}

std::vector<Offered> speeds(const ViewState& view) {
    std::vector<Offered> offered;
    for (const float speed : {0.5F, 1.0F, 2.0F, 4.0F})
        offered.push_back({number(speed, speed < 1 ? 1 : 0) + "×", view.speed == speed, SetSpeed{speed}});
    return offered;
}

std::vector<Offered> devices(const EngineState& engines) {
    const auto choose = [](const std::string& id) { return EngineAction{EngineAction::Kind::choose, id}; };
    std::vector<Offered> offered{
        {tr("settings.automatic", "automatic"), engines.chosen == "auto", choose("auto")}};
    if (!engines.devices) {
        offered.push_back({engine_title("cpu"), engines.chosen == "cpu", choose("cpu")});
        return offered;
    }
    for (const engine::Device& device : engines.devices->devices)
        if (device.usable)
            offered.push_back({engine_title(device.id), engines.chosen == device.id, choose(device.id)});
    return offered;
}

Setting of_language(const ViewState& view) {
    static const std::vector<Language> all = languages();
    const std::string chosen =
        view.language.empty() ? std::string(language_in_use()) : language_of_locale(view.language);
    Setting setting{tr("settings.language", "Language")};
    for (const Language& language : all)
        setting.choices.push_back({language.name, language.code == chosen, SetLanguage{language.code}});
    setting.note = chosen == language_in_use()
                       ? tr("common.window_lessons", "of the window and of lessons")
                       : tr("common.next_start_program", "from the next start of the program on");
    return setting;
}

std::vector<Setting> settings(const AppState& state) {
    const ViewState& view = state.view;
    const float step = 0.1F;
    const auto zoomed = [&](float by) { return SetZoom{std::round((view.zoom + by) * 10) / 10}; };
    std::vector<Setting> all{
        {tr("settings.look", "Look")},
        {tr("common.theme", "Theme"),
         {{tr("common.light", "light"), !view.dark, SetDark{false}},
          {tr("common.dark", "dark"), view.dark, SetDark{true}}},
         key_hint("theme")},
        {tr("settings.size_everything", "Size of everything"),
         {{"−", false, zoomed(-step)},
          {number(view.zoom * 100, 0) + " %", true, SetZoom{1}},
          {"+", false, zoomed(step)}},
         key_hint("smaller") + ", " + key_hint("larger")},
        on_off(
            tr("settings.motion", "Motion"), view.animates(), [](bool on) { return SetMotion{on}; },
            view.reduced_motion && !view.motion
                ? tr("settings.desktop_asks_none", "{}; the desktop asks for none", key_hint("motion"))
                : key_hint("motion")),
        on_off(
            tr("settings.ring_changed_cells", "Ring changed cells"), view.flashes(),
            [](bool on) { return SetFlash{on}; },
            tr("settings.moment_after_edit", "for a moment after an edit")),
        {tr("settings.colours_cells", "Colors of cells"), colour_maps(view), key_hint("colour map")},
        {tr("settings.colour_scale_scores", "Color scale of scores"), score_scales(view), key_hint("scale")},
        {tr("settings.colour_scale", "Color scale"),
         {{tr("settings.same_all_heads", "same for all heads"), view.same_scale, SetSameScale{true}},
          {tr("settings.own_each", "own for each"), !view.same_scale, SetSameScale{false}}},
         key_hint("scale")},
        on_off(
            tr("common.numbers_cells", "Numbers in cells"), view.numbers,
            [](bool on) { return ShowNumbers{on}; }, key_hint("numbers")),
        {tr("settings.speed_playing", "Playback speed"), speeds(view)},
        of_language(view),
        {tr("settings.computing", "Computing")},
        {tr("settings.device", "Device"), devices(state.engines),
         state.engines.devices && !state.engines.devices->no_vulkan_reason.empty()
             ? tr("settings.no_vulkan_device_here", "no Vulkan device here")
             : ""},
        {tr("settings.remembered", "Remembered")},
        {tr("settings.opens", "Opens with"),
         {{tr("settings.start_page", "the Start page"), view.start_page, OpenWithStart{true}},
          {tr("settings.last_file", "the last file"), !view.start_page, OpenWithStart{false}}}}};
    if (const auto recent = static_cast<std::int64_t>(state.files.recent.size()); recent > 0)
        all.push_back(
            {tr("settings.recent_files", "Recent files"),
             {{tr("settings.forget", "forget"), false, ForgetRecent{}}},
             tr_n("settings.file_listed", "{} file listed", "{} files listed", recent, grouped(recent))});
    return all;
}

float height_of(const Setting& setting) {
    return setting.choices.empty() ? heading_height : setting_height;
}

void view_setting(const Setting& setting, figure::Point at, float width, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    if (setting.choices.empty()) {
        dialog_text({at.x, at.y + 28}, setting.caption, figure::Font::ui_semibold, 14.5F, theme.ink, tools);
        return;
    }
    const float baseline = figure::baseline_for(at.y + 14, 13);
    dialog_text({at.x, baseline}, setting.caption, figure::Font::ui, 13, theme.text, tools);
    std::vector<DialogOption> options;
    for (const Offered& choice : setting.choices)
        options.push_back({choice.label, choice.on});
    float taken = 0;
    const int chosen = dialog_segments(setting.caption, {at.x + control_left, at.y}, options, tools, taken);
    if (chosen >= 0)
        tools.send(setting.choices[static_cast<std::size_t>(chosen)].action);
    const float x = at.x + control_left + taken + 14, room = at.x + width - x;
    if (!setting.note.empty() && tools.measure(setting.note, figure::Font::ui, 12.5F) <= room)
        dialog_text({x, baseline}, setting.note, figure::Font::ui, 12.5F, theme.muted, tools);
}

} // namespace

void view_settings(const AppState& state, const ViewTools& tools) {
    const std::vector<Setting> all = settings(state);
    constexpr float head = 68, foot = 34 + settings_pad + 10;
    float height = head + foot;
    for (const Setting& setting : all)
        height += height_of(setting);
    const figure::Rect card = begin_dialog("settings", settings_width, height, tools);
    move_focus_with_tab(tools);
    const bool enter = enter_pressed();
    if (enter && tools.focus.visible())
        tools.focus.activate();
    dialog_text({card.x + settings_pad, card.y + 44}, tr("settings.settings", "Settings"),
                figure::Font::ui_semibold, 20, tools.theme.ink, tools);
    // Content that does not fit scrolls.
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const figure::Rect list{card.x, card.y + head, card.w, card.h - head - foot};
    ImGui::SetCursorScreenPos({origin.x + list.x * scale, origin.y + list.y * scale});
    ImGui::BeginChild("settings list", {list.w * scale, list.h * scale});
    float y = (ImGui::GetCursorScreenPos().y - origin.y) / scale;
    const float top = y;
    for (const Setting& setting : all) {
        view_setting(setting, {card.x + settings_pad, y}, card.w - 2 * settings_pad, tools);
        y += height_of(setting);
    }
    ImGui::SetCursorScreenPos({origin.x + list.x * scale, origin.y + top * scale});
    ImGui::Dummy({1, (y - top) * scale - 1});
    ImGui::EndChild();
    const float done = button_width(tr("settings.done", "Done"), tools);
    if (push_button(tr("settings.done", "Done"),
                    {card.right() - settings_pad - done, card.bottom() - settings_pad - 34, done, 34},
                    ButtonLook::primary, tools, "Esc") ||
        escape_pressed() || (enter && !tools.focus.visible()))
        tools.send(OpenSettings{false});
    end_dialog();
}

} // namespace headscope::app
