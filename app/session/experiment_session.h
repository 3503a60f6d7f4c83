#pragma once

#include "app/session/atlas_desk.h"
#include "app/session/board.h"
#include "app/session/long_map_desk.h"
#include "app/session/session.h"

namespace headscope::app {

/// A problem that the user builds and edits. All that is shown of it follows from its trace.
class ExperimentSession final : public Session {
public:
    explicit ExperimentSession(SessionHost& host);
    ~ExperimentSession() override;

    void follow() override { take_results(); }
    void take_results() override;
    bool busy() const override { return atlas_.busy() || map_.busy(); }
    void settle() override;

    std::function<void(const std::string& path)> writer() const override;
    bool same_work(const Document& saved) const override;

private:
    Board board_; ///< while the atlas is looked at
    AtlasDesk atlas_;
    LongMapDesk map_;
    AttentionSetPtr set_; ///< the weights on screen, as the atlas reads them
    std::shared_ptr<const Trace> set_of_;
    std::int64_t batch_of_set_ = 0;
};

} // namespace headscope::app
