#include "app/draw/kit/format.h"
#include "app/views/files/file_views.h"
#include "app/views/files/switch_row.h"
#include "core/base/message.h"

#include <tuple>
#include <utility>

namespace headscope::app {

namespace {

constexpr float switch_row = 42, picture_row = 38;

void film_switches(OpenChooser& open, SwitchRow& above, SwitchRow& below) {
    FilmChoice& film = open.film;
    if (!film.lesson.empty())
        if (const int chosen = above.add("what", tr("chooser_switches.what", "What"),
                                         {{tr("chooser_switches.stages", "stages"), !film.of_lesson},
                                          {tr("common.lesson", "lesson"), film.of_lesson}});
            chosen >= 0)
            film.of_lesson = chosen == 1;
    constexpr std::pair<int, int> sizes[] = {{1280, 720}, {1280, 800}, {1920, 1080}};
    std::vector<DialogOption> offered;
    for (const auto& [width, height] : sizes)
        offered.push_back({std::to_string(width) + " × " + std::to_string(height),
                           film.width == width && film.height == height});
    if (const int chosen = below.add("size", tr("common.size_2", "Size"), offered); chosen >= 0)
        std::tie(film.width, film.height) = sizes[chosen];
    constexpr double rests[] = {1, 2, 4};
    offered.clear();
    for (const double rest : rests)
        offered.push_back({number(rest, 0) + " s", film.rest == rest});
    if (const int chosen = below.add("rest", tr("chooser_switches.rest", "Rest"), offered); chosen >= 0)
        film.rest = rests[chosen];
}

} // namespace

int SwitchRow::add(const char* id, const std::string& caption, const std::vector<DialogOption>& options) {
    at_.x += dialog_text({at_.x, figure::baseline_for(at_.y + 14, 13)}, caption, figure::Font::ui, 13,
                         tools_.theme.muted, tools_) +
             12;
    float width = 0;
    const int chosen = dialog_segments(id, at_, options, tools_, width);
    at_.x += width + 28;
    if (chosen >= 0)
        open_.focus_name = true;
    return chosen;
}

float switches_height(const OpenChooser& open, const figure::Rect& card) {
    if (open.purpose == PathPurpose::picture)
        return collapses_picture_options(open, card) ? switch_row : 3 * picture_row + 6;
    return open.purpose == PathPurpose::film ? 2 * switch_row : open.formats.size() > 1 ? switch_row : 0;
}

void view_switches(OpenChooser& open, figure::Point at, const figure::Rect& card, bool all_heads,
                   const ViewTools& tools) {
    if (open.formats.size() < 2)
        return;
    SwitchRow row(open, at, tools);
    std::vector<DialogOption> kinds;
    for (const std::string& suffix : open.formats)
        kinds.push_back({suffix.substr(1), suffix == open.chooser.suffix()});
    if (const int chosen = row.add("kind", tr("chooser_switches.kind", "Kind"), kinds); chosen >= 0)
        open.chooser.use_suffix(open.formats[static_cast<std::size_t>(chosen)]);
    if (collapses_picture_options(open, card)) {
        bool& options = open.picture.instead_of_folder;
        if (const int chosen = row.add("show", tr("chooser_switches.show", "Show"),
                                       {{tr("chooser_switches.folder", "folder"), !options},
                                        {tr("chooser_switches.options", "options"), options}});
            chosen >= 0)
            options = chosen == 1;
    } else if (open.purpose == PathPurpose::picture) {
        view_picture_options(open, row, {at.x, at.y + picture_row}, picture_row, all_heads, tools);
    }
    if (open.purpose == PathPurpose::film) {
        SwitchRow below(open, {at.x, at.y + switch_row}, tools);
        film_switches(open, row, below);
    }
}

} // namespace headscope::app
