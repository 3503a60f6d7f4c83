#pragma once

#include "app/session/atlas/atlas_service.h"
#include "app/session/head_grid_controller.h"
#include "app/session/long_map_service.h"
#include "app/session/session.h"

namespace headscope::app {

/// The session of an attention input that the user builds and edits. Everything it shows is derived from the
/// trace.
class ExperimentSession final : public Session {
public:
    explicit ExperimentSession(SessionHost& host);
    ~ExperimentSession() override;

    void follow() override { take_results(); }
    void take_results() override;
    bool busy() const override { return grid_.busy() || atlas_.busy() || map_.busy(); }
    void settle() override;

    std::function<void(const std::string& path)> save_function() const override;
    bool same_work(const Document& saved) const override;

private:
    HeadGridController grid_; ///< for the atlas
    AtlasService atlas_;
    LongMapService map_;
    AttentionSetPtr set_; ///< the weights on screen, in the form that the atlas reads
    std::shared_ptr<const Trace> set_of_;
    std::int64_t batch_of_set_ = 0;
};

} // namespace headscope::app
