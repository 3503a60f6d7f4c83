#pragma once

#include "app/jobs/derived.h"
#include "app/session/session_state.h"
#include "core/engine/weights_map.h"

#include <functional>
#include <memory>
#include <string>

namespace headscope::app {

/// Provides Shown::map, the map of the open head, while its screen is visible. Computes it from a problem or
/// reads it from a set of weights: an overview that a worker reads once, the visible tiles, and single
/// weights. Visible values have priority over the overview. For one thread.
class LongMapService {
public:
    LongMapService(SessionState& state, std::function<void()> wake);
    ~LongMapService() { state_.shown.map = nullptr; }

    /// Updates the map after a change of the document or the view.
    void follow();
    /// Returns true until follow() has shown every value.
    bool busy() const { return values_.pending(); }
    void wait() { values_.wait(); }

private:
    using MapPtr = std::shared_ptr<const WeightsMap>;

    DerivedKey key(const std::string& what) const;
    void follow_overview(LongMap& out, const MapPtr& map);
    void follow_tiles(LongMap& out, const MapPtr& map);
    void follow_weights(LongMap& out, const MapPtr& map);
    void point_at(LongMap& out) const;

    SessionState& state_;
    std::shared_ptr<const void> of_; ///< the set of weights or the document that the map is derived from
    std::string head_;               ///< "l b h": prefix of the keys of the map
    std::string chosen_, fallback_reason_; ///< the device, and the reason why it is no longer used
    std::string overview_of_;              ///< the head whose overview is being read
    const LongMapView* view_ = nullptr;    ///< only during follow()
    DerivedValues values_;
};

} // namespace headscope::app
