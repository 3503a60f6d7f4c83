#pragma once

#include "app/jobs/read_attention.h"
#include "app/session/atlas_desk.h"
#include "app/session/board.h"
#include "app/session/long_map_desk.h"
#include "app/session/session.h"

namespace headscope::app {

/// Attention weights from elsewhere, layer by layer, beside the board of their heads. They can be looked at
/// and read in other ways, not changed or saved.
class GivenWeightsSession final : public Session {
public:
    explicit GivenWeightsSession(SessionHost& host)
        : Session(host), board_(host.state(), host.wake()), atlas_(host.state(), host.wake()),
          map_(host.state(), host.wake()) {}
    ~GivenWeightsSession() override;

    void follow() override;
    void take_results() override;
    bool busy() const override { return atlas_.busy() || map_.busy(); }
    void settle() override;
    void came_on_screen() override;
    void look_at(std::int64_t first, std::int64_t last) override { board_.look_at(first, last); }

    void check(const FileCommand& command) const override;
    std::function<void(const std::string& path)> writer() const override;
    bool same_work(const Document& saved) const override;

private:
    /// Puts the weights as the view wants them read in place of those of the document.
    void read_as_wanted();
    /// Keeps the view to the heads that are still on screen; came_on_screen() brings back what it was.
    void keep_to_shown();

    Board board_;
    AtlasDesk atlas_;
    LongMapDesk map_;
    ReadAttention read_; ///< ends before those above, which would wait for means that it works out
    WhenShown when_shown_;
};

} // namespace headscope::app
