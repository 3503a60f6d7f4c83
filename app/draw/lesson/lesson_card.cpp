#include "app/draw/lesson/lesson_card.h"

#include "app/draw/kit/controls.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace headscope::app {

namespace {

const Ramp& ramp_of(const LessonPicture::Matrix& matrix, std::int64_t heads, const Theme& theme) {
    if (matrix.diverging)
        return theme.diverging;
    return matrix.head < 0 ? theme.neutral : theme.head(matrix.head, heads).ramp;
}

/// The largest area with square cells in a place, centered. Matrices that are not maps fill the place.
figure::Rect matrix_area(const LessonPicture::Matrix& matrix, const figure::Rect& place) {
    if (matrix.diverging)
        return place;
    const float cell =
        std::min(place.w / static_cast<float>(matrix.columns), place.h / static_cast<float>(matrix.rows));
    const float w = cell * static_cast<float>(matrix.columns), h = cell * static_cast<float>(matrix.rows);
    return {place.x + (place.w - w) / 2, place.y + (place.h - h) / 2, w, h};
}

void draw_matrix(Picture& picture, const DrawContext& context, const LessonPicturePtr& owner,
                 std::size_t number, const figure::Rect& place) {
    const LessonPicture::Matrix& matrix = owner->matrices[number];
    const Ramp& ramp = ramp_of(matrix, owner->heads, context.theme);
    const auto colored = [&] {
        std::vector<figure::Color> colors(matrix.shades.size());
        std::ranges::transform(matrix.shades, colors.begin(),
                               [&](float shade) { return ramp_color(ramp, shade); });
        return colors;
    };
    figure::GridItem grid{
        .area = matrix_area(matrix, place), .cols = matrix.columns, .rows = matrix.rows, .pixels = nullptr};
    if (context.pixels == nullptr) {
        grid.pixels = std::make_shared<const std::vector<figure::Color>>(colored());
        grid.key = name_of(*grid.pixels);
    } else {
        const auto kept = context.pixels->find_owned(
            owner,
            key_of({reinterpret_cast<std::uintptr_t>(owner.get()), number, context.theme.dark ? 1U : 0U}),
            colored);
        grid.pixels = kept.pixels;
        grid.key = kept.name;
    }
    const figure::Rect area = grid.area;
    picture.scene.add(std::move(grid));
    if (owner->row < 0 || owner->matrices.size() > 1)
        return;
    const float high = area.h / static_cast<float>(matrix.rows);
    picture.scene.add(figure::RectItem{
        .area = {area.x - 1, area.y + high * static_cast<float>(owner->row) - 1, area.w + 2, high + 2},
        .stroke = context.theme.ink,
        .stroke_width = 1.5F});
}

} // namespace

void draw_lesson_picture(Picture& picture, const DrawContext& context, const CourseState& course,
                         const std::string& id, float x, float y) {
    constexpr float inset = 6, gap = 3;
    const Theme& theme = context.theme;
    const figure::Rect frame{x, y, lesson_picture_wide, lesson_picture_high};
    picture.scene.add(
        figure::RectItem{.area = frame, .fill = theme.canvas, .stroke = theme.line, .radius = 4});
    const auto found = course.pictures.find(id);
    if (found == course.pictures.end() || found->second == nullptr)
        return;
    const std::size_t count = found->second->matrices.size(), columns = count <= 3 ? count : (count + 1) / 2,
                      rows = (count + columns - 1) / columns;
    const float wide = (frame.w - 2 * inset - gap * static_cast<float>(columns - 1)) /
                       static_cast<float>(columns),
                high = (frame.h - 2 * inset - gap * static_cast<float>(rows - 1)) / static_cast<float>(rows);
    for (std::size_t n = 0; n < count; ++n)
        draw_matrix(picture, context, found->second, n,
                    {frame.x + inset + static_cast<float>(n % columns) * (wide + gap),
                     frame.y + inset + static_cast<float>(n / columns) * (high + gap), wide, high});
}

float draw_lesson_card(Picture& picture, const DrawContext& context, const CourseState& course,
                       const lesson::Lesson& lesson, float x, float y, float width) {
    constexpr float inset = 12, gap = 12;
    const Theme& theme = context.theme;
    const float done = course.fraction_opened(lesson), left = x + inset,
                beside = left + lesson_picture_wide + gap, room = x + width - inset - beside;
    Picture words;
    draw_lesson_picture(words, context, course, lesson.id, left, y + inset);
    const std::string title = (lesson.number >= 0 ? std::to_string(lesson.number) + ". " : "") + lesson.title;
    float end = draw_paragraph(words, context, beside, y + inset + 12, room, title, figure::Font::ui_semibold,
                               14.5F, 19, theme.ink);
    // Translators: minutes; then the state of a lesson
    const std::string minutes = tr("common.min", "{} min", lesson.minutes);
    const std::string state = done >= 1  ? tr("lesson_card.done", "done")
                              : done > 0 ? tr("lesson_card.percent", "{} % read", std::lround(100 * done))
                                         : "";
    draw_text(words, context, beside, end, minutes + (state.empty() ? "" : ", " + state), figure::Font::ui,
              12.5F, theme.muted);
    end = std::max(end + 8, y + inset + lesson_picture_high);
    end = draw_paragraph(words, context, left, end + 17, width - 2 * inset, lesson.summary, figure::Font::ui,
                         13, 18, theme.text) -
          6;
    const figure::Rect area{x, y, width, end + 12 - y};
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line, .radius = 6});
    picture.append(std::move(words), 0, 0);
    const figure::Rect track{left, area.bottom() - 10, width - 2 * inset, 3};
    picture.scene.add(figure::RectItem{.area = track, .fill = theme.line, .radius = 1.5F});
    if (done > 0)
        picture.scene.add(figure::RectItem{
            .area = {track.x, track.y, track.w * done, 3}, .fill = theme.ink, .radius = 1.5F});
    picture.add_hotspot(area, "lesson " + lesson.id, OpenLesson{lesson.id},
                        done == 0 ? tr("common.begin", "Begin")
                                  : tr("lesson_quiz.go", "Resume where you were"));
    return area.bottom();
}

} // namespace headscope::app
