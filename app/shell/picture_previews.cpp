#include "app/shell/picture_previews.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

namespace {

/// The rows of a grid of heads that are available now, for another thread.
class HeadGridCopy : public HeadGrid {
public:
    explicit HeadGridCopy(const HeadGrid& grid) : info_(grid.info()), ready_(grid.ready()) {
        for (std::int64_t l = 0; l < info_.L; ++l)
            rows_.push_back(grid.row(l));
    }
    const AttentionInfo& info() const override { return info_; }
    std::shared_ptr<const HeadGridRow> row(std::int64_t l) const override {
        return rows_[static_cast<std::size_t>(l)];
    }
    std::int64_t ready() const override { return ready_; }

private:
    AttentionInfo info_;
    std::vector<std::shared_ptr<const HeadGridRow>> rows_;
    std::int64_t ready_;
};

} // namespace

ScreenSnapshot figure_screen(const AppState& state) {
    ScreenSnapshot screen{state.shown, state.view};
    if (state.head_grid != nullptr)
        screen.head_grid = std::make_shared<const HeadGridCopy>(*state.head_grid);
    if (state.course.open != nullptr)
        screen.view.row = -1; // rows that the lesson has not reached would be blank
    return screen;
}

void PicturePreviews::show(const AppState& state) {
    screen_ = std::make_shared<const ScreenSnapshot>(figure_screen(state));
}

void PicturePreviews::frame(std::optional<OpenChooser>& chooser) {
    if (!chooser || chooser->purpose != PathPurpose::picture)
        screen_.reset();
    made_.begin_frame();
    made_.retain({screen_});
    if (screen_ == nullptr)
        return;
    PictureOptions& options = chooser->picture;
    const PictureChoice& choice = options.choice;
    const int wide = options.room_wide, high = options.room_high;
    if (wide <= 0 || high <= 0)
        return;
    std::string key;
    for (const int part :
         {static_cast<int>(choice.dark), static_cast<int>(choice.background), static_cast<int>(choice.crop),
          static_cast<int>(choice.title), static_cast<int>(choice.all_heads), wide, high})
        key += std::to_string(part) + ' ';
    const auto made = made_.ask<PicturePreview>(
        {screen_, key}, Priority::on_screen, [screen = screen_, choice, wide, high](Progress&, const auto&) {
            return preview_picture(*screen, choice, wide, high);
        });
    if (!made.done)
        return; // keep the previous preview
    options.preview = made.value;
    options.error = made.error;
}

void PicturePreviews::settle(std::optional<OpenChooser>& chooser) {
    made_.wait();
    frame(chooser);
}

} // namespace headscope::app
