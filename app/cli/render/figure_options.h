#pragma once

#include "app/cli/window_scene.h"
#include "app/state/picture_choice.h"
#include "core/figure/figure.h"

#include <map>
#include <optional>
#include <string>

namespace headscope::cli {

/// The options of a figure: those of the window's dialog for pictures, from the same table. Must live as long
/// as the App that has them.
class FigureOptions {
public:
    /// Adds the options except --theme and --scale, which every scene has.
    void add_to(CLI::App& command);
    /// Returns true if an option was given that a picture of the whole window does not have.
    bool given() const { return !values_.empty() || width_ || font_size_; }
    /// Returns the settings of a figure. `size_given`: --size was given, so that the figure is not cropped by
    /// default. Throws Error(input) for an invalid size.
    app::PictureChoice choice(const std::string& theme, bool size_given, figure::FigureFormat format) const;

private:
    std::map<std::string, std::string> values_; ///< by flag, of those that were given
    std::optional<std::string> width_, font_size_;
};

/// Options of a call that draws a figure without the window around it.
struct FigureScene {
    const SceneOptions& scene;
    bool one_head = false; ///< --head was given: that head alone, of a checkpoint's layer or a file
    std::optional<PictureSize> size = {}; ///< of --size
    figure::FigureFormat format = figure::FigureFormat::png;
    app::PictureChoice choice = {};
};
/// Draws the canvas of the window as a figure and returns the bytes of the file. `document`: null for a
/// checkpoint. Throws what show_scene throws.
std::string render_figure(const FigureScene& figure, const app::DocumentPtr& document);

/// Throws Error(input) if the document has no screen of the name in --screen, with the reason.
void require_screen(const SceneOptions& options, const app::AppState& state);

} // namespace headscope::cli
