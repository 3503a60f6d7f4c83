#include "app/draw/effects/run_progress.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <string>

namespace headscope::app {

void draw_run_progress(Picture& picture, const DrawContext& context, float x, float y,
                       const RunProgress& measuring) {
    if (measuring.is_done())
        return;
    const Theme& theme = context.theme;
    const float words =
        draw_text(picture, context, x, y + 16,
                  measuring.stopped ? tr("measuring.stopped_after_runs", "stopped after {} of {} runs",
                                         measuring.done, measuring.count)
                                    : tr("measuring.runs", "{} of {} runs", measuring.done, measuring.count),
                  figure::Font::ui, 12.5F, theme.text);
    picture.scene.add(figure::RectItem{.area = {x, y + 24, words, 4}, .fill = theme.line, .radius = 2});
    picture.scene.add(figure::RectItem{
        .area = {x, y + 24, words * static_cast<float>(measuring.done) / static_cast<float>(measuring.count),
                 4},
        .fill = theme.ink,
        .radius = 2});
    if (!context.controls)
        return;
    const bool on = measuring.stopped;
    draw_button(
        picture, context, {x + words + 16, y, 84, measuring_height},
        on ? tr("common.go", "Resume") : tr("common.cancel", "Cancel"), MeasureRuns{on}, false,
        on ? tr("measuring.runs_not_measured_yet", "Measures the remaining runs")
           : with_key(tr("measuring.stops_runs_measured_stays", "Stops the runs; measured values stay"),
                      "let go"));
}

void draw_missing_cell(Picture& picture, const Theme& theme, const figure::Rect& area, bool stopped) {
    if (stopped)
        draw_hatched(picture, theme, area);
    else
        picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel});
}

} // namespace headscope::app
