#include "app/jobs/hub_job.h"

#include "core/base/message.h"
#include "core/checkpoint/files/local_models.h"
#include "core/hub/curl_client.h"

#include <utility>

namespace headscope::app {

HubJob::HubJob(MakeClient client, std::function<void()> wake)
    : client_(std::move(client)), job_(std::move(wake)) {}

std::unique_ptr<hub::HttpClient> HubJob::new_client() const {
    return client_ ? client_() : std::make_unique<hub::CurlClient>();
}

void HubJob::find(const hub::ModelName& model, std::function<void(Found)> done, FileJob::Failed failed) {
    job_.start(
        hub::model_label(model), false,
        [this, model, done = std::move(done)](Progress& progress) -> FileJob::Done {
            Found found;
            if (auto folder = checkpoint::downloaded_folder(model)) {
                found.folder = std::move(*folder);
            } else {
                const hub::Settings settings = hub::settings_from_environment();
                const auto client = new_client();
                found.plan = hub::Downloads(*client, settings).plan(model, progress);
            }
            return [found = std::move(found), done] { done(found); };
        },
        std::move(failed));
}

void HubJob::download(const hub::DownloadPlan& plan, std::function<void(std::string folder)> done,
                      FileJob::Failed failed) {
    {
        const std::scoped_lock lock(mutex_);
        state_ = {.bytes = plan.bytes - plan.missing, .of_bytes = plan.bytes};
    }
    job_.start(
        hub::model_label(plan.model), false,
        [this, plan, done = std::move(done)](Progress& progress) -> FileJob::Done {
            const hub::Settings settings = hub::settings_from_environment();
            const auto client = new_client();
            std::string folder = hub::Downloads(*client, settings)
                                     .download(
                                         plan,
                                         [this](const hub::DownloadState& state) {
                                             const std::scoped_lock lock(mutex_);
                                             state_ = state;
                                         },
                                         progress);
            return [folder = std::move(folder), done] { done(folder); };
        },
        std::move(failed));
}

hub::DownloadState HubJob::state() const {
    const std::scoped_lock lock(mutex_);
    return state_;
}

} // namespace headscope::app
