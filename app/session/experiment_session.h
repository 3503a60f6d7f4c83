#pragma once

#include "app/session/session.h"

namespace headscope::app {

/// A problem that the user builds and edits. All that is shown of it follows from its trace.
class ExperimentSession final : public Session {
public:
    using Session::Session;

    std::function<void(const std::string& path)> writer() const override;
    bool same_work(const Document& saved) const override;
};

} // namespace headscope::app
