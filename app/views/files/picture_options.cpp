#include "app/views/files/file_views.h"

#include "app/state/screens/screen.h"
#include "app/views/files/switch_row.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float low_card = 480, row_step = 36, words_height = 38;

bool has_vectors(const OpenChooser& open) {
    return open.chooser.suffix() != ".png";
}

void size_switch(OpenChooser& open, SwitchRow& row, const ViewTools& tools) {
    PictureOptions& picture = open.picture;
    PictureChoice& choice = picture.choice;
    const bool vectors = has_vectors(open);
    // Vector formats have no pixel size; they use their own size.
    std::vector<PictureUnit> units{PictureUnit::mm, PictureUnit::px, PictureUnit::pt};
    if (vectors)
        std::erase(units, PictureUnit::px);
    const auto chosen_unit = std::ranges::find(units, choice.unit);
    const bool by_times = chosen_unit == units.end();
    std::vector<DialogOption> sizes;
    const int times = vectors ? 1 : 3;
    for (int n = 1; n <= times; ++n)
        sizes.push_back({std::to_string(n) + "×", by_times && (vectors || choice.times == n)});
    for (const PictureUnit unit : units)
        sizes.push_back({std::string(unit_name(unit)), unit == choice.unit});
    if (const int chosen = row.add("size", tr("common.size_2", "Size"), sizes); chosen >= 0) {
        choice.unit = chosen < times ? PictureUnit::times : units[static_cast<std::size_t>(chosen - times)];
        if (chosen < times && !vectors)
            choice.times = chosen + 1;
        picture.width = width_text(choice);
        picture.wrong_width = false;
        picture.focus_width = chosen >= times;
        open.focus_name = !picture.focus_width;
    }
    if (choice.unit == PictureUnit::times || (vectors && choice.unit == PictureUnit::px))
        return;
    const figure::Point at = row.at();
    const TextBox field =
        text_box("##width", picture.width, {at.x - 16, at.y - 1, 76, 30}, picture.focus_width, tools,
                 tr("picture_options.width", "Width").c_str(), picture.width.size());
    picture.focus_width = picture.focus_width && !field.active;
    if (field.edited)
        picture.wrong_width = !set_width(choice, picture.width);
}

/// The values of a setting that the command line has too.
void option_switch(PictureChoice& choice, std::string_view flag, SwitchRow& row) {
    const PictureOption& option = picture_option(flag);
    std::vector<DialogOption> offered;
    for (const PictureOption::Value& value : option.values)
        offered.push_back({tr(value.label), static_cast<int>(offered.size()) == option.value(choice)});
    if (const int chosen = row.add(option.flag.substr(2).data(), tr(option.caption), offered); chosen >= 0)
        option.set(choice, chosen);
}

void heads_switch(PictureChoice& choice, SwitchRow& row) {
    if (const int chosen = row.add("heads", tr("picture_options.heads", "Heads"),
                                   {{tr("picture_options.one_head", "one"), !choice.all_heads},
                                    {tr("picture_options.all_heads", "all"), choice.all_heads}});
        chosen >= 0)
        choice.all_heads = chosen == 1;
}

/// The size of the exported picture, or the reason why it has none.
std::string words_of(const OpenChooser& open) {
    const PictureOptions& picture = open.picture;
    if (picture.wrong_width)
        return picture.choice.unit == PictureUnit::mm
                   ? tr("picture_options.give_width_10_1000", "Give a width from 10 to 1000 mm.")
               : picture.choice.unit == PictureUnit::pt
                   ? tr("picture_options.give_size_3_72", "Give the size of the labels, from 3 to 72 pt.")
                   : tr("picture_options.give_width_50_16000", "Give a width from 50 to 16000 px.");
    if (!picture.error.empty())
        return picture.error;
    if (picture.preview == nullptr)
        return tr("picture_options.drawn", "Being drawn …");
    const bool vectors = has_vectors(open);
    return extent_words(
        picture_extent(picture.choice, vectors, picture.preview->width, picture.preview->height), vectors);
}

void draw_words(const OpenChooser& open, const figure::Rect& area, const ViewTools& tools) {
    const bool bad = open.picture.wrong_width || !open.picture.error.empty();
    dialog_paragraph({area.x, area.y + 13}, area.w, words_of(open), 12.5F, 17,
                     bad ? tools.theme.bad : tools.theme.muted, tools);
}

} // namespace

bool offers_all_heads(const AppState& state) {
    const DocumentPtr& shown = state.shown.document;
    const bool has_maps = state.view.group == StageGroup::weights || shows_scores(state.view.group);
    if (shown == nullptr || !shown->has_head_grid() || !has_maps ||
        screen_of(state.shown, state.view) != Screen::stages)
        return false;
    const GivenWeights* const given = shown->given();
    return shown->problem.dims.H > 1 && (given == nullptr || given->loaded.all());
}

bool collapses_picture_options(const OpenChooser& open, const figure::Rect& card) {
    return open.purpose == PathPurpose::picture && card.h < low_card;
}

void view_picture_options(OpenChooser& open, SwitchRow& beside, figure::Point at, float step, bool all_heads,
                          const ViewTools& tools) {
    PictureChoice& choice = open.picture.choice;
    option_switch(choice, "--theme", beside);
    if (all_heads)
        heads_switch(choice, beside);
    SwitchRow first(open, at, tools);
    option_switch(choice, "--title", first);
    size_switch(open, first, tools);
    SwitchRow second(open, {at.x, at.y + step}, tools);
    option_switch(choice, "--background", second);
    option_switch(choice, "--crop", second);
}

void view_collapsed_picture_options(OpenChooser& open, figure::Point at, bool all_heads,
                                    const ViewTools& tools) {
    PictureChoice& choice = open.picture.choice;
    SwitchRow first(open, at, tools);
    option_switch(choice, "--theme", first);
    size_switch(open, first, tools);
    SwitchRow second(open, {at.x, at.y + row_step}, tools);
    option_switch(choice, "--background", second);
    option_switch(choice, "--crop", second);
    SwitchRow third(open, {at.x, at.y + 2 * row_step}, tools);
    option_switch(choice, "--title", third);
    if (all_heads)
        heads_switch(choice, third);
}

void view_picture_words(OpenChooser& open, const figure::Rect& area, const ViewTools& tools) {
    constexpr int unseen = 16; // the reported size is that of a drawn picture
    open.picture.room_wide = open.picture.room_high = unseen;
    draw_words(open, area, tools);
}

void view_picture_preview(OpenChooser& open, const figure::Rect& area, const ViewTools& tools) {
    PictureOptions& picture = open.picture;
    const figure::Rect frame{area.x, area.y, area.w, area.h - words_height};
    const float scale = tools.surface.scale(), inner_w = frame.w - 8, inner_h = frame.h - 8;
    picture.room_wide = static_cast<int>(inner_w * scale);
    picture.room_high = static_cast<int>(inner_h * scale);
    figure::Scene scene;
    scene.add(
        figure::RectItem{.area = frame, .fill = tools.theme.raise, .stroke = tools.theme.line2, .radius = 6});
    if (picture.preview != nullptr) {
        figure::GridItem pixels = picture.preview->pixels;
        // One cell per physical pixel, even if the preview area has changed since.
        pixels.area.w = std::min(static_cast<float>(pixels.cols) / scale, inner_w);
        pixels.area.h = std::min(static_cast<float>(pixels.rows) / scale, inner_h);
        pixels.area.x = std::round((frame.x + (frame.w - pixels.area.w) / 2) * scale) / scale;
        pixels.area.y = std::round((frame.y + (frame.h - pixels.area.h) / 2) * scale) / scale;
        scene.add(std::move(pixels));
    }
    dialog_paint(scene, tools);
    draw_words(open, {area.x, frame.bottom() + 4, area.w, words_height - 4}, tools);
}

} // namespace headscope::app
