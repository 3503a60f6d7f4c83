#pragma once

#include "app/jobs/derived.h"
#include "app/session/session_state.h"
#include "core/engine/weights_map.h"

#include <functional>
#include <memory>
#include <string>

namespace headscope::app {

/// The map of the open head, made of a problem or read from a set of weights, shown by Shown::map while it is
/// looked at: an overview that a worker reads once, the tiles of what is seen, and what is asked of single
/// weights. What is on screen goes before the overview. For one thread.
class LongMapDesk {
public:
    LongMapDesk(SessionState& state, std::function<void()> wake);
    ~LongMapDesk() { state_.shown.map = nullptr; }

    /// Brings the map in line with what is shown and how it is looked at.
    void follow();
    bool busy() const { return values_.busy(); }
    void wait() { values_.wait(); }

private:
    using MapPtr = std::shared_ptr<const WeightsMap>;

    DerivedKey key(const std::string& what) const;
    void follow_overview(LongMap& out, const MapPtr& map);
    void follow_tiles(LongMap& out, const MapPtr& map);
    void follow_weights(LongMap& out, const MapPtr& map);
    void point_at(LongMap& out) const;

    SessionState& state_;
    std::shared_ptr<const void> of_;    ///< what the weights follow from: a set of them, or the document
    std::string head_;                  ///< "l b h": begins what is asked of the map
    std::string chosen_, fallen_;       ///< the device, and why no map is asked of it any more
    std::string overview_of_;           ///< the head whose overview is being read
    const LongMapView* view_ = nullptr; ///< while it follows
    DerivedValues values_;
};

} // namespace headscope::app
