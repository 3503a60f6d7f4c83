#pragma once

#include "app/jobs/model_desk.h"
#include "app/jobs/model_look.h"
#include "app/session/board.h"
#include "app/session/session.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// A checkpoint with a prompt, one layer of it open beside the board of all heads. A worker runs it again
/// after every edit and every prompt.
class CheckpointSession final : public Session {
public:
    /// For a state of the history: its run is still to be computed.
    explicit CheckpointSession(SessionHost& host);
    /// For a checkpoint that was just opened and run.
    CheckpointSession(SessionHost& host, const OpenedModel& opened);
    ~CheckpointSession() override;

    void follow() override;
    void take_results() override;
    bool busy() const override { return desk_.busy(); }
    void settle() override;
    const DocumentPtr& wanted() const override;

    Dims with_means(Dims dims) const override;
    void other_page(ViewState& view) const override { look_.leave_mean(view); }
    void came_on_screen() override;
    void look_at(std::int64_t first, std::int64_t last) override { board_.look_at(first, last); }
    void act(const ModelAction& action) override;

    std::string not_now() const override;
    std::string step_name(std::string name) const override;
    DocumentPtr restored(const DocumentPtr& next) override;

    void check(const FileCommand& command) const override;
    PathPurpose save_purpose() const override { return PathPurpose::save_patch; }
    std::function<void(const std::string& path)> writer() const override;
    bool same_work(const Document& saved) const override;

private:
    /// A layer, while some document holds it.
    struct KnownLayer {
        std::shared_ptr<const checkpoint::ModelInputs> inputs;
        std::weak_ptr<const Problem> base;
    };

    void use(const ModelDesk::Answer& answer);
    void ask(std::int64_t layer);
    void show_layer(std::int64_t layer, const std::shared_ptr<const Problem>& base);
    /// The layer as it was last seen with the inputs of the part; null when that is not known.
    std::shared_ptr<const Problem> known_layer(const ModelPart& part, std::int64_t layer) const;
    /// Follows how the weights are read. `changed_from`: what the board shows differs from that layer on
    /// alone.
    void follow_look(std::optional<std::int64_t> changed_from = {});
    bool reads_otherwise() const;

    Board board_;
    ModelLook look_; ///< ends before board_, which would wait for means that it works out
    ModelDesk desk_;
    ModelDesk::Wish wanted_;                  ///< asked of it last
    std::optional<std::string> typed_prompt_; ///< not answered yet
    std::uint64_t typed_gesture_ = 0;
    std::map<std::int64_t, KnownLayer> known_layers_;
    WhenShown when_shown_;
};

} // namespace headscope::app
