#pragma once

#include "app/views/dialog.h"
#include "app/views/state.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Switches of the file chooser with their captions, one beside the other.
class SwitchRow {
public:
    SwitchRow(OpenChooser& open, figure::Point at, const ViewTools& tools)
        : open_(open), at_(at), tools_(tools) {}

    /// `id` names the items. Returns the option that was chosen, -1: none. The name field then has the
    /// keyboard again.
    int add(const char* id, const std::string& caption, const std::vector<DialogOption>& options);
    /// Where the next one begins.
    figure::Point at() const { return at_; }

private:
    OpenChooser& open_;
    figure::Point at_;
    const ViewTools& tools_;
};

} // namespace headscope::app
