#include "app/views/files/file_views.h"
#include "app/views/files/switch_row.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
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
    const bool by_mm = choice.unit == PictureUnit::mm, by_px = choice.unit == PictureUnit::px && !vectors;
    std::vector<DialogOption> sizes;
    const int times = vectors ? 1 : 3;
    for (int n = 1; n <= times; ++n)
        sizes.push_back({std::to_string(n) + "×", !by_mm && !by_px && (vectors || choice.times == n)});
    sizes.push_back({"mm", by_mm});
    if (!vectors)
        sizes.push_back({"px", by_px});
    if (const int chosen = row.add("size", tr("common.size_2", "Size"), sizes); chosen >= 0) {
        choice.unit = chosen < times    ? PictureUnit::times
                      : chosen == times ? PictureUnit::mm
                                        : PictureUnit::px;
        if (chosen < times && !vectors)
            choice.times = chosen + 1;
        picture.width = width_text(choice);
        picture.wrong_width = false;
        picture.focus_width = chosen >= times;
        open.focus_name = !picture.focus_width;
    }
    if (choice.unit == PictureUnit::times || (vectors && !by_mm))
        return;
    const figure::Point at = row.at();
    const TextBox field =
        text_box("##width", picture.width, {at.x - 16, at.y - 1, 76, 30}, picture.focus_width, tools,
                 tr("picture_options.width", "Width").c_str(), picture.width.size());
    picture.focus_width = picture.focus_width && !field.active;
    if (field.edited)
        picture.wrong_width = !set_width(choice, picture.width);
}

void theme_switch(PictureChoice& choice, SwitchRow& row) {
    if (const int chosen =
            row.add("theme", tr("common.theme", "Theme"),
                    {{tr("common.light", "light"), !choice.dark}, {tr("common.dark", "dark"), choice.dark}});
        chosen >= 0)
        choice.dark = chosen == 1;
}

void ground_and_crop(PictureChoice& choice, SwitchRow& row) {
    constexpr std::array grounds{FigureBackground::theme, FigureBackground::white, FigureBackground::none};
    if (const int chosen =
            row.add("ground", tr("picture_options.background", "Background"),
                    {{tr("picture_options.theme", "theme"), choice.background == FigureBackground::theme},
                     {tr("picture_options.white", "white"), choice.background == FigureBackground::white},
                     {tr("picture_options.transparent", "transparent"),
                      choice.background == FigureBackground::none}});
        chosen >= 0)
        choice.background = grounds[static_cast<std::size_t>(chosen)];
    if (const int chosen = row.add("crop", tr("picture_options.crop", "Crop"),
                                   {{tr("picture_options.content", "to content"), choice.crop},
                                    {tr("common.off", "off"), !choice.crop}});
        chosen >= 0)
        choice.crop = chosen == 0;
}

/// The size of the exported picture, or the reason why it has none.
std::string words_of(const OpenChooser& open) {
    const PictureOptions& picture = open.picture;
    if (picture.wrong_width)
        return picture.choice.unit == PictureUnit::mm
                   ? tr("picture_options.give_width_10_1000", "Give a width from 10 to 1000 mm.")
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

bool collapses_picture_options(const OpenChooser& open, const figure::Rect& card) {
    return open.purpose == PathPurpose::picture && card.h < low_card;
}

void view_picture_options(OpenChooser& open, SwitchRow& beside, figure::Point at, float step,
                          const ViewTools& tools) {
    theme_switch(open.picture.choice, beside);
    SwitchRow first(open, at, tools);
    size_switch(open, first, tools);
    SwitchRow second(open, {at.x, at.y + step}, tools);
    ground_and_crop(open.picture.choice, second);
}

void view_collapsed_picture_options(OpenChooser& open, figure::Point at, const ViewTools& tools) {
    SwitchRow first(open, at, tools);
    theme_switch(open.picture.choice, first);
    size_switch(open, first, tools);
    SwitchRow second(open, {at.x, at.y + row_step}, tools);
    ground_and_crop(open.picture.choice, second);
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
