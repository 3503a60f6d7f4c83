#pragma once

#include "app/jobs/derived.h"
#include "app/shell/files/exports.h"
#include "app/views/state.h"

#include <functional>
#include <memory>
#include <optional>

namespace headscope::app {

/// Returns the state that a figure of the canvas is made from.
ScreenSnapshot figure_screen(const AppState& state);

/// The preview in the chooser for pictures, rendered on a separate thread.
class PicturePreviews {
public:
    explicit PicturePreviews(std::function<void()> wake) : made_(std::move(wake)) {}

    /// Called when a chooser for a picture of the canvas opens.
    void show(const AppState& state);
    /// Returns the state that the picture is made from.
    const ScreenSnapshot& screen() const { return *screen_; }
    /// Call once per frame, with the open chooser.
    void frame(std::optional<OpenChooser>& chooser);
    bool busy() const { return made_.busy(); }
    /// Blocks until no preview is being rendered.
    void settle(std::optional<OpenChooser>& chooser);

private:
    std::shared_ptr<const ScreenSnapshot> screen_; ///< null: no chooser for a picture is open
    DerivedValues made_;
};

} // namespace headscope::app
