#pragma once

#include "app/jobs/hub_job.h"
#include "app/state/files/files_state.h"

#include <functional>
#include <optional>
#include <string>

namespace headscope::app {

/// The dialog that opens a model by its name on the Hub. Connects only after the user has entered a name, and
/// downloads only after the user has agreed. For the thread that created it.
class HubController {
public:
    struct Setup {
        HubJob::MakeClient client;                           ///< see ProgramOptions::hub_client
        std::function<void()> wake;                          ///< see ProgramOptions
        std::function<void(const std::string& folder)> open; ///< opens the folder of a model
    };
    /// `files` must outlive it.
    HubController(FilesState& files, Setup setup);

    void act(const HubAction& action);
    /// Call once a frame; `now` counts seconds.
    void frame(double now);
    /// A time in the seconds of frame(): when the progress should be drawn again; infinity: no work is going
    /// on.
    double next_frame_at() const;

private:
    void start_waiting();
    void find(const std::string& name);
    void found(HubJob::Found found);
    void download();
    void close();
    void failed(const std::string& sentence);
    void follow_progress();

    FilesState& files_;
    Setup setup_;
    HubJob job_;
    std::optional<HubAction> waiting_; ///< starts when the cancelled work has ended
    double now_ = 0;
    std::optional<double> began_; ///< time of the first byte of this download; `first_`: bytes then
    std::uint64_t first_ = 0;
};

} // namespace headscope::app
