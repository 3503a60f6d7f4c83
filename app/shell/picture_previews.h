#pragma once

#include "app/jobs/derived.h"
#include "app/shell/files/exports.h"
#include "app/views/state.h"

#include <functional>
#include <memory>
#include <optional>

namespace headscope::app {

/// What a figure of the canvas is made of.
OnScreen figure_screen(const AppState& state);

/// The small picture in the chooser that writes one, made on a thread of its own.
class PicturePreviews {
public:
    explicit PicturePreviews(std::function<void()> wake) : made_(std::move(wake)) {}

    /// A chooser opens for a picture of the canvas.
    void show(const AppState& state);
    /// What that picture is made of.
    const OnScreen& screen() const { return *screen_; }
    /// Once a frame, with the chooser that is open.
    void frame(std::optional<OpenChooser>& chooser);
    bool busy() const { return made_.busy(); }
    /// Until nothing is being made.
    void settle(std::optional<OpenChooser>& chooser);

private:
    std::shared_ptr<const OnScreen> screen_; ///< null: no picture is being written
    DerivedValues made_;
};

} // namespace headscope::app
