#pragma once

#include "app/jobs/transformed_attention.h"
#include "app/session/atlas/atlas_service.h"
#include "app/session/head_grid_controller.h"
#include "app/session/long_map_service.h"
#include "app/session/session.h"

namespace headscope::app {

/// The session of attention weights from a file, layer by layer, next to the grid of their heads. They can be
/// viewed and transformed, but not changed or saved.
class GivenWeightsSession final : public Session {
public:
    explicit GivenWeightsSession(SessionHost& host)
        : Session(host), grid_(host.state(), host.wake()), atlas_(host.state(), host.wake()),
          map_(host.state(), host.wake()) {}
    ~GivenWeightsSession() override;

    void follow() override;
    void take_results() override;
    bool busy() const override { return atlas_.busy() || map_.busy(); }
    void settle() override;
    void trace_shown() override;
    void set_visible_layers(std::int64_t first, std::int64_t last) override { grid_.prioritize(first, last); }

    void check(const FileCommand& command) const override;
    std::function<void(const std::string& path)> save_function() const override;
    bool same_work(const Document& saved) const override;

private:
    /// Replaces the document's weights by those with the view's reading options.
    void read_as_wanted();
    /// Limits the view to the heads that are still on screen; trace_shown() restores the previous head.
    void keep_to_shown();

    HeadGridController grid_;
    AtlasService atlas_;
    LongMapService map_;
    TransformedAttention
        read_; ///< destroyed before the members above, which would otherwise wait for its means
    PendingView when_shown_;
};

} // namespace headscope::app
